/** Signed URLs expire at the same second on every replica, independent of its clock. */
import { Project } from '../../src/projects/project';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { signLink } from '../../src/storage/signed-urls/signed-url';
import { eventually } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';
import { upload } from '../support/uploads';

let plinth: TestPlinth;
let replicas: TestPlinth[];
let project: TestProject;
let fileId: string;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  const [ahead, behind] = [
    await TestPlinth.start({ replicaOf: plinth }),
    await TestPlinth.start({ replicaOf: plinth }),
  ];
  ahead.clock.move(30);
  behind.clock.move(-30);
  replicas = [plinth, ahead, behind];
  project = await plinth.createProject({ plan: 'enterprise' });
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  fileId = (await upload(project.service, project.storage, 'box', 'x')).body.data.id;
});
afterAll(async () => {
  for (const replica of [...replicas].reverse()) await replica.stop();
});

const databaseTime = async (): Promise<number> =>
  Number((await project.sql('select floor(extract(epoch from now())) as now'))[0].now);

it('all replicas accept a URL until it expires, and none after that', async () => {
  const registered = (await plinth.app.get(ProjectRegistry).findById(project.id)) as Project;
  const expiresAt = (await databaseTime()) + 4;
  const query = new URLSearchParams({ ...signLink(registered, { fileId, revision: 0, expiresAt }) });
  const statuses = (): Promise<number[]> =>
    Promise.all(
      replicas.map(
        async ({ http }) =>
          (await http.get(`${project.storage}/files/${fileId}/signed?${query.toString()}`)).status,
      ),
    );
  const early = await statuses();
  // If the machine stalled for seconds, the first check comes too late to show anything.
  if ((await databaseTime()) < expiresAt) expect(early).toEqual([200, 200, 200]);
  await eventually(async () => expect(await databaseTime()).toBeGreaterThanOrEqual(expiresAt), 10_000);
  expect(await statuses()).toEqual([401, 401, 401]);
});

it('a URL is valid for the same time, from every replica', async () => {
  const before = await databaseTime();
  for (const { baseUrl } of replicas) {
    const client = project.service.at(baseUrl);
    const { body } = await client.post(`${project.storage}/files/${fileId}/signed-url`, { expiry: '5m' });
    const after = await databaseTime();
    expect(body.data.expires_at).toBeGreaterThanOrEqual(before + 300);
    expect(body.data.expires_at).toBeLessThanOrEqual(after + 300);
  }
});

it('a rotation without a grace period ends URLs and keys on every replica immediately, even if its clock is slow', async () => {
  const own = await plinth.createProject({ plan: 'enterprise' });
  await own.service.post(`${own.storage}/buckets`, { name: 'box' });
  const { id } = (await upload(own.service, own.storage, 'box', 'x')).body.data;
  const file = `${own.storage}/files/${id}`;
  const sign = async (client: HttpClient): Promise<string> => {
    const { body } = await client.post(`${file}/signed-url`, { expiry: '5m' });
    return (body.data.url as string).replace('http://plinth.test', '');
  };
  const statuses = async (url: string, client: HttpClient): Promise<number[]> => {
    const answers = replicas.flatMap(({ http, baseUrl }) => [http.get(url), client.at(baseUrl).get(file)]);
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  const before = await sign(own.service);
  expect(await statuses(before, own.service)).toEqual(Array(6).fill(200));
  const rotated = await plinth.admin.post(`/admin/v1/projects/${own.id}/keys/rotate`, { grace_seconds: 0 });
  expect(await statuses(before, own.service)).toEqual(Array(6).fill(401));
  const renewed = own.client(rotated.body.service_role_key, rotated.body.service_role_key);
  expect(await statuses(await sign(renewed), renewed)).toEqual(Array(6).fill(200));
});
