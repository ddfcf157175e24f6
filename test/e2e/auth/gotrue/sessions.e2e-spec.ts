/** GoTrue's paths: sign-up, tokens, the signed-in user and sign-out, with its bodies, statuses and error codes. */
import { randomUUID } from 'node:crypto';
import { decode, type JwtPayload } from 'jsonwebtoken';
import { gotrue, guestOf } from '../../../support/gotrue';
import { HttpClient } from '../../../support/http-client';
import { TestPlinth } from '../../../support/plinth';
import { TestProject } from '../../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;
let base: string;

beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { AUTH_REQUESTS_PER_MINUTE: '10000' } });
  project = await plinth.createProject();
  guest = guestOf(project);
  base = gotrue(project);
});
afterAll(() => plinth.stop());

const address = (): string => `user-${randomUUID()}@example.com`;
const PASSWORD = 'correct horse';

async function signedUp(email = address(), data?: object) {
  const { status, body } = await guest.post(`${base}/signup`, { email, password: PASSWORD, data });
  expect(status).toBe(200);
  return { email, body, http: project.client(project.anonKey, body.access_token) };
}

describe('POST /signup', () => {
  it('answers with a session and the user in the format of GoTrue', async () => {
    const { email, body } = await signedUp(undefined, { full_name: 'Ada', theme: 'dark' });
    expect(body).toMatchObject({
      token_type: 'bearer',
      expires_in: 3600,
      refresh_token: expect.any(String),
      user: {
        aud: 'authenticated',
        role: 'authenticated',
        email,
        phone: '',
        app_metadata: { provider: 'email', providers: ['email'] },
        user_metadata: { full_name: 'Ada', theme: 'dark' },
        is_anonymous: false,
        identities: [{ provider: 'email', identity_data: { email, email_verified: false } }],
      },
    });
    const claims = decode(body.access_token) as JwtPayload;
    expect(claims).toMatchObject({
      sub: body.user.id,
      aal: 'aal1',
      amr: [{ method: 'password', timestamp: expect.any(Number) }],
      session_id: expect.any(String),
      is_anonymous: false,
      app_metadata: { provider: 'email' },
      user_metadata: { theme: 'dark' },
    });
  });

  it('creates an account that /v1/auth also serves, in its own format', async () => {
    const { email } = await signedUp();
    const answer = await guest.post(`${project.auth}/login`, { email, password: PASSWORD });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(['session', 'user']);
  });

  it.each([
    [{ email: 'a', password: PASSWORD }, 400, 'validation_failed', /Unable to validate email address/],
    [{ email: address(), password: '123' }, 422, 'weak_password', /at least 6 characters/],
    [{ email: address() }, 400, 'validation_failed', /password/],
    [{}, 422, 'anonymous_provider_disabled', /Anonymous sign-ins are disabled/],
    [{ phone: '15551234567', password: PASSWORD }, 400, 'phone_provider_disabled', /phone/],
    ['{"broken', 400, 'bad_json', /./],
  ])('refuses %j with %d %s', async (body, status, code, message) => {
    const answer = await guest.post(`${base}/signup`, body);
    expect([answer.status, answer.body.code, answer.body.error_code]).toEqual([status, status, code]);
    expect(answer.body.msg).toMatch(message);
    expect(answer.headers.get('x-sb-error-code')).toBe(code);
  });

  it('writes errors in the format of the API version that the client names', async () => {
    const newer = guest.unchecked().with({ 'x-supabase-api-version': '2024-01-01' });
    const answer = await newer.post(`${base}/signup`, { email: address(), password: '123' });
    expect(answer.body).toEqual({
      code: 'weak_password',
      message: expect.stringContaining('at least 6'),
      weak_password: { reasons: ['length'] },
    });
    expect(answer.headers.get('x-supabase-api-version')).toBe('2024-01-01');
  });

  it('refuses a taken address if addresses need no verification', async () => {
    const { email } = await signedUp();
    const answer = await guest.post(`${base}/signup`, { email: email.toUpperCase(), password: PASSWORD });
    expect([answer.status, answer.body.error_code]).toEqual([422, 'user_already_exists']);
  });

  it('is refused if sign-up is turned off', async () => {
    const closed = await plinth.createProject({ settings: { signup_enabled: false } });
    const answer = await guestOf(closed).post(`${gotrue(closed)}/signup`, {
      email: address(),
      password: PASSWORD,
    });
    expect([answer.status, answer.body.error_code]).toEqual([422, 'signup_disabled']);
  });
});

