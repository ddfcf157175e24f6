/** Accounts and sessions of staff: set-up, signing in, cookies, forged requests, second factors. */
import { TOTP } from 'otpauth';
import { EventReader } from '../../support/event-stream';
import { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { cookieOf, newPerson, personOf, signIn, STAFF_PASSWORD, TestPerson } from '../../support/staff';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

let plinth: TestPlinth;
let owner: TestPerson;

const codeOf = ({ body }: HttpAnswer): unknown => body.error?.code;
const setupToken = async (): Promise<string> => {
  const { body } = await plinth.admin.post('/admin/v1/setup/link');
  return body.link.split('#')[1]!;
};

beforeAll(async () => {
  plinth = await TestPlinth.start();
  plinth.clock.hold();
});
afterAll(() => plinth.stop());

describe('the first owner', () => {
  const set = (token: string, more: object = {}): Promise<HttpAnswer> =>
    plinth.http.post('/admin/v1/setup', {
      token,
      email: 'Ada@Example.com',
      password: STAFF_PASSWORD,
      name: 'Ada',
      ...more,
    });

  it('is created once, only with a set-up link, which ends all links', async () => {
    expect((await plinth.http.get('/admin/v1/setup')).body).toEqual({ needed: true });
    const [first, second] = [await setupToken(), await setupToken()];
    expect(codeOf(await set('guessed'))).toBe('invalid_setup_token');
    expect(codeOf(await set(first, { password: 'short' }))).toBe('weak_password');
    expect(codeOf(await set(first, { password: 'password123' }))).toBe('weak_password');
    const answers = await Promise.all([set(first), set(second, { email: 'eve@example.com' }), set(first)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const made = answers.find(({ status }) => status === 201)!;
    owner = personOf(plinth, made);
    expect(made.body.person).toMatchObject({ role: 'owner', has_factor: false });
    expect(codeOf(await set(second))).toBe('already_set_up');
    expect((await plinth.admin.post('/admin/v1/setup/link')).status).toBe(409);
    expect((await plinth.http.get('/admin/v1/setup')).body).toEqual({ needed: false });
  });

  it('cannot be removed, disabled or demoted while there is no other owner', async () => {
    const path = `/admin/v1/people/${owner.id}`;
    for (const answer of [
      await owner.http.delete(path),
      await owner.http.patch(path, { role: 'operator' }),
      await owner.http.patch(path, { role: null }),
      await plinth.admin.patch(path, { disabled: true }),
    ])
      expect([answer.status, codeOf(answer)]).toEqual([409, 'last_owner']);
    const [left, right] = [await newPerson(plinth, 'owner'), await newPerson(plinth, 'owner')];
    await plinth.admin.delete(path);
    // Two owners remove each other concurrently.
    const both = await Promise.all([
      left.http.delete(`/admin/v1/people/${right.id}`),
      right.http.delete(`/admin/v1/people/${left.id}`),
    ]);
    expect(both.filter(({ status }) => status === 204)).toHaveLength(1);
    owner = both[0].status === 204 ? left : right;
    expect((await owner.http.get('/admin/v1/people')).status).toBe(200);
  });
});

describe('signing in', () => {
  it('answers an unknown address, a wrong password and a disabled account alike', async () => {
    const disabled = await newPerson(plinth, 'auditor');
    await owner.http.patch(`/admin/v1/people/${disabled.id}`, { disabled: true });
    const answers = [
      await signIn(plinth, 'nobody@example.com'),
      await signIn(plinth, owner.email, { password: 'wrong password' }),
      await signIn(plinth, disabled.email),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.body]).toEqual([401, answers[0]!.body]);
      expect(cookieOf(answer)).toBeNull();
    }
    expect(codeOf(answers[0]!)).toBe('invalid_credentials');
  });

  it('delays attempts after several wrong passwords, even with the right password', async () => {
    const person = await newPerson(plinth, 'auditor');
    let answer: HttpAnswer;
    let attempts = 0;
    do answer = await signIn(plinth, person.email, { password: 'wrong password' });
    while (answer.status === 401 && ++attempts < 20);
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await signIn(plinth, person.email)).status).toBe(429);
    // An address without an account is delayed too.
    attempts = 0;
    do answer = await signIn(plinth, 'unknown@example.com', { password: 'wrong password' });
    while (answer.status === 401 && ++attempts < 20);
    expect(answer.status).toBe(429);
    plinth.clock.move(20 * MINUTE);
    expect((await signIn(plinth, person.email)).status).toBe(200);
    owner = personOf(plinth, await signIn(plinth, owner.email));
  });

  it('sets a cookie that scripts and other sites cannot use, with a new value each time', async () => {
    const answer = await signIn(plinth, owner.email);
    const set = answer.headers.get('set-cookie')!;
    expect(set).toMatch(/^plinth_staff=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/);
    // A new session never uses a token that the client chose or has from an earlier session.
    const fixed = `plinth_staff=${'x'.repeat(43)}`;
    const again = await plinth.http
      .with({ cookie: fixed })
      .post('/admin/v1/session', { email: owner.email, password: STAFF_PASSWORD });
    expect(cookieOf(again)).not.toBe(fixed);
    expect((await plinth.http.with({ cookie: fixed }).get('/admin/v1/session')).status).toBe(401);
    const former = plinth.http.with({ cookie: cookieOf(answer)! });
    expect((await former.get('/admin/v1/session')).status).toBe(200);
    const next = await former.post('/admin/v1/session', { email: owner.email, password: STAFF_PASSWORD });
    expect(cookieOf(next)).not.toBe(cookieOf(answer));
    expect((await former.get('/admin/v1/session')).status).toBe(401);
    // Of two cookies with one name, one was planted.
    const two = plinth.http.with({ cookie: `${fixed}; ${cookieOf(next)}` });
    expect((await two.get('/admin/v1/session')).status).toBe(401);
    owner = personOf(plinth, next);
  });

  it('refuses changes with only the cookie, and prefers a header of the client to the cookie', async () => {
    const { cookie } = owner.http.headers as { cookie: string };
    const forged = plinth.http.with({ cookie });
    for (const http of [forged, forged.with({ 'x-csrf-token': 'guessed' })]) {
      const answer = await http.post('/admin/v1/projects', { name: 'Forged' });
      expect([answer.status, codeOf(answer)]).toEqual([403, 'csrf_failed']);
    }
    expect((await forged.get('/admin/v1/people')).status).toBe(200);
    expect((await forged.with({ authorization: 'Bearer wrong' }).get('/admin/v1/people')).status).toBe(401);
    const other = personOf(plinth, await signIn(plinth, owner.email));
    const mixed = forged.with({ 'x-csrf-token': other.http.headers['x-csrf-token']! });
    expect(codeOf(await mixed.post('/admin/v1/projects', { name: 'Forged' }))).toBe('csrf_failed');
    expect((await other.http.delete('/admin/v1/session')).status).toBe(204);
    expect((await other.http.get('/admin/v1/session')).status).toBe(401);
  });
});

