/** Large SQL scripts, migrations, schema dumps and restores run one at a time for each project or staff member. */
import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { eventually } from '../../support/eventually';
import type { HttpAnswer, HttpClient } from '../../support/http-client';
import { accessOf, asOwner } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { newPerson } from '../../support/staff';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  [project, other] = [await plinth.createProject(), await plinth.createProject()];
});
afterAll(() => plinth.stop());

const pathOf = ({ id }: TestProject): string => `/admin/v1/projects/${id}`;
const large = (query: string): string => `/* ${'x'.repeat(64 * 1024)} */ ${query}`;
const sql = (of: TestProject, query: string): Promise<HttpAnswer> =>
  plinth.admin.post(`${pathOf(of)}/sql`, { query });

const RESTORE = '/admin/v1/restore?dry_run=true';
const ARCHIVE = { 'content-type': 'application/gzip', 'backup-passphrase': 'correct%20horse%20battery' };

const WAITS = 'select pg_advisory_lock(11)';

/** Runs `work` while a large script of the project waits for a lock. */
async function during(work: () => Promise<void>): Promise<void> {
  await asOwner(await accessOf(plinth, project.id), async (client) => {
    await client.query(WAITS);
    const first = sql(project, large(WAITS));
    await eventually(async () => {
      const { sessions } = (await plinth.admin.get(`${pathOf(project)}/database/activity`)).body;
      expect(JSON.stringify(sessions)).toContain('advisory');
    });
    await work();
    await client.query('select pg_advisory_unlock(11)');
    expect((await first).status).toBe(200);
  });
}

it.each<[string, () => Promise<HttpAnswer>]>([
  ['a large script', () => sql(project, large('select 1'))],
  [
    'a run of large migrations',
    () =>
      plinth.admin.post(`${pathOf(project)}/migrations`, {
        migrations: [{ version: '1', name: 'a', sql: large('select 1') }],
      }),
  ],
  ['a dump of the schema', () => plinth.admin.get(`${pathOf(project)}/schema`)],
])(
  'makes %s of a project wait for another whole request, without delaying other projects',
  async (_what, send) => {
    let waiting: Promise<HttpAnswer> | undefined;
    let isDone = false;
    await during(async () => {
      waiting = send();
      void waiting.then(() => (isDone = true));
      for (let n = 0; n < 3; n += 1) {
        expect((await sql(other, large('select 1'))).status).toBe(200);
        expect((await plinth.admin.get(`${pathOf(other)}/schema`)).status).toBe(200);
        // A small script does not wait.
        expect((await sql(project, 'select 1')).status).toBe(200);
      }
      expect(isDone).toBe(false);
    });
    expect((await waiting)?.status).toBe(200);
  },
);

it('refuses requests beyond the length of the queue with 503 and Retry-After, and removes clients that disconnect', async () => {
  await during(async () => {
    const clients = new AbortController();
    const dumps = Array.from({ length: 60 }, () =>
      fetch(`${plinth.baseUrl}${pathOf(project)}/schema`, {
        headers: plinth.admin.headers,
        signal: clients.signal,
      }),
    );
    const ended = Promise.allSettled(dumps);
    const refused = await Promise.race(dumps);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await plinth.admin.get(`${pathOf(other)}/schema`)).status).toBe(200);
    clients.abort();
    await ended;
  });
  expect((await plinth.admin.get(`${pathOf(project)}/schema`)).status).toBe(200);
});

it('restores one archive of a staff member at a time, concurrently with the archives of other staff', async () => {
  const { http } = await newPerson(plinth, 'owner');
  const restore = (client: HttpClient): Promise<HttpAnswer> =>
    client.post(RESTORE, Buffer.from('no archive'), { headers: ARCHIVE });
  const headers = {
    ...plinth.admin.headers,
    ...ARCHIVE,
    'transfer-encoding': 'chunked',
    expect: '100-continue',
  };
  const held = httpRequest(plinth.baseUrl + RESTORE, { method: 'POST', headers });
  held.on('error', () => undefined);
  held.flushHeaders();
  await once(held, 'continue');
  let isDone = false;
  const waiting = restore(plinth.admin);
  void waiting.then(() => (isDone = true));
  for (let n = 0; n < 3; n += 1) expect((await restore(http)).status).toBe(400);
  expect(isDone).toBe(false);
  held.destroy();
  expect((await waiting).status).toBe(400);
});