describe('POST /token', () => {
  const token = (grant: string, body: unknown) => guest.post(`${base}/token?grant_type=${grant}`, body);

  it('signs in with a password', async () => {
    const { email } = await signedUp();
    const answer = await token('password', { email, password: PASSWORD });
    expect(answer.status).toBe(200);
    expect(answer.body.user).toMatchObject({ email, last_sign_in_at: expect.any(String) });
  });

  it('answers an unknown address and a wrong password alike', async () => {
    const { email } = await signedUp();
    const wrong = await token('password', { email, password: 'wrong password' });
    const unknown = await token('password', { email: address(), password: 'wrong password' });
    expect(wrong.body).toEqual({
      code: 400,
      error_code: 'invalid_credentials',
      msg: 'Invalid login credentials',
    });
    expect([unknown.status, unknown.text]).toEqual([wrong.status, wrong.text]);
  });

  it('rotates a refresh token, keeps the session and its methods, and refuses a spent token', async () => {
    const { body } = await signedUp();
    const fresh = await token('refresh_token', { refresh_token: body.refresh_token });
    expect(fresh.status).toBe(200);
    const [before, after] = [body, fresh.body].map(({ access_token: jwt }) => decode(jwt) as JwtPayload);
    expect([after?.session_id, after?.amr]).toEqual([before?.session_id, before?.amr]);
    plinth.clock.move(20);
    const again = await token('refresh_token', { refresh_token: body.refresh_token });
    expect([again.status, again.body.error_code]).toEqual([400, 'refresh_token_not_found']);
    const ended = await token('refresh_token', { refresh_token: fresh.body.refresh_token });
    expect(ended.status).toBe(400);
  });

  it.each([
    ['password', {}, 400, 'invalid_credentials'],
    ['refresh_token', {}, 400, 'validation_failed'],
    ['refresh_token', { refresh_token: 'x' }, 400, 'refresh_token_not_found'],
    ['pkce', { auth_code: 'x' }, 400, 'validation_failed'],
    ['pkce', { auth_code: randomUUID(), code_verifier: 'v'.repeat(43) }, 404, 'flow_state_not_found'],
    ['id_token', { id_token: 'x', provider: 'google' }, 400, 'provider_disabled'],
    ['web3', { chain: 'solana' }, 422, 'web3_provider_disabled'],
    ['magic', {}, 400, 'validation_failed'],
  ])('refuses the grant %s with %j', async (grant, body, status, code) => {
    const answer = await guest.unchecked().post(`${base}/token?grant_type=${grant}`, body);
    expect([answer.status, answer.body.error_code]).toEqual([status, code]);
  });

  it('reveals that a user is unverified or banned only for the right password', async () => {
    const strict = await plinth.createProject({ settings: { email_verification_required: true } });
    const email = address();
    const path = gotrue(strict);
    const client = guestOf(strict);
    await client.post(`${path}/signup`, { email, password: PASSWORD });
    const attempt = (password: string) =>
      client.post(`${path}/token?grant_type=password`, { email, password });
    expect((await attempt('wrong password')).body.error_code).toBe('invalid_credentials');
    expect((await attempt(PASSWORD)).body.error_code).toBe('email_not_confirmed');
    const [{ id }] = await strict.sql(`select id from auth.users where email = '${email}'`);
    await strict.service.put(`${path}/admin/users/${id}`, { email_confirm: true, ban_duration: '1h' });
    expect((await attempt(PASSWORD)).body.error_code).toBe('user_banned');
  });
});

