/** Second factors: enrolment, verification, single use, guessing, loss and recovery (docs/reference/auth.md). */
import { randomUUID } from 'node:crypto';
import { decode } from 'jsonwebtoken';
import { Secret, TOTP } from 'otpauth';
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { MailServer, tokenIn } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { TestProject, TestUser } from '../../support/test-project';

const FREE_FAILURES = 10;

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({ env: { TRUST_PROXY: '1', SMTP_URL: smtp.url } });
  plinth.clock.hold();
  project = await plinth.createProject({ name: 'Acme: Shop' });
  await project.sql(`create table notes (id int); insert into notes values (1);
    create policy everybody on notes to authenticated using (true);
    create table secrets (id int); insert into secrets values (1);
    create policy two_factors on secrets to authenticated using (auth.jwt()->>'aal' = 'aal2')`);
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

interface Device {
  readonly id: string;
  readonly secret: string;
  readonly uri: string;
}

/** The code that an authenticator app shows, `steps` of 30 seconds from now by Plinth's clock. */
function codeOf({ secret }: Pick<Device, 'secret'>, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: plinth.clock.now() + steps * 30_000,
  });
}

/** One of a few codes that the device shows neither at present nor a step before or after it. */
const wrongCodeOf = (device: Pick<Device, 'secret'>): string =>
  ['000000', '111111', '222222', '333333'].find((code) =>
    [-1, 0, 1].every((steps) => codeOf(device, steps) !== code),
  ) as string;

const claimsOf = (token: string) => decode(token) as Record<string, string>;
const factors = (own = project): string => `${own.auth}/factors`;
const verify = (http: HttpClient, id: string, code: string, own = project): Promise<HttpAnswer> =>
  http.post(`${factors(own)}/${id}/verify`, { code });
const as = (answer: HttpAnswer, own = project): HttpClient =>
  own.client(own.anonKey, answer.body.session.access_token as string);

/** Signs in with the password alone. */
async function signIn(user: TestUser, own = project): Promise<HttpAnswer> {
  const { email, password } = user;
  const answer = await own.client(own.anonKey, null).post(`${own.auth}/login`, { email, password });
  expect(answer.status).toBe(200);
  return answer;
}

async function enrol(http: HttpClient, own = project): Promise<Device> {
  const answer = await http.post(factors(own), { name: 'Phone' });
  expect(answer.status).toBe(200);
  return answer.body as Device;
}

/** Sets a new password with the token of the mail number `count`. @returns the user with it */
async function resetByMail(user: TestUser, count = 1): Promise<TestUser> {
  const guest = project.client(project.anonKey, null);
  await guest.post(`${project.auth}/reset-password`, { email: user.email });
  const token = tokenIn(await smtp.mailTo(user.email, count));
  const password = `set by mail ${count}`;
  expect((await guest.post(`${project.auth}/update-password`, { token, password })).status).toBe(200);
  return { ...user, password };
}

/** A user with a verified factor whose next code is still unused. */
async function enrolled(own = project): Promise<{ user: TestUser; device: Device; strong: HttpClient }> {
  const user = await own.signUp();
  const device = await enrol(user.http, own);
  const answer = await verify(user.http, device.id, codeOf(device), own);
  expect(answer.status).toBe(200);
  plinth.clock.move(90);
  return { user, device, strong: as(answer, own) };
}