describe('a session', () => {
  it('forbids caches to store a response to a staff member', async () => {
    const project = await plinth.createProject();
    const { id } = project;
    const paths = [
      'session',
      'people',
      'projects',
      `projects/${id}/keys`,
      `projects/${id}/database`,
      'projects/none',
    ];
    const answers = await Promise.all(paths.map((path) => owner.http.unchecked().get(`/admin/v1/${path}`)));
    answers.push(await owner.http.post(`/admin/v1/projects/${id}/access-tokens`, { as: 'service_role' }));
    expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(answers.map(() => 'no-store'));
  });

  it('gets a new token periodically, and ends soon if the old token is used', async () => {
    const person = personOf(plinth, await signIn(plinth, owner.email));
    plinth.clock.move(16 * MINUTE);
    const renewed = await person.http.get('/admin/v1/session');
    const cookie = cookieOf(renewed)!;
    expect(cookie).not.toBeNull();
    // The response may be lost, so the old token works until the new token is used.
    expect((await person.http.get('/admin/v1/session')).status).toBe(200);
    const current = person.http.with({ cookie });
    expect((await current.get('/admin/v1/people')).status).toBe(200);
    expect((await person.http.get('/admin/v1/session')).status).toBe(200);
    // The CSRF token remains the same.
    expect((await current.delete(`/admin/v1/tokens/${person.id}`)).status).toBe(404);
    plinth.clock.move(2 * MINUTE);
    expect((await person.http.get('/admin/v1/session')).status).toBe(401);
    // One of the two holders may be a thief, so the session ends for both.
    expect((await current.get('/admin/v1/session')).status).toBe(401);
  });

  it('ends without a request for eight hours, and after seven days in any case', async () => {
    const [idle, busy] = [await signIn(plinth, owner.email), await signIn(plinth, owner.email)];
    let cookie = cookieOf(busy)!;
    for (let hours = 0; hours <= 7 * 24 - 7; hours += 7) {
      const answer = await plinth.http.with({ cookie }).get('/admin/v1/session');
      expect(answer.status).toBe(200);
      cookie = cookieOf(answer) ?? cookie;
      plinth.clock.move(7 * HOUR);
    }
    const late = await plinth.http.with({ cookie: cookieOf(idle)! }).get('/admin/v1/session');
    expect(late.status).toBe(401);
    expect((await plinth.http.with({ cookie }).get('/admin/v1/session')).status).toBe(401);
    owner = personOf(plinth, await signIn(plinth, owner.email));
  });

  it('ends immediately in every process when the account is disabled or deleted', async () => {
    const replica = await TestPlinth.start({ replicaOf: plinth });
    try {
      replica.clock.move((plinth.clock.now() - Date.now()) / 1000);
      const person = await newPerson(plinth, 'operator');
      const made = await person.http.post('/admin/v1/tokens', {
        name: 'CI',
        scopes: ['read'],
        expires_in: 3600,
      });
      const token = plinth.http.with({ authorization: `Bearer ${made.body.token}` });
      const everywhere = [person.http, token].flatMap((http) => [http, http.at(replica.baseUrl)]);
      const statuses = (): Promise<number[]> =>
        Promise.all(everywhere.map(async (http) => (await http.get('/admin/v1/projects')).status));
      expect(await statuses()).toEqual([200, 200, 200, 200]);
      await owner.http.patch(`/admin/v1/people/${person.id}`, { disabled: true });
      expect(await statuses()).toEqual([401, 401, 401, 401]);
      // After the account is enabled again, a new sign-in works; the old credentials stay invalid.
      await owner.http.patch(`/admin/v1/people/${person.id}`, { disabled: false });
      expect(await statuses()).toEqual([401, 401, 401, 401]);
      expect((await signIn(plinth, person.email)).status).toBe(200);
    } finally {
      await replica.stop();
    }
  });

  it('ends its live streams when it ends, as does the loss of a role', async () => {
    const { body: project } = await owner.http.post('/admin/v1/projects', { name: 'Watched' });
    const role = { id: project.id, role: 'viewer' } as const;
    const [person, member] = [await newPerson(plinth, 'auditor'), await newPerson(plinth, null, [role])];
    const path = `/admin/v1/projects/${project.id}/requests`;
    const streams = await Promise.all(
      [person, member, owner].map(({ http }) => EventReader.open(http, path)),
    );
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [bySession, byRole, other] = streams;
    await person.http.delete('/admin/v1/session');
    await owner.http.delete(`/admin/v1/projects/${project.id}/people/${member.id}`);
    expect(await Promise.all([bySession!.ended, byRole!.ended])).toEqual([true, true]);
    // A stream to which the staff member still has access continues.
    expect(await Promise.race([other!.ended, Promise.resolve('open')])).toBe('open');
    await other!.close();
  });

  it('is listed for its staff member, who can end it from another browser', async () => {
    const person = await newPerson(plinth, null);
    const other = personOf(plinth, await signIn(plinth, person.email));
    type Listed = { id: string; is_current: boolean };
    const sessions = (await person.http.get('/admin/v1/sessions')).body as Listed[];
    expect(sessions.map(({ is_current: isCurrent }) => isCurrent).sort()).toEqual([false, true]);
    const path = `/admin/v1/sessions/${sessions.find(({ is_current: isCurrent }) => !isCurrent)!.id}`;
    expect(codeOf(await owner.http.delete(path))).toBe('session_not_found');
    expect((await person.http.delete(path)).status).toBe(204);
    expect((await other.http.get('/admin/v1/session')).status).toBe(401);
    expect((await person.http.get('/admin/v1/session')).status).toBe(200);
    expect(codeOf(await person.http.delete(path))).toBe('session_not_found');
  });

  it('is the only session left after a change of the password, with a new cookie', async () => {
    const person = await newPerson(plinth, null);
    const other = personOf(plinth, await signIn(plinth, person.email));
    const change = { current_password: STAFF_PASSWORD, password: 'another battery' };
    const wrong = { ...change, current_password: 'wrong password' };
    expect((await person.http.patch('/admin/v1/session/password', wrong)).status).toBe(401);
    const changed = await person.http.patch('/admin/v1/session/password', change);
    expect(changed.status).toBe(200);
    const cookie = cookieOf(changed)!;
    const all = [person.http, other.http, plinth.http.with({ cookie })];
    const after = await Promise.all(all.map((http) => http.get('/admin/v1/session')));
    expect(after.map(({ status }) => status)).toEqual([401, 401, 200]);
    expect((await signIn(plinth, person.email)).status).toBe(401);
    expect((await signIn(plinth, person.email, { password: change.password })).status).toBe(200);
  });
});