describe('the signed-in user', () => {
  it('is read and changed; data is merged, and null removes a member', async () => {
    const { http, email } = await signedUp(undefined, { theme: 'dark', beta: true });
    const changed = await http.put(`${base}/user`, { data: { theme: 'light', beta: null, size: 3 } });
    expect(changed.body.user_metadata).toEqual({ theme: 'light', size: 3 });
    const read = await http.get(`${base}/user`);
    expect(read.body).toMatchObject({ email, user_metadata: { theme: 'light', size: 3 } });
  });

  it('keeps the members of concurrent changes by users and by administrators', async () => {
    const { body, http } = await signedUp(undefined, { kept: 1, gone: 1 });
    const admin = `${base}/admin/users/${body.user.id}`;
    const numbers = Array.from({ length: 8 }, (_, at) => at);
    await Promise.all([
      http.put(`${base}/user`, { data: { gone: null } }),
      ...numbers.map((at) => http.put(`${base}/user`, { data: { [`user${at}`]: at } })),
      ...numbers.map((at) =>
        project.service.put(admin, {
          user_metadata: { [`admin${at}`]: at },
          app_metadata: { [`role${at}`]: at },
        }),
      ),
    ]);
    const { user_metadata: data, app_metadata: app } = (await project.service.get(admin)).body;
    const names = (prefix: string): string[] => numbers.map((at) => `${prefix}${at}`);
    expect(Object.keys(data)).toEqual(expect.arrayContaining(['kept', ...names('user'), ...names('admin')]));
    expect(data).not.toHaveProperty('gone');
    expect(Object.keys(app)).toEqual(expect.arrayContaining(names('role')));
  });

  it('requests a new address, which is pending until its mail is confirmed', async () => {
    const { http, email } = await signedUp();
    const next = address();
    const changed = await http.put(`${base}/user`, { email: next });
    expect(changed.body).toMatchObject({ email, new_email: next, email_change_sent_at: expect.any(String) });
  });

  it('changes the password, which ends the other sessions', async () => {
    const { http, email } = await signedUp();
    const other = await guest.post(`${base}/token?grant_type=password`, { email, password: PASSWORD });
    expect((await http.put(`${base}/user`, { password: 'another horse' })).status).toBe(200);
    expect((await http.get(`${base}/user`)).status).toBe(200);
    const gone = await project.client(project.anonKey, other.body.access_token).get(`${base}/user`);
    expect([gone.status, gone.body.error_code]).toEqual([403, 'session_not_found']);
    const fresh = await guest.post(`${base}/token?grant_type=password`, { email, password: 'another horse' });
    expect(fresh.status).toBe(200);
  });

  it('must send the right current password, if it sends one', async () => {
    const { http } = await signedUp();
    const answer = await http.put(`${base}/user`, {
      password: 'another horse',
      current_password: 'wrong one',
    });
    expect([answer.status, answer.body.error_code]).toEqual([400, 'current_password_invalid']);
  });

  it('needs a mailed code for a new password in an old session, if the project requires it', async () => {
    const strict = await plinth.createProject({
      settings: {
        reauthentication_required: true,
        manual_linking_enabled: true,
        passkeys_enabled: true,
        anonymous_signin_enabled: true,
        site_url: 'https://app.example.com',
        refresh_token_lifetime: 400_000,
        access_token_lifetime: 86_400,
      },
    });
    const client = guestOf(strict);
    const path = gotrue(strict);
    const begun = await client.post(`${path}/signup`, { email: address(), password: PASSWORD });
    const user = strict.client(strict.anonKey, begun.body.access_token);
    expect((await user.put(`${path}/user`, { password: 'another horse' })).status).toBe(200);
    // Adding other credentials also needs a young session, so that a stolen token gives no lasting access.
    const ways = async (): Promise<string[]> => {
      const passkey = await user.post(`${path}/passkeys/registration/options`, {});
      const identity = await user.get(`${path}/user/identities/authorize?provider=none`);
      const unlinked = await user.delete(`${path}/user/identities/${randomUUID()}`);
      return [passkey, identity, unlinked].map(({ body }) => body.error_code);
    };
    expect(await ways()).not.toContain('reauthentication_needed');
    await strict.sql(`update auth.sessions set created_at = created_at - interval '25 hours'`);
    const refused = await user.put(`${path}/user`, { password: 'a third horse' });
    expect([refused.status, refused.body.error_code]).toEqual([400, 'reauthentication_needed']);
    expect(await ways()).toEqual(Array(3).fill('reauthentication_needed'));
    expect((await user.get(`${path}/reauthenticate`)).status).toBe(200);
    const wrong = await user.put(`${path}/user`, { password: 'a third horse', nonce: 'abcdef' });
    expect([wrong.status, wrong.body.error_code]).toEqual([422, 'reauthentication_not_valid']);
  });

  it.each([
    [null, 401, 'no_authorization', /Bearer token/],
    ['anon', 403, 'bad_jwt', /missing sub claim/],
    ['a.b.c', 403, 'bad_jwt', /^invalid JWT/],
  ])('is refused with the bearer %j', async (bearer, status, code, message) => {
    const given = bearer === 'anon' ? project.anonKey : bearer;
    const answer = await project.client(project.anonKey, given).get(`${base}/user`);
    expect([answer.status, answer.body.error_code]).toEqual([status, code]);
    expect(answer.body.msg).toMatch(message);
  });

  it('is refused without an apikey, or with that of another project', async () => {
    const { body } = await signedUp();
    const other = await plinth.createProject();
    for (const key of [null, other.anonKey, 'x']) {
      const answer = await project.client(key, body.access_token).get(`${base}/user`);
      expect([answer.status, answer.body.error_code]).toEqual([401, 'no_authorization']);
    }
  });
});