describe('enrolling a second factor', () => {
  it('returns id, secret and URI for the app; the factor is active once a code was verified', async () => {
    const user = await project.signUp();
    const answer = await user.http.post(factors(), { name: 'Phone' });
    expect(answer.body).toEqual({
      id: expect.any(String),
      kind: 'totp',
      name: 'Phone',
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      uri: expect.stringMatching(/^otpauth:\/\/totp\//),
    });
    const uri = new URL(answer.body.uri as string);
    expect(uri.searchParams.get('secret')).toBe(answer.body.secret);
    expect(decodeURIComponent(uri.pathname)).toContain(user.email);
    const listed = async () => (await user.http.get(factors())).body.factors as Record<string, unknown>[];
    expect(await listed()).toEqual([
      {
        id: answer.body.id,
        kind: 'totp',
        name: 'Phone',
        created_at: expect.any(String),
        verified_at: null,
        last_used_at: null,
      },
    ]);
    // The factor is not verified, so the password alone still suffices.
    expect((await as(await signIn(user)).get('/rest/v1/notes')).status).toBe(200);
    const verified = await verify(user.http, answer.body.id as string, codeOf(answer.body as Device));
    expect(verified.status).toBe(200);
    expect(claimsOf(verified.body.session.access_token as string).aal).toBe('aal2');
    expect((await as(verified).get(factors())).body.factors[0].verified_at).toEqual(expect.any(String));
  });

  it('stores the secret encrypted and returns it once', async () => {
    const { device, strong } = await enrolled();
    expect((await strong.get(factors())).text).not.toContain(device.secret);
    const [row] = await project.sql(
      `select sealed_secret::text as sealed from auth.factors where id = '${device.id}'`,
    );
    const bytes = Buffer.from((row.sealed as string).slice(2), 'hex');
    expect(bytes.includes(Buffer.from(device.secret))).toBe(false);
    expect(bytes.includes(Buffer.from(Secret.fromBase32(device.secret).buffer))).toBe(false);
  });

  it("ends the user's other sessions of one factor", async () => {
    const user = await project.signUp();
    const other = as(await signIn(user));
    const device = await enrol(user.http);
    expect((await other.get(`${project.auth}/user`)).status).toBe(200);
    const raised = await verify(user.http, device.id, codeOf(device));
    expect((await other.get(`${project.auth}/user`)).status).toBe(401);
    expect((await as(raised).get(`${project.auth}/user`)).status).toBe(200);
  });

  it('accepts at most ten factors, with names that can be stored', async () => {
    const user = await project.signUp();
    for (let n = 0; n < 10; n += 1) await enrol(user.http);
    expect((await user.http.post(factors(), {})).status).toBe(400);
    // Unverified factors are replaced.
    plinth.clock.move(1_000);
    expect((await user.http.post(factors())).body.name).toBe('Authenticator');
    for (const name of ['a\0b', 'a\ud800b', 7, 'x'.repeat(201)]) {
      const { status, body } = await user.http.post(factors(), { name });
      expect([status, body.status_code]).toEqual([400, 400]);
    }
  });

  it('requires a session: 401 for API keys and tokens without one', async () => {
    for (const http of [project.anon, project.service, project.asSubject()]) {
      expect((await http.post(factors())).status).toBe(401);
      expect((await http.get(factors())).status).toBe(401);
    }
  });
});

describe('signing in with a second factor', () => {
  it('gives aal1 for the password, aal2 for the code, and keeps aal2 when refreshed', async () => {
    const { user, device } = await enrolled();
    const first = await signIn(user);
    expect(claimsOf(first.body.session.access_token as string).aal).toBe('aal1');
    const second = await verify(as(first), device.id, codeOf(device));
    expect(second.body).toEqual({
      user: { id: user.id, email: user.email, name: expect.any(String) },
      session: {
        access_token: expect.any(String),
        expires_at: expect.any(Number),
        refresh_token: expect.any(String),
      },
    });
    const raised = claimsOf(second.body.session.access_token as string);
    expect(raised.aal).toBe('aal2');
    expect(raised.session_id).toBe(claimsOf(first.body.session.access_token as string).session_id);
    const guest = project.client(project.anonKey, null);
    const { refresh_token } = second.body.session;
    const refreshed = await guest.post(`${project.auth}/refresh`, { refresh_token });
    expect(claimsOf(refreshed.body.session.access_token).aal).toBe('aal2');
  });

  it('invalidates refresh tokens from before the code, also during the moment of grace', async () => {
    const { user, device } = await enrolled();
    const first = await signIn(user);
    const second = await verify(as(first), device.id, codeOf(device));
    const { refresh_token } = first.body.session;
    const guest = project.client(project.anonKey, null);
    expect((await guest.post(`${project.auth}/refresh`, { refresh_token })).status).toBe(401);
    // Reuse means that the token was stolen, so the session is revoked.
    expect((await as(second).get(`${project.auth}/user`)).status).toBe(401);
  });

  it('exposes aal to policies', async () => {
    const { user, device } = await enrolled();
    const own = await plinth.admin.patch(`/admin/v1/projects/${project.id}`, {
      settings: { mfa_required: 'never' },
    });
    expect(own.status).toBe(200);
    const first = await signIn(user);
    expect((await as(first).get('/rest/v1/secrets')).body).toEqual([]);
    const second = await verify(as(first), device.id, codeOf(device));
    expect((await as(second).get('/rest/v1/secrets')).body).toEqual([{ id: 1 }]);
    await plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { mfa_required: null } });
  });
});