describe('a second factor', () => {
  const codeFrom = (uri: string): string => {
    const secret = new URL(uri).searchParams.get('secret')!;
    return new TOTP({ secret }).generate({ timestamp: plinth.clock.now() });
  };

  it('is asked for once it is confirmed; each code and each recovery code works once', async () => {
    const person = await newPerson(plinth, 'auditor');
    const other = personOf(plinth, await signIn(plinth, person.email));
    const { uri } = (await person.http.post('/admin/v1/session/factor', { password: STAFF_PASSWORD })).body;
    // The factor is not confirmed, so it is not required.
    expect((await signIn(plinth, person.email)).status).toBe(200);
    expect(codeOf(await person.http.put('/admin/v1/session/factor', { code: '000000' }))).toBe(
      'invalid_code',
    );
    const first = codeFrom(uri);
    const confirmed = await person.http.put('/admin/v1/session/factor', { code: first });
    const { recovery_codes: codes } = confirmed.body as { recovery_codes: string[] };
    expect(new Set(codes).size).toBe(10);
    expect((await other.http.get('/admin/v1/session')).status).toBe(401);

    expect(codeOf(await signIn(plinth, person.email))).toBe('factor_required');
    expect(codeOf(await signIn(plinth, person.email, { code: first }))).toBe('invalid_code');
    plinth.clock.move(MINUTE);
    const second = codeFrom(uri);
    const both = await Promise.all([second, second].map((code) => signIn(plinth, person.email, { code })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    plinth.clock.move(2 * MINUTE);
    const spoken = codes[0]!.toUpperCase().replaceAll('-', ' ');
    expect((await signIn(plinth, person.email, { code: spoken })).status).toBe(200);
    expect(codeOf(await signIn(plinth, person.email, { code: codes[0] }))).toBe('invalid_code');

    const session = personOf(plinth, await signIn(plinth, person.email, { code: codes[1] }));
    expect(codeOf(await session.http.post('/admin/v1/session/factor', { password: STAFF_PASSWORD }))).toBe(
      'factor_exists',
    );
    expect(
      (await session.http.send('DELETE', '/admin/v1/session/factor', { body: { code: codes[2] } })).status,
    ).toBe(204);
    expect((await signIn(plinth, person.email)).status).toBe(200);
  });

  it('is not set up without the password, which a stolen session does not have', async () => {
    const person = await newPerson(plinth, 'auditor');
    const set = (body: object): Promise<HttpAnswer> => person.http.post('/admin/v1/session/factor', body);
    for (const body of [{}, { password: null }, { password: 'wrong password' }])
      expect(codeOf(await set(body))).toBe('invalid_credentials');
    expect((await set({ password: STAFF_PASSWORD })).status).toBe(200);
  });

  it('cannot be guessed: wrong codes delay further attempts', async () => {
    const person = await newPerson(plinth, 'auditor');
    const { uri } = (await person.http.post('/admin/v1/session/factor', { password: STAFF_PASSWORD })).body;
    await person.http.put('/admin/v1/session/factor', { code: codeFrom(uri) });
    let answer: HttpAnswer;
    let attempts = 0;
    do answer = await signIn(plinth, person.email, { code: '123456' });
    while (answer.status === 401 && ++attempts < 20);
    expect(answer.status).toBe(429);
  });
});

it('writes every change to the audit log, with the staff member', async () => {
  await owner.http.post('/admin/v1/projects', { name: 'Audited' });
  const { body } = await owner.http.get('/admin/v1/audit-log?limit=1000');
  const entries = body as { action: string; actor: string }[];
  const [created] = entries.filter(({ action }) => action === 'project.create');
  expect(created!.actor).toBe(`${owner.email} (${owner.id})`);
  const actions = new Set(entries.map(({ action }) => action));
  for (const action of [
    'person.set_up',
    'person.sign_in',
    'person.sign_in_failed',
    'person.update',
    'token.create',
  ])
    expect(actions).toContain(action);
  const byKey = entries.filter(({ action }) => action === 'invitation.create');
  expect(new Set(byKey.map(({ actor }) => actor))).toEqual(new Set(['platform-admin-key']));
});
