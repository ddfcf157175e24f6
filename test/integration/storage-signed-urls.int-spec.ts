/** Signed addresses end to the second on every replica, whatever its clock says. */
import { Project } from '../../src/projects/project';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { signLink } from '../../src/storage/signed-urls/signed-url';
import { eventually } from '../support/eventually';
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

it('all replicas open an address until it expires, and none after that', async () => {
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
  // On a machine that stalled for seconds, the first look comes too late to tell anything.
  if ((await databaseTime()) < expiresAt) expect(early).toEqual([200, 200, 200]);
  await eventually(async () => expect(await databaseTime()).toBeGreaterThanOrEqual(expiresAt), 10_000);
  expect(await statuses()).toEqual([401, 401, 401]);
});

it('an address lives as long, whichever replica makes it', async () => {
  const before = await databaseTime();
  for (const { baseUrl } of replicas) {
    const client = project.service.at(baseUrl);
    const { body } = await client.post(`${project.storage}/files/${fileId}/signed-url`, { expiry: '5m' });
    const after = await databaseTime();
    expect(body.data.expires_at).toBeGreaterThanOrEqual(before + 300);
    expect(body.data.expires_at).toBeLessThanOrEqual(after + 300);
  }
});