describe('codes of a second factor', () => {
  it('are accepted once, even when sent eight times concurrently', async () => {
    const { user, device } = await enrolled();
    const weak = as(await signIn(user));
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => verify(weak, device.id, codeOf(device))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const again = await verify(as(await signIn(user)), device.id, codeOf(device));
    expect(again.status).toBe(401);
    expect(again.body).toEqual({ detail: expect.any(String), status_code: 401 });
  });

  it('are accepted one step early or late, but never an older code after a newer one', async () => {
    const { user, device } = await enrolled();
    const weak = as(await signIn(user));
    expect((await verify(weak, device.id, codeOf(device, -2))).status).toBe(401);
    expect((await verify(weak, device.id, codeOf(device, 2))).status).toBe(401);
    expect((await verify(weak, device.id, codeOf(device, 1))).status).toBe(200);
    expect((await verify(as(await signIn(user)), device.id, codeOf(device, 0))).status).toBe(401);
  });

  it('of another user, project or factor are refused', async () => {
    const [one, other] = [await enrolled(), await enrolled()];
    expect((await verify(as(await signIn(one.user)), other.device.id, codeOf(other.device))).status).toBe(
      404,
    );
    expect((await verify(as(await signIn(one.user)), one.device.id, codeOf(other.device))).status).toBe(401);
    expect((await verify(one.strong, randomUUID(), '123456')).status).toBe(404);
    expect((await verify(one.strong, 'nonsense', '123456')).status).toBe(404);
  });

  it.each([[''], ['12345'], ['abcdef'], [123456], [null], ['1'.repeat(30)]])(
    'does not answer 500 for %j',
    async (code) => {
      const { device, strong } = await enrolled();
      const { status } = await strong.post(`${factors()}/${device.id}/verify`, { code });
      expect([400, 401]).toContain(status);
    },
  );
});

