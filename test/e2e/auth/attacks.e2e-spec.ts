/** Attacks on accounts. docs/internals/security.md maps each threat to its test. */
import { createHmac, randomUUID } from 'node:crypto';
import { decode, sign } from 'jsonwebtoken';
import { HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject, TestUser } from '../../support/test-project';

const FREE_FAILURES = 10;

let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;

beforeAll(async () => {
  // One trusted proxy, so that the tests can send from many addresses.
  plinth = await TestPlinth.start({ env: { TRUST_PROXY: '1' } });
  plinth.clock.hold();
  // signing-keys.e2e-spec.ts tests attacks on key pairs.
  project = await plinth.createProject({ settings: { jwt_algorithm: 'HS256' } });
  await project.sql('create table notes (id int); create policy everybody on notes using (true)');
  guest = project.client(project.anonKey, null);
});
afterAll(() => plinth.stop());

const from = (ip: string): HttpClient => guest.with({ 'x-forwarded-for': ip });
const signIn = (client: HttpClient, email: string, password: string) =>
  client.post(`${project.auth}/login`, { email, password });
const userStatus = async (token: string) =>
  (await project.client(project.anonKey, token).get(`${project.auth}/user`)).status;

describe('forged access tokens', () => {
  let user: TestUser;
  let claims: Record<string, unknown>;
  let kid: string;
  beforeAll(async () => {
    user = await project.signUp();
    claims = decode(user.accessToken) as Record<string, unknown>;
    ({ kid } = (
      decode(user.accessToken, { complete: true }) as unknown as { header: { kid: string } }
    ).header);
  });

  const unsigned = (header: object, payload: object): string =>
    [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.';

  it.each(['none', 'None', 'NONE', 'nOnE'])('refuses the algorithm %s', async (alg) => {
    expect(await userStatus(unsigned({ alg, typ: 'JWT', kid }, claims))).toBe(401);
    expect(
      await userStatus(unsigned({ alg, typ: 'JWT', kid }, claims) + user.accessToken.split('.')[2]),
    ).toBe(401);
  });

  it.each(['HS384', 'HS512'] as const)(
    'refuses the right secret with %s: the algorithm is pinned',
    async (algorithm) => {
      expect(await userStatus(sign(claims, project.jwtSecret, { algorithm, keyid: kid }))).toBe(401);
    },
  );

  it.each([
    ['a path', '../../../../dev/null'],
    ['SQL', "' union select 'secret' --"],
    ['nothing', ''],
    ['2,000 letters', 'x'.repeat(2_000)],
  ])('refuses %s as kid', async (_what, forged) => {
    expect(await userStatus(sign(claims, '', { algorithm: 'none', keyid: forged }))).toBe(401);
    expect(await userStatus(sign(claims, 'guess', { algorithm: 'HS256', keyid: forged }))).toBe(401);
    expect(await userStatus(sign(claims, project.jwtSecret, { algorithm: 'HS256', keyid: forged }))).toBe(
      401,
    );
  });

  it.each([
    ['nbf', 30],
    ['iat', 120],
  ])('refuses a token whose %s is more than %d seconds in the future', async (claim, tolerance) => {
    const now = Math.floor(plinth.clock.now() / 1000);
    const from = (time: number) =>
      sign({ ...claims, [claim]: time }, project.jwtSecret, { algorithm: 'HS256', keyid: kid });
    expect(await userStatus(from(now + tolerance - 10))).toBe(200);
    expect(await userStatus(from(now + tolerance + 60))).toBe(401);
  });

  it.each<[unknown, number]>([
    ['anybody', 200],
    [['anybody', 'else'], 200],
    [[], 200],
    [1, 401],
    [['anybody', 1], 401],
    [null, 200],
  ])('accepts an audience as a name or a list of names: %j is answered %i', async (aud, status) => {
    const text = unsigned({ alg: 'HS256', kid }, { ...claims, aud });
    const signature = createHmac('sha256', project.jwtSecret).update(text.slice(0, -1)).digest('base64url');
    expect(await userStatus(text + signature)).toBe(status);
  });

  it.each(['postgres', 'none', 'pg_read_all_data', 'pg_monitor', '', 'service_role; drop table x', 'PUBLIC'])(
    'refuses the database role "%s" in a token signed by the project',
    async (role) => {
      const token = project.token({ sub: user.id, role });
      const answer = await project.client(project.anonKey, token).get('/rest/v1/notes');
      expect(answer.status).toBe(401);
    },
  );

  it("refuses the project's owner role and its login role", async () => {
    const { owner_role, login_role } = (await plinth.admin.get(`/admin/v1/projects/${project.id}/database`))
      .body;
    for (const role of [owner_role, login_role] as string[]) {
      expect(role).toEqual(expect.any(String));
      const token = project.token({ sub: user.id, role });
      expect((await project.client(project.anonKey, token).get('/rest/v1/notes')).status).toBe(401);
    }
  });

  it('refuses a malformed session id and an unknown one', async () => {
    for (const session_id of ['', 'nonsense', randomUUID(), 7, null, ['x']]) {
      const token = project.token({ ...claims, session_id });
      expect(await userStatus(token)).toBe(401);
      expect((await project.client(project.anonKey, token).get('/rest/v1/notes')).status).toBe(401);
    }
  });

  it("refuses another user's session in a token of the project", async () => {
    const other = await project.signUp();
    const { session_id } = decode(other.accessToken) as { session_id: string };
    expect(await userStatus(project.token({ sub: user.id, role: 'authenticated', session_id }))).toBe(401);
  });
});

describe('guessing passwords', () => {
  it('is delayed after ten wrong passwords for an account: 429 with Retry-After, even for the right password', async () => {
    const user = await project.signUp();
    for (let n = 0; n < FREE_FAILURES; n += 1) {
      expect((await signIn(from('198.51.100.1'), user.email, `guess ${n}`)).status).toBe(401);
    }
    for (const password of ['one more guess', user.password]) {
      const answer = await signIn(from('198.51.100.1'), user.email, password);
      expect(answer.status).toBe(429);
      expect(answer.body).toEqual({ detail: expect.any(String), status_code: 429 });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    plinth.clock.move(3);
    expect((await signIn(from('198.51.100.1'), user.email, user.password)).status).toBe(200);
  });

  it('is delayed longer each time, up to 15 minutes', async () => {
    const user = await project.signUp();
    for (let n = 0; n < FREE_FAILURES; n += 1) await signIn(from('198.51.100.2'), user.email, `guess ${n}`);
    const waits: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      const refused = await signIn(from('198.51.100.2'), user.email, 'guess');
      waits.push(Number(refused.headers.get('retry-after')));
      plinth.clock.move(waits.at(-1) as number);
      expect((await signIn(from('198.51.100.2'), user.email, 'guess')).status).toBe(401);
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  it('is slowed down for one account from many addresses', async () => {
    const user = await project.signUp();
    const statuses = [];
    for (let n = 0; n < FREE_FAILURES + 3; n += 1) {
      statuses.push((await signIn(from(`203.0.113.${n}`), user.email, `guess ${n}`)).status);
    }
    expect(statuses.slice(FREE_FAILURES)).toEqual([429, 429, 429]);
  });

  it('is slowed down for concurrent guesses', async () => {
    const user = await project.signUp();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => signIn(from('198.51.100.3'), user.email, `guess ${n}`)),
    );
    const tried = answers.filter(({ status }) => status === 401).length;
    // Guesses that are hashed concurrently can exceed the limit together.
    expect(tried).toBeLessThan(FREE_FAILURES + 8);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40 - tried);
  });

  it('is slowed down from one address over many accounts, known or unknown', async () => {
    const statuses = [];
    for (let n = 0; n < 55; n += 1) {
      statuses.push((await signIn(from('198.51.100.4'), `nobody-${n}@example.com`, 'Summer2026')).status);
    }
    expect(statuses.slice(0, 50)).toEqual(Array<number>(50).fill(401));
    expect(statuses.slice(50)).toEqual(Array<number>(5).fill(429));
    const user = await project.signUp();
    expect((await signIn(from('198.51.100.5'), user.email, user.password)).status).toBe(200);
  });

  it('does not reveal which accounts exist, because unknown accounts are slowed down alike', async () => {
    const statuses = [];
    for (let n = 0; n < FREE_FAILURES + 1; n += 1) {
      statuses.push((await signIn(from('198.51.100.6'), 'ghost@example.com', 'guess')).status);
    }
    expect(statuses.at(-1)).toBe(429);
  });

  it('is reset for the account after a successful sign-in', async () => {
    const user = await project.signUp();
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < FREE_FAILURES - 1; n += 1) {
        expect((await signIn(from(`192.0.2.${round}`), user.email, 'typo')).status).toBe(401);
      }
      expect((await signIn(from(`192.0.2.${round}`), user.email, user.password)).status).toBe(200);
    }
  });

  it('does not delay parallel sign-ins with the right password', async () => {
    const user = await project.signUp();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => signIn(from('198.51.100.7'), user.email, user.password)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(30).fill(200));
  });

  it('limits the mails to one address, with or without an account', async () => {
    const user = await project.signUp();
    for (const email of [user.email, `ghost-${randomUUID()}@example.com`]) {
      const statuses = [];
      for (let n = 0; n < 12; n += 1) {
        statuses.push(
          (await from(`203.0.113.${100 + n}`).post(`${project.auth}/reset-password`, { email })).status,
        );
      }
      expect(statuses).toEqual([...Array<number>(10).fill(200), 429, 429]);
    }
  });
});

