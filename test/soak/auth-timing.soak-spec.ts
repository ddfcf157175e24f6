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
import { gotrue } from '../support/gotrue';
import type { HttpClient } from '../support/http-client';
import { TestPlinth } from '../support/plinth';
import { BASE_DN, BIND_DN, BIND_PASSWORD, hasSlapd, SlapdServer } from '../support/slapd-server';
import type { TestProject, TestUser } from '../support/test-project';

const ROUNDS = 32;
/** Each flush takes 40 ms on any disk, so that an additional flush for only one of the addresses exceeds the noise. */
const SLOW_DISK = { commit_delay: '40000', commit_siblings: '0' };

let directory: string;
let postgres: EmbeddedPostgres;
let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;
let users: TestUser[];
let slapd: SlapdServer | null;
/** The cluster's superuser. */
let watcher: Client;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'plinth-timing-'));
  postgres = await EmbeddedPostgres.start({ dataDir: directory, settings: SLOW_DISK });
  plinth = await TestPlinth.start({
    databaseUrl: postgres.url,
    env: {
      AUTH_REQUESTS_PER_MINUTE: '600000',
      AUTH_FAILURES_PER_ADDRESS: '600000',
      AUTH_ALLOWED_HOSTS: '127.0.0.1',
    },
  });
  slapd = hasSlapd
    ? await SlapdServer.start(
        Array.from({ length: ROUNDS }, (_, n) => ({
          uid: `p${n}`,
          mail: `p${n}@example.com`,
          password: 'right',
        })),
        { staff: ['p0'] },
      )
    : null;
  project = await plinth.createProject({
    settings: { site_url: 'https://app.example.com', ...(slapd ? { ldap: ldapSetting(slapd) } : {}) },
  });
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
  await slapd?.stop();
  await rm(directory, { recursive: true, force: true });
});

const ldapSetting = ({ ldapsPort, ca }: SlapdServer): object => ({
  url: `ldaps://127.0.0.1:${ldapsPort}`,
  ca,
  bind_dn: BIND_DN,
  bind_password: BIND_PASSWORD,
  base_dn: BASE_DN,
  group_filter: '(member={dn})',
});

const nobody = (): string => `user-${randomUUID()}@example.com`;

/** Durations of two functions in milliseconds, measured alternately so that noise affects both. */
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

/** A phone number with or without an account. */
const phone = (n: number, isKnown: boolean): string => `+49${isKnown ? 1 : 2}${String(n).padStart(8, '0')}`;

/** Requests by name, for an address, login or phone with or without an account, and the status of both responses. */
const WAYS: [string, number, (n: number, isKnown: boolean) => [path: string, body: object]][] = [
  ['sign-in with a wrong password', 401, (n, isKnown) => ['login', { ...of(n, isKnown), password: 'wrong' }]],
  [
    'sign-in with a wrong password for a phone',
    400,
    (n, isKnown) => ['token?grant_type=password', { phone: phone(n, isKnown), password: 'a wrong one' }],
  ],
  ['otp', 200, (n, isKnown) => ['otp', of(n, isKnown)]],
  ['otp without sign-up', 200, (n, isKnown) => ['otp', { ...of(n, isKnown), create_user: false }]],
  ['magiclink', 200, (n, isKnown) => ['magiclink', of(n, isKnown)]],
  ['recover', 200, (n, isKnown) => ['recover', of(n, isKnown)]],
  ['resend', 200, (n, isKnown) => ['resend', { type: 'signup', ...of(n, isKnown) }]],
  [
    'a wrong code by mail',
    403,
    (n, isKnown) => ['verify', { type: 'email', token: '123', ...of(n, isKnown) }],
  ],
  ['otp by phone', 200, (n, isKnown) => ['otp', { phone: phone(n, isKnown) }]],
  [
    'otp by phone without sign-up',
    200,
    (n, isKnown) => ['otp', { phone: phone(n, isKnown), create_user: false }],
  ],
  [
    'a wrong code by phone',
    403,
    (n, isKnown) => ['verify', { type: 'sms', token: '123', phone: phone(n, isKnown) }],
  ],
  [
    'sign-up by phone',
    200,
    (n, isKnown) => ['signup', { phone: phone(n, isKnown), password: 'correct horse' }],
  ],
  [
    'sign-up where addresses must be verified',
    200,
    (n, isKnown) => ['signup', { ...of(n, isKnown), password: 'correct horse' }],
  ],
];

const of = (n: number, isKnown: boolean): { email: string } => ({
  email: isKnown ? (users[n]?.email ?? '') : nobody(),
});

describe('known and unknown accounts', () => {
  beforeAll(async () => {
    const settings = { send_sms_hook: 'public.send_sms', sms_per_hour: 1_000_000 };
    await project.sql(`create function send_sms(event jsonb) returns jsonb language sql as $$ select '{}'::jsonb $$;
      insert into auth.users (email, phone, phone_verified_at)
        select '', '491' || lpad(n::text, 8, '0'), now() from generate_series(0, ${ROUNDS - 1}) n`);
    await plinth.admin.patch(`/admin/v1/projects/${project.id}`, {
      settings: { ...settings, email_verification_required: true },
    });
  });
  beforeEach(() => plinth.clock.move(4_000));

  it.each(WAYS)(
    'cannot be distinguished by the time of %s',
    async (_name, status, request) => {
      const base = status === 401 ? project.auth : gotrue(project);
      const ask = (isKnown: boolean) => (n: number) => {
        const [path, body] = request(n, isKnown);
        return timed(() => guest.post(`${base}/${path}`, body), status);
      };
      expectAlike(await timesOf(ask(true), ask(false)));
    },
    120_000,
  );

  (hasSlapd ? it : it.skip)(
    'cannot be distinguished by the time of LDAP with a wrong password (needs slapd)',
    async () => {
      const ask = (prefix: string) => (n: number) =>
        timed(() => guest.post(`${project.auth}/ldap`, { login: `${prefix}${n}`, password: 'wrong' }), 401);
      expectAlike(await timesOf(ask('p'), ask('q')));
    },
    120_000,
  );
});