describe('guessing codes of a second factor', () => {
  it('is slowed down for the account from many addresses, longer each time, also when concurrent', async () => {
    const { user, device } = await enrolled();
    const weak = as(await signIn(user));
    const guess = (n: number) =>
      verify(weak.with({ 'x-forwarded-for': `203.0.113.${n}` }), device.id, wrongCodeOf(device));
    const statuses = (await Promise.all(Array.from({ length: 40 }, (_, n) => guess(n)))).map(
      ({ status }) => status,
    );
    const tried = statuses.filter((status) => status === 401).length;
    expect(tried).toBe(FREE_FAILURES);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40 - tried);
    const waits: number[] = [];
    for (let n = 0; waits.length < 5 && n < 50; n += 1) {
      const answer = await guess(100 + n);
      if (answer.status === 401) continue;
      waits.push(Number(answer.headers.get('retry-after')));
      plinth.clock.move(waits.at(-1) as number);
    }
    expect(waits).toEqual([...waits].sort((one, other) => one - other));
    expect(waits.at(-1)).toBeGreaterThanOrEqual(4 * (waits[0] as number));
    // Even with the right code during the delay.
    await guess(200);
    expect((await verify(weak, device.id, codeOf(device))).status).toBe(429);
    // Sign-in with the password is not affected.
    await signIn(user);
    plinth.clock.move(900);
    expect((await verify(weak, device.id, codeOf(device))).status).toBe(200);
  });

  it('is slowed down from one address over many accounts', async () => {
    const some: Awaited<ReturnType<typeof enrolled>>[] = [];
    for (let n = 0; n < 6; n += 1) some.push(await enrolled());
    const statuses: number[] = [];
    for (let n = 0; n < 54; n += 1) {
      const { device, strong } = some[n % 6] as (typeof some)[0];
      const http = strong.with({ 'x-forwarded-for': '198.51.100.77' });
      statuses.push((await verify(http, device.id, wrongCodeOf(device))).status);
    }
    expect(statuses.slice(50)).toEqual([429, 429, 429, 429]);
  });
});

describe('with a second factor, a session of one factor', () => {
  it('gets 403 on table REST and storage until a code is verified', async () => {
    const { user, device } = await enrolled();
    const first = await signIn(user);
    const weak = as(first);
    const rest = await weak.get('/rest/v1/notes');
    expect([rest.status, rest.body.detail.sqlstate]).toEqual([403, 'PL403']);
    const storage = await weak.get(`${project.storage}/buckets`);
    expect([storage.status, storage.body.error.code]).toEqual([403, 'forbidden']);
    // It is accepted by the endpoints that verify a second factor.
    expect((await weak.get(`${project.auth}/user`)).status).toBe(200);
    expect((await weak.get(factors())).status).toBe(200);
    const strong = as(await verify(weak, device.id, codeOf(device)));
    expect((await strong.get('/rest/v1/notes')).status).toBe(200);
    expect((await strong.get(`${project.storage}/buckets`)).status).toBe(200);
    // The earlier token keeps its level.
    expect((await weak.get('/rest/v1/notes')).status).toBe(403);
  });

  it('gets 401 once it has ended, before the check of the factor', async () => {
    const { user } = await enrolled();
    const weak = as(await signIn(user));
    expect((await weak.post(`${project.auth}/logout`)).status).toBe(200);
    expect((await weak.get('/rest/v1/notes')).status).toBe(401);
  });

  it.each([
    ['never', 200, 200],
    ['enrolled', 403, 200],
    ['always', 403, 403],
  ] as const)(
    'with mfa_required %s gets %d, and %d for a user without a factor',
    async (rule, withFactor, without) => {
      const own = await plinth.createProject({ settings: { mfa_required: rule } });
      await own.sql('create table notes (id int); create policy everybody on notes using (true)');
      const { user, strong } = await enrolled(own);
      const bare = await own.signUp();
      expect((await as(await signIn(user, own), own).get('/rest/v1/notes')).status).toBe(withFactor);
      expect((await bare.http.get('/rest/v1/notes')).status).toBe(without);
      expect((await bare.http.get(`${own.auth}/user`)).status).toBe(200);
      expect((await strong.get('/rest/v1/notes')).status).toBe(200);
      // Keys and tokens of the project's own backend have no session.
      expect((await own.anon.get('/rest/v1/notes')).status).toBe(200);
      expect((await own.service.get('/rest/v1/notes')).status).toBe(200);
      expect((await own.asSubject().get('/rest/v1/notes')).status).toBe(200);
    },
  );

  it('cannot change password or email, nor add or remove a factor', async () => {
    const { user, device } = await enrolled();
    const weak = as(await signIn(user));
    const change = (body: object) => weak.patch(`${project.auth}/user`, body);
    expect((await change({ password: 'another one', current_password: user.password })).status).toBe(403);
    expect((await change({ email: `new-${user.email}` })).status).toBe(403);
    expect((await weak.post(factors())).status).toBe(403);
    expect((await weak.delete(`${factors()}/${device.id}`)).status).toBe(403);
    expect((await change({ name: 'Ada' })).status).toBe(200);
    const strong = as(await verify(weak, device.id, codeOf(device)));
    const changed = await strong.patch(`${project.auth}/user`, {
      password: 'another one',
      current_password: user.password,
    });
    expect(changed.status).toBe(200);
  });

  it('cannot verify a factor that was unverified when the first one was verified', async () => {
    const user = await project.signUp();
    const [left, first] = [await enrol(user.http), await enrol(user.http)];
    await verify(user.http, first.id, codeOf(first));
    plinth.clock.move(60);
    const weak = as(await signIn(user));
    expect((await verify(weak, left.id, codeOf(left))).status).toBe(404);
    expect((await verify(weak, first.id, codeOf(first))).status).toBe(200);
  });

  it('is also the result of a password reset, so access to the mailbox alone does not suffice', async () => {
    const { user } = await enrolled();
    await project.service.patch(`${project.auth}/admin/users/${user.id}`, { email_verified: true });
    const weak = as(await signIn(await resetByMail(user)));
    expect((await weak.get('/rest/v1/notes')).status).toBe(403);
  });
});