describe('finding accounts by response time', () => {
  const ROUNDS = 40;

  /** Durations in milliseconds, measured alternately so that noise affects both. */
  async function timesOf(
    known: () => Promise<unknown>,
    unknown: () => Promise<unknown>,
  ): Promise<[number[], number[]]> {
    const times: [number[], number[]] = [[], []];
    for (let n = 0; n < ROUNDS; n += 1) {
      for (const which of n % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const begin = performance.now();
        await [known, unknown][which]?.();
        times[which].push(performance.now() - begin);
      }
    }
    return times;
  }

  /** Share of pairs in which the first is slower: 0.5 if the two are indistinguishable (Mann-Whitney). */
  function separation([first, second]: [number[], number[]]): number {
    const wins = first.flatMap((a) => second.map((b) => (a > b ? 1 : a === b ? 0.5 : 0)) as number[]);
    return wins.reduce((sum, win) => sum + win, 0) / wins.length;
  }

  /** Other load can shift a sample, but a real difference shows in every sample. */
  async function expectOverlap(
    known: () => Promise<unknown>,
    unknown: () => Promise<unknown>,
  ): Promise<void> {
    let share = 0;
    for (let sample = 0; sample < 3 && Math.abs(share - 0.5) > 0.3; sample += 1)
      share = separation(await timesOf(known, unknown));
    expect(Math.abs(share - 0.5)).toBeLessThan(0.3);
  }

  it('is not possible at sign-in: times of known and unknown addresses overlap', async () => {
    const users = await Promise.all(Array.from({ length: 8 }, () => project.signUp()));
    let n = 0;
    const ip = () => from(`10.1.${(n += 1) % 250}.1`);
    await expectOverlap(
      () => signIn(ip(), users[n % 8]?.email as string, 'a wrong password'),
      () => signIn(ip(), `nobody-${n % 8}-${randomUUID()}@example.com`, 'a wrong password'),
    );
  });

  it('is not possible at reset-password', async () => {
    const users = await Promise.all(Array.from({ length: ROUNDS }, () => project.signUp()));
    let n = 0;
    const reset = (email: string) =>
      from(`10.2.${(n += 1) % 250}.1`).post(`${project.auth}/reset-password`, { email });
    await expectOverlap(
      () => reset(users[n % ROUNDS]?.email as string),
      () => reset(`nobody-${randomUUID()}@example.com`),
    );
  });
});

