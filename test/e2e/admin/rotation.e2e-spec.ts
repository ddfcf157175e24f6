/** Rotation of a project's keys and secrets: older signatures are valid for the grace period (DECISIONS.md 2 and 3). */
import { sign } from 'jsonwebtoken';
import { quoteIdentifier } from '../../../src/database/sql/identifier';
import { HttpAnswer } from '../../support/http-client';
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  plinth.clock.hold();
});
afterAll(() => plinth.stop());

const projects = '/admin/v1/projects';

const rotate = (project: TestProject, grace_seconds?: unknown): Promise<HttpAnswer> =>
  plinth.admin.post(`${projects}/${project.id}/keys/rotate`, { grace_seconds });

describe('POST /projects/<id>/keys/rotate', () => {
  it('keeps old keys and tokens valid for exactly the grace period', async () => {
    const project = await plinth.createProject();
    await project.sql('create table t (id int); create policy p on t using (true)');
    const user = await project.signUp();
    const rotated = await rotate(project, 600);
    expect(rotated.status).toBe(200);
    const { anon_key: anon, service_role_key: service, jwt_secret: secret } = rotated.body;
    expect([anon, secret]).not.toContain(project.anonKey);
    const statuses = async (): Promise<number[]> =>
      Promise.all(
        [
          project.anon,
          user.http,
          project.client(anon, anon),
          project.client(anon, project.anonKey),
          project.client(service, service),
        ].map(async (client) => (await client.get('/rest/v1/t')).status),
      );
    expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
    plinth.clock.move(601);
    expect(await statuses()).toEqual([401, 401, 200, 401, 200]);
    plinth.clock.move(-601);
  });

  it('ends them immediately with a grace period of 0', async () => {
    const project = await plinth.createProject();
    await rotate(project, 0);
    expect((await project.anon.get('/rest/v1/t')).status).toBe(401);
    const keys = await plinth.admin.get(`${projects}/${project.id}/keys`);
    expect((await project.client(keys.body.anon_key, keys.body.anon_key).get('/rest/v1/t')).status).toBe(404);
  });

  it('leaves one current secret after concurrent rotations', async () => {
    const project = await plinth.createProject();
    const answers = await Promise.all([rotate(project), rotate(project), rotate(project)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { anon_key: current } = (await plinth.admin.get(`${projects}/${project.id}/keys`)).body;
    expect(answers.map(({ body }) => body.anon_key)).toContain(current);
    for (const key of [project.anonKey, ...answers.map(({ body }) => body.anon_key)]) {
      expect((await project.client(key, key).get('/rest/v1/t')).status).toBe(404);
    }
  });

  it('answers 400 for an invalid grace period', async () => {
    const project = await plinth.createProject();
    for (const grace_seconds of [-1, 1.5, '60', 31 * 86_400]) {
      expect((await rotate(project, grace_seconds)).status).toBe(400);
    }
  });
});

describe('signed URLs of files', () => {
  let own: TestProject;
  let file: string;
  beforeEach(async () => {
    own = await plinth.createProject({ plan: 'enterprise' });
    await own.service.post(`${own.storage}/buckets`, { name: 'box' });
    file = `${own.storage}/files/${(await upload(own.service, own.storage, 'box', 'content')).body.data.id}`;
  });

  const signed = async (client = own.service): Promise<string> => {
    const { body } = await client.post(`${file}/signed-url`, { expiry: '24h' });
    return (body.data.url as string).replace('http://plinth.test', '');
  };
  const codes = (...urls: string[]): Promise<string[]> =>
    Promise.all(
      urls.map(async (url) => {
        const { status, text, body } = await plinth.http.get(url);
        return status === 200 ? text : (body.error.code as string);
      }),
    );

  it('are valid for exactly the grace period', async () => {
    const before = await signed();
    const { service_role_key: key } = (await rotate(own, 600)).body;
    const after = await signed(own.client(key, key));
    expect(await codes(before, after)).toEqual(['content', 'content']);
    plinth.clock.move(599);
    expect(await codes(before, after)).toEqual(['content', 'content']);
    plinth.clock.move(2);
    expect(await codes(before, after)).toEqual(['invalid_signature', 'content']);
    plinth.clock.move(-601);
  });

  it('end immediately with a grace period of 0', async () => {
    const before = await signed();
    const { service_role_key: key } = (await rotate(own, 0)).body;
    expect(await codes(before, await signed(own.client(key, key)))).toEqual(['invalid_signature', 'content']);
  });

  it('stay valid through several rotations, each for its own grace period', async () => {
    const first = await signed();
    await rotate(own, 600);
    const second = await signed();
    await rotate(own, 60);
    const third = await signed();
    expect(await codes(first, second, third)).toEqual(['content', 'content', 'content']);
    plinth.clock.move(61);
    expect(await codes(first, second, third)).toEqual(['invalid_signature', 'invalid_signature', 'content']);
    plinth.clock.move(-61);
  });

  it('are refused when altered or of another project, under every secret', async () => {
    const before = await signed();
    await rotate(own, 600);
    const other = await plinth.createProject();
    for (const url of [before, await signed()]) {
      const altered = [
        url.replace(/expires=(\d+)/, (_, expires: string) => `expires=${Number(expires) + 1}`),
        url.replace('revision=0', 'revision=1'),
        url.replace(/signature=./, (start) => (start.endsWith('A') ? 'signature=B' : 'signature=A')),
        url.replace(`/p/${own.slug}/`, `/p/${other.slug}/`),
      ];
      expect(await codes(...altered)).toEqual(Array(4).fill('invalid_signature'));
    }
  });

  it('stay valid while secrets rotate, as do tokens of a backend without kid', async () => {
    const backend = own.client(own.anonKey, sign({ role: 'service_role' }, own.jwtSecret));
    const seen = new Set<string>();
    let done = false;
    const load = Array.from({ length: 4 }, async () => {
      while (!done) (await codes(await signed(), await signed(backend))).forEach((code) => seen.add(code));
    });
    for (let n = 0; n < 5; n += 1) expect((await rotate(own, 600)).status).toBe(200);
    done = true;
    await Promise.all(load);
    expect([...seen]).toEqual(['content']);
    plinth.clock.move(601);
    expect((await backend.get(`${own.storage}/buckets`)).status).toBe(401);
    plinth.clock.move(-601);
  });
});

it('a rotation succeeds although the other replicas cannot be asked', async () => {
  const own = await plinth.createProject();
  await own.sql('create table t (id int); create policy p on t using (true)');
  const connections = (allowed: boolean): Promise<unknown> =>
    asSuperuser('postgres', (client) =>
      client.query(
        `alter database ${quoteIdentifier(plinth.platformDatabase)} with allow_connections ${allowed}`,
      ),
    );
  await connections(false);
  const rotated = await rotate(own, 0);
  await connections(true);
  const { anon_key: key } = rotated.body;
  expect([rotated.status, typeof key]).toEqual([200, 'string']);
  expect((await own.anon.get('/rest/v1/t')).status).toBe(401);
  expect((await own.client(key, key).get('/rest/v1/t')).status).toBe(200);
});