describe('an account that somebody created with the address of another person', () => {
  const statusOf = async (http: HttpClient): Promise<number> => (await http.get('/rest/v1/notes')).status;
  const verifyByMail = async ({ email }: TestUser): Promise<void> => {
    const guest = project.client(project.anonKey, null);
    await guest.post(`${project.auth}/resend-verification`, { email });
    const token = tokenIn(await smtp.mailTo(email));
    expect((await guest.post(`${project.auth}/verify-email`, { token })).status).toBe(200);
  };

  it('keeps no password, factor or session once that person sets a password by mail', async () => {
    const { user, strong } = await enrolled();
    const owner = await resetByMail(user);
    expect(await statusOf(strong)).toBe(401);
    const guest = project.client(project.anonKey, null);
    const { email, password } = user;
    expect((await guest.post(`${project.auth}/login`, { email, password })).status).toBe(401);
    const http = as(await signIn(owner));
    expect([await statusOf(http), (await http.get(factors())).body.factors]).toEqual([200, []]);
    // After that, the mailbox alone does not remove a factor.
    const device = await enrol(http);
    await verify(http, device.id, codeOf(device));
    expect(await statusOf(as(await signIn(await resetByMail(owner, 2))))).toBe(403);
  });

  it('keeps no password, factor or session once that person verifies the address', async () => {
    const { user, strong } = await enrolled();
    await verifyByMail(user);
    expect(await statusOf(strong)).toBe(401);
    const guest = project.client(project.anonKey, null);
    const { email, password } = user;
    expect((await guest.post(`${project.auth}/login`, { email, password })).status).toBe(401);
    const http = as(await signIn(await resetByMail(user, 2)));
    expect([await statusOf(http), (await http.get(factors())).body.factors]).toEqual([200, []]);
    // Nobody has used the account, so its mail completes the sign-up.
    const pending = await plinth.createProject({ settings: { email_verification_required: true } });
    const client = pending.client(pending.anonKey, null);
    const credentials = { email: `pending-${randomUUID()}@example.com`, password: 'chosen at sign-up' };
    expect((await client.post(`${pending.auth}/signup`, { ...credentials, name: 'Ada' })).status).toBe(201);
    const token = tokenIn(await smtp.mailTo(credentials.email));
    expect((await client.post(`${pending.auth}/login`, credentials)).status).toBe(403);
    expect((await client.post(`${pending.auth}/verify-email`, { token })).status).toBe(200);
    expect((await client.post(`${pending.auth}/login`, credentials)).status).toBe(200);
  });

  it('keeps password, factor and session when its user changes an address that was proved', async () => {
    const { user, strong } = await enrolled();
    await project.service.patch(`${project.auth}/admin/users/${user.id}`, { email_verified: true });
    const email = `new-${randomUUID()}@example.com`;
    expect((await strong.patch(`${project.auth}/user`, { email })).status).toBe(200);
    const guest = project.client(project.anonKey, null);
    const token = tokenIn(await smtp.mailTo(email));
    expect((await guest.post(`${project.auth}/verify-email`, { token })).status).toBe(200);
    expect([await statusOf(strong), (await strong.get(factors())).body.factors.length]).toEqual([200, 1]);
  });
});