describe('the pages that mails link to', () => {
  it.each(['reset', 'verify'])(
    '%s loads no resources, forbids framing and does not use up the token',
    async (page) => {
      const { status, headers, text } = await plinth.http.get(`${project.auth}/${page}?token=abc`);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(policy).not.toContain('unsafe');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(text).not.toMatch(/(src|href)=/);
      const [, nonce] = /'nonce-([^']+)'/.exec(policy) ?? [];
      expect(text.match(/<script/g)?.length).toBe(text.split(`<script nonce="${nonce}"`).length - 1);
      expect((await plinth.http.get(`${project.auth}/${page}`)).text).not.toContain(nonce);
    },
  );

  it("do not echo the query string, and escape the project's name", async () => {
    const hostile = await plinth.createProject({ name: '</script><script>alert(1)</script><img src=x>' });
    const { text } = await plinth.http.get(
      `${hostile.auth}/reset?token=<script>evil()</script>&x="><svg onload=evil()>`,
    );
    expect(text).not.toContain('evil');
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('<img');
  });

  it('are 404 for an unknown project', async () => {
    expect((await plinth.http.get('/v1/auth/nosuchproject/reset')).status).toBe(404);
  });
});

describe('rotated secrets', () => {
  it('keep old keys and tokens valid for the grace period, without a failed request', async () => {
    const own = await plinth.createProject();
    const user = await own.signUp();
    const rotated = await plinth.admin.post(`/admin/v1/projects/${own.id}/keys/rotate`, {
      grace_seconds: 600,
    });
    expect(rotated.status).toBe(200);
    expect((await user.http.get(`${own.auth}/user`)).status).toBe(200);
    const { anon_key } = (await plinth.admin.get(`/admin/v1/projects/${own.id}/keys`)).body;
    expect(anon_key).not.toBe(own.anonKey);
    const client = own.client(anon_key, null);
    const refreshed = await client.post(`${own.auth}/refresh`, { refresh_token: user.session.refresh_token });
    expect(refreshed.status).toBe(200);
    plinth.clock.move(700);
    expect((await user.http.get(`${own.auth}/user`)).status).toBe(401);
    const renewed = own.client(anon_key, refreshed.body.session.access_token);
    expect((await renewed.get(`${own.auth}/user`)).status).toBe(200);
  });

  it('end all old tokens immediately when there is no grace period', async () => {
    const own = await plinth.createProject();
    const user = await own.signUp();
    await plinth.admin.post(`/admin/v1/projects/${own.id}/keys/rotate`, { grace_seconds: 0 });
    expect((await user.http.get(`${own.auth}/user`)).status).toBe(401);
  });
});