describe('POST /logout', () => {
  it.each([
    ['local', [403, 200]],
    ['others', [200, 403]],
    ['global', [403, 403]],
    [undefined, [403, 403]],
  ])('with the scope %s ends the sessions of the scope', async (scope, statuses) => {
    const { http, email } = await signedUp();
    const second = await guest.post(`${base}/token?grant_type=password`, { email, password: PASSWORD });
    const other = project.client(project.anonKey, second.body.access_token);
    const answer = await http.send('POST', `${base}/logout${scope ? `?scope=${scope}` : ''}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect([(await http.get(`${base}/user`)).status, (await other.get(`${base}/user`)).status]).toEqual(
      statuses,
    );
  });
});

describe('the paths without a project', () => {
  it('find the project by the apikey', async () => {
    const client = guest.unchecked();
    const begun = await client.post('/auth/v1/signup', { email: address(), password: PASSWORD });
    expect(begun.status).toBe(200);
    const user = project.client(project.anonKey, begun.body.access_token).unchecked();
    expect((await user.get('/auth/v1/user')).body.id).toBe(begun.body.user.id);
    expect((await project.client(null, null).unchecked().get('/auth/v1/user')).status).toBe(401);
    expect((await client.get('/auth/v1/health')).body).toMatchObject({ name: 'GoTrue' });
  });

  it('answer 404 for an unknown slug and an unknown path', async () => {
    expect((await guest.unchecked().get('/p/nowhere-at-all/auth/v1/settings')).status).toBe(404);
    expect((await guest.unchecked().get(`${base}/nothing`)).body).toMatchObject({ code: 404 });
  });
});

const PRESETS = ['apple', 'auth0', 'azure', 'github', 'gitlab', 'google', 'keycloak', 'okta'];

it('settings and refused sign-in methods have the responses of GoTrue', async () => {
  expect((await guest.get(`${base}/settings`)).body).toEqual({
    external: {
      ...Object.fromEntries(PRESETS.map((name) => [name, false])),
      email: true,
      phone: false,
      anonymous_users: false,
      magic_link: false,
    },
    disable_signup: false,
    mailer_autoconfirm: true,
    phone_autoconfirm: false,
    sms_provider: '',
    saml_enabled: false,
  });
  expect((await guest.get(`${base}/authorize?provider=google`)).body.error_code).toBe('validation_failed');
  expect((await guest.post(`${base}/sso`, { domain: 'example.com' })).body.error_code).toBe(
    'saml_provider_disabled',
  );
  const otp = await guest.post(`${base}/otp`, { email: address() });
  expect([otp.status, otp.body.error_code]).toEqual([422, 'email_provider_disabled']);
});