describe('removing a factor', () => {
  it('requires a session with two factors; afterwards the password suffices again', async () => {
    const { user, device, strong } = await enrolled();
    expect((await strong.delete(`${factors()}/${device.id}`)).status).toBe(200);
    expect((await strong.delete(`${factors()}/${device.id}`)).status).toBe(404);
    expect((await as(await signIn(user)).get('/rest/v1/notes')).status).toBe(200);
    const [row] = await project.sql(
      `select count(*)::int as raised from auth.sessions where user_id = '${user.id}' and aal = 'aal2'`,
    );
    expect(row.raised).toBe(0);
  });

  it('is possible for an administrator, without reading the secret', async () => {
    const { user, device } = await enrolled();
    const path = `${project.auth}/admin/users/${user.id}/factors`;
    const listed = await project.service.get(path);
    expect(listed.body.factors).toEqual([expect.objectContaining({ id: device.id, name: 'Phone' })]);
    expect(listed.text).not.toContain(device.secret);
    expect((await project.anon.delete(`${path}/${device.id}`)).status).toBe(403);
    expect((await user.http.delete(`${path}/${device.id}`)).status).toBe(403);
    const other = await project.signUp();
    expect(
      (await project.service.delete(`${project.auth}/admin/users/${other.id}/factors/${device.id}`)).status,
    ).toBe(404);
    expect((await project.service.delete(`${path}/${device.id}`)).status).toBe(200);
    expect((await project.service.delete(`${path}/${device.id}`)).status).toBe(404);
    expect((await as(await signIn(user)).get('/rest/v1/notes')).status).toBe(200);
  });

  it('still requires a second factor while another one exists', async () => {
    const { user, device, strong } = await enrolled();
    const second = await enrol(strong);
    const raised = await verify(strong, second.id, codeOf(second));
    expect((await as(raised).delete(`${factors()}/${device.id}`)).status).toBe(200);
    expect((await as(await signIn(user)).get('/rest/v1/notes')).status).toBe(403);
  });
});

it('writes audit entries for enrolment, verification, use, failure and removal, with the actor', async () => {
  const { user, device } = await enrolled();
  const weak = as(await signIn(user));
  await verify(weak, device.id, wrongCodeOf(device));
  await verify(weak, device.id, codeOf(device));
  await project.service.delete(`${project.auth}/admin/users/${user.id}/factors/${device.id}`);
  const { body } = await project.service.get(`${project.auth}/admin/audit?user_id=${user.id}`);
  const entries = (body.entries as { action: string; actor_role: string; details: object }[]).filter(
    ({ action }) => action.startsWith('factor'),
  );
  expect(entries.map(({ action, actor_role }) => [action, actor_role])).toEqual([
    ['factor_removed', 'service_role'],
    ['factor_used', 'authenticated'],
    ['factor_failed', 'authenticated'],
    ['factor_verified', 'authenticated'],
    ['factor_enrolled', 'authenticated'],
  ]);
  for (const { details } of entries) expect(details).toEqual({ factor_id: device.id });
  expect(JSON.stringify(body)).not.toContain(device.secret);
});
