/**
 * Response times must not distinguish known from unknown addresses. Uses a separate cluster that flushes its
 * write-ahead log, as in production, so that a commit for only one of the two would be measurable.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import type { HttpClient } from '../support/http-client';
import { TestPlinth } from '../support/plinth';
import type { TestProject, TestUser } from '../support/test-project';

const ROUNDS = 32;
/** Each flush takes 40 ms on any disk, so that an additional flush for one kind of address exceeds the noise. */
const SLOW_DISK = { commit_delay: '40000', commit_siblings: '0' };

let directory: string;
let postgres: EmbeddedPostgres;
let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;
let users: TestUser[];
/** The cluster's superuser. */
let watcher: Client;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'plinth-timing-'));
  postgres = await EmbeddedPostgres.start({ dataDir: directory, settings: SLOW_DISK });
  plinth = await TestPlinth.start({
    databaseUrl: postgres.url,
    env: { AUTH_REQUESTS_PER_MINUTE: '600000' },
  });
  project = await plinth.createProject();
  guest = project.client(project.anonKey, null);
  watcher = new Client({ connectionString: postgres.url });
  await watcher.connect();
  users = [];
  for (let n = 0; n < ROUNDS; n += 1) users.push(await project.signUp());
}, 120_000);
afterAll(async () => {
  await watcher?.end();
  await plinth?.stop();
  await postgres?.stop();
  await rm(directory, { recursive: true, force: true });
});

const nobody = (): string => `user-${randomUUID()}@example.com`;

/** Milliseconds of two kinds of work, done in turns so that noise affects both. */
async function timesOf(
  first: (n: number) => Work,
  second: (n: number) => Work,
): Promise<[number[], number[]]> {
  const times: [number[], number[]] = [[], []];
  for (let n = 0; n < ROUNDS; n += 1) {
    const order = n % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const which of order) {
      await quiet();
      times[which].push(await ([first, second] as const)[which](n));
    }
  }
  return times;
}
type Work = Promise<number>;

/** Waits until the database is idle after the responses. */
async function quiet(): Promise<void> {
  for (let idle = 0; idle < 3;) {
    const { rows } = await watcher.query<{ busy: number }>(
      `select count(*)::int as busy from pg_stat_activity
        where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()`,
    );
    idle = rows[0]?.busy === 0 ? idle + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function timed(work: () => Promise<{ status: number }>, status: number): Promise<number> {
  const begin = performance.now();
  const answer = await work();
  const took = performance.now() - begin;
  expect(answer.status).toBe(status);
  return took;
}

/** Share of pairs in which the first is slower: 0.5 if the two are indistinguishable (Mann-Whitney). */
function separation([first, second]: [number[], number[]]): number {
  const wins = first.flatMap((a) => second.map((b): number => (a > b ? 1 : a === b ? 0.5 : 0)));
  return wins.reduce((sum, win) => sum + win, 0) / wins.length;
}

/** Four standard deviations from the mean, for two samples of 32 from one distribution. */
function expectAlike(times: [number[], number[]]): void {
  const share = separation(times);
  expect(share).toBeGreaterThan(0.21);
  expect(share).toBeLessThan(0.79);
}

it('control: the cluster flushes the write-ahead log', async () => {
  const rows = await project.sql(
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`,
  );
  expect(rows).toEqual([{ fsync: 'on', commit: 'on' }]);
});

describe.each(['reset-password', 'resend-verification'])('POST /%s', (path) => {
  const ask = (email: string) => () => guest.post(`${project.auth}/${path}`, { email });

  it('takes the same time for known and unknown addresses', async () => {
    expectAlike(
      await timesOf(
        (n) => timed(ask(users[n]?.email ?? ''), 200),
        () => timed(ask(nobody()), 200),
      ),
    );
  }, 120_000);

  it('does not affect the time of the next request', async () => {
    const after = async (email: string): Promise<number> => {
      await ask(email)();
      return timed(ask(nobody()), 200);
    };
    expectAlike(
      await timesOf(
        (n) => after(users[n]?.email ?? ''),
        () => after(nobody()),
      ),
    );
  }, 120_000);
});

it('POST /login with a wrong password takes the same time for known and unknown addresses', async () => {
  const signIn = (email: string) => () =>
    guest.post(`${project.auth}/login`, { email, password: 'a wrong one' });
  expectAlike(
    await timesOf(
      (n) => timed(signIn(users[n]?.email ?? ''), 401),
      () => timed(signIn(nobody()), 401),
    ),
  );
}, 120_000);
