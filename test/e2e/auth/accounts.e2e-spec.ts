/** Sign-up, sign-in, current user and sign-out (SPEC.md 2.3, 2.4, 3.1, 4.2, 5, 7.2, 8). */
import { createPublicKey, randomUUID } from 'node:crypto';
import { decode, verify } from 'jsonwebtoken';
import { HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  guest = project.client(project.anonKey, null);
});
afterAll(() => plinth.stop());

const address = (): string => `user-${randomUUID()}@example.com`;
const signUp = (body: unknown) => guest.post(`${project.auth}/signup`, body);
const signIn = (body: unknown) => guest.post(`${project.auth}/login`, body);

describe('POST /signup', () => {
  it('answers 201 with user {id, email, name} and session {access_token, expires_at}', async () => {
    const email = address();
    const { status, body } = await signUp({ email, password: 'secret', name: 'Ada Lovelace' });
    expect(status).toBe(201);
    expect(body.user).toEqual({ id: expect.stringMatching(UUID), email, name: 'Ada Lovelace' });
    expect(Object.keys(body.session).sort()).toEqual(['access_token', 'expires_at', 'refresh_token']);
    expect(Object.keys(body).sort()).toEqual(['session', 'user']);
  });

  it('gives a session that is valid immediately', async () => {
    const { user, session } = (await signUp({ email: address(), password: 'secret' })).body;
    const answer = await project.client(project.anonKey, session.access_token).get(`${project.auth}/user`);
    expect([answer.status, answer.body.user.id]).toEqual([200, user.id]);
  });

  it('defaults the name to the part of the email before the at-sign', async () => {
    const { body } = await signUp({ email: `grace.hopper+${randomUUID()}@example.com`, password: 'secret' });
    expect(body.user.name).toMatch(/^grace\.hopper\+[0-9a-f-]+$/);
    expect(
      (await signUp({ email: `joan@${randomUUID()}.example`, password: 'secret', name: '' })).body.user.name,
    ).toBe('joan');
    expect(
      (await signUp({ email: `joan@${randomUUID()}.example`, password: 'secret', name: null })).body.user
        .name,
    ).toBe('joan');
  });

  it.each([
    ['no email', { password: 'secret' }],
    ['a malformed email', { email: 'ada', password: 'secret' }],
    ['an email without a domain', { email: 'ada@', password: 'secret' }],
    ['an email with a line break', { email: 'ada@example.com\r\nBcc: x@example.com', password: 'secret' }],
    ['an email with NUL', { email: 'a\0da@example.com', password: 'secret' }],
    ['two addresses', { email: 'ada@example.com, eve@example.com', password: 'secret' }],
    ['an email that is a number', { email: 7, password: 'secret' }],
    ['an email that is an object', { email: { $ne: null }, password: 'secret' }],
    ['no password', { email: 'ada@example.com' }],
    ['a password that is a number', { email: 'ada@example.com', password: 1234567 }],
    ['a name that is a list', { email: 'ada@example.com', password: 'secret', name: ['x'] }],
    ['a name with NUL', { email: 'ada@example.com', password: 'secret', name: 'a\0b' }],
    ['a list', []],
    ['text', '"text"'],
    ['malformed JSON', '{"email":'],
  ])('answers 400 with detail and status_code for %s', async (_what, body) => {
    const answer = await signUp(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ detail: expect.any(String), status_code: 400 });
  });

  it('accepts a password of 6 characters and refuses one of 5', async () => {
    expect((await signUp({ email: address(), password: '123456' })).status).toBe(201);
    expect((await signUp({ email: address(), password: '12345' })).status).toBe(400);
  });

  it('counts characters, not bytes or UTF-16 units, for the minimum length', async () => {
    expect((await signUp({ email: address(), password: '🔒🔒🔒' })).status).toBe(400);
    expect((await signUp({ email: address(), password: '🔒🔒🔒🔒🔒🔒' })).status).toBe(201);
  });

  it('accepts a password of 72 bytes of UTF-8 and refuses one of 73, whatever its characters', async () => {
    expect((await signUp({ email: address(), password: 'a'.repeat(72) })).status).toBe(201);
    expect((await signUp({ email: address(), password: 'a'.repeat(73) })).status).toBe(400);
    expect((await signUp({ email: address(), password: 'ü'.repeat(36) })).status).toBe(201);
    expect((await signUp({ email: address(), password: 'ü'.repeat(36) + 'a' })).status).toBe(400);
  });

  it('refuses a password with NUL, where bcrypt would truncate it', async () => {
    expect((await signUp({ email: address(), password: 'secret\0tail' })).status).toBe(400);
  });

  it('answers 400 for a taken address, ignoring case', async () => {
    const email = address();
    expect((await signUp({ email, password: 'secret' })).status).toBe(201);
    for (const taken of [email, email.toUpperCase(), ` ${email} `]) {
      const answer = await signUp({ email: taken, password: 'secret' });
      expect([answer.status, answer.body.status_code]).toEqual([400, 400]);
    }
  });

  it('accepts exactly one of several parallel sign-ups with one address', async () => {
    const email = address();
    const answers = await Promise.all(Array.from({ length: 8 }, () => signUp({ email, password: 'secret' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(400)]);
  });

  it('accepts Unicode domains, in Unicode and in Punycode', async () => {
    const local = `ada-${randomUUID()}`;
    expect((await signUp({ email: `${local}@bücher.example`, password: 'secret' })).status).toBe(201);
    expect((await signIn({ email: `${local}@BÜCHER.example`, password: 'secret' })).status).toBe(200);
    expect((await signIn({ email: `${local}@xn--bcher-kva.example`, password: 'secret' })).status).toBe(200);
  });

  it('reads only email, password and name from the body', async () => {
    const id = randomUUID();
    const { body } = await guest.unchecked().post(`${project.auth}/signup`, {
      email: address(),
      password: 'secret',
      id,
      role: 'service_role',
      banned_until: null,
      email_verified_at: '2020-01-01',
      data: { admin: true },
    });
    expect(body.user.id).not.toBe(id);
    expect(body.user).not.toHaveProperty('data');
    expect(decode(body.session.access_token)).toMatchObject({ role: 'authenticated' });
    const { user } = (await project.service.get(`${project.auth}/admin/users/${body.user.id}`)).body;
    expect(user).toMatchObject({ email_verified_at: null, banned_until: null, data: {} });
  });

  it('needs the apikey: 401 without one, with a wrong one, and with the key of another project', async () => {
    const other = await plinth.createProject();
    const body = { email: address(), password: 'secret' };
    for (const key of [null, 'nonsense', other.anonKey]) {
      const answer = await project.client(key, null).post(`${project.auth}/signup`, body);
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({ detail: expect.any(String), status_code: 401 });
    }
  });

  it('answers 401 for an unknown project id, as for a wrong key', async () => {
    const answer = await guest.post('/v1/auth/nosuchproject/signup', {
      email: address(),
      password: 'secret',
    });
    expect([answer.status, answer.body.status_code]).toEqual([401, 401]);
  });
});

describe('the access token', () => {
  it('is signed with ES256 under a named key and carries the claims of the session', async () => {
    const email = address();
    const { user, session } = (await signUp({ email, password: 'secret' })).body;
    const { header, payload } = decode(session.access_token, { complete: true }) as unknown as {
      header: Record<string, unknown>;
      payload: Record<string, unknown>;
    };
    expect(header).toMatchObject({ alg: 'ES256', kid: expect.any(String) });
    expect(payload).toMatchObject({
      sub: user.id,
      role: 'authenticated',
      email,
      session_id: expect.stringMatching(UUID),
      aal: 'aal1',
      iss: `http://plinth.test/p/${project.slug}/auth/v1`,
      aud: 'authenticated',
    });
    const keySet = await project.client(null, null).get(`/p/${project.slug}/auth/v1/.well-known/jwks.json`);
    const key = keySet.body.keys.find(({ kid }) => kid === header.kid)!;
    verify(session.access_token, createPublicKey({ key, format: 'jwk' }), { algorithms: ['ES256'] });
  });

  it('is valid for an hour, and expires_at is its end in Unix seconds', async () => {
    const { session } = (await signUp({ email: address(), password: 'secret' })).body;
    const claims = decode(session.access_token) as { iat: number; exp: number };
    expect(claims.exp - claims.iat).toBe(3_600);
    expect(session.expires_at).toBe(claims.exp);
    expect(Math.abs(session.expires_at - Date.now() / 1000 - 3_600)).toBeLessThan(60);
  });

  it('is valid for the time that the project configures', async () => {
    const short = await plinth.createProject({ settings: { access_token_lifetime: 90 } });
    const { session } = await short.signUp();
    const claims = decode(session.access_token) as { iat: number; exp: number };
    expect(claims.exp - claims.iat).toBe(90);
  });

  it("carries claims that a project's function adds, but the function cannot change Plinth's own", async () => {
    const own = await plinth.createProject();
    await own.sql(`create or replace function auth.custom_claims(user_id uuid) returns jsonb language sql stable
      as $$ select '{"team": "blue", "role": "service_role", "exp": 1, "project_id": "x"}'::jsonb $$`);
    const { accessToken } = await own.signUp();
    expect(decode(accessToken)).toMatchObject({ team: 'blue', role: 'authenticated' });
    expect(decode(accessToken)).not.toHaveProperty('project_id');
  });
});

describe('POST /login', () => {
  it('answers 200 with user and session as sign-up does', async () => {
    const { email, password, id } = await project.signUp();
    const { status, body } = await signIn({ email, password });
    expect(status).toBe(200);
    expect(body.user).toEqual({ id, email, name: email.split('@')[0] });
    expect(Object.keys(body.session).sort()).toEqual(['access_token', 'expires_at', 'refresh_token']);
    expect(body.session.expires_at).toEqual(expect.any(Number));
  });

  it('compares emails case-insensitively', async () => {
    const { email, password } = await project.signUp();
    expect((await signIn({ email: email.toUpperCase(), password })).status).toBe(200);
  });

  it('answers the same 401 for an unknown email and a wrong password', async () => {
    const { email } = await project.signUp();
    const wrong = await signIn({ email, password: 'not this one' });
    const unknown = await signIn({ email: address(), password: 'not this one' });
    const noAddress = await signIn({ email: 'nobody', password: 'not this one' });
    expect([wrong.status, unknown.status, noAddress.status]).toEqual([401, 401, 401]);
    expect(unknown.text).toBe(wrong.text);
    expect(noAddress.text).toBe(wrong.text);
    expect(wrong.body).toEqual({ detail: expect.any(String), status_code: 401 });
  });

  it.each([
    ['no email', { password: 'secret' }],
    ['no password', { email: 'ada@example.com' }],
    ['an empty password', { email: 'ada@example.com', password: '' }],
    ['a password that is an object', { email: 'ada@example.com', password: { $gt: '' } }],
    ['a password longer than bcrypt reads', { email: 'ada@example.com', password: 'a'.repeat(73) }],
  ])('answers 400 for %s', async (_what, body) => {
    const answer = await signIn(body);
    expect([answer.status, answer.body.status_code]).toEqual([400, 400]);
  });

  it('compares the whole password, case-sensitively', async () => {
    const { email } = await project.signUp(undefined, 'Correct Horse ');
    for (const password of ['correct horse ', 'Correct Horse', 'Correct Horse  ']) {
      expect((await signIn({ email, password })).status).toBe(401);
    }
  });

  it('refuses users of another project', async () => {
    const other = await plinth.createProject();
    const { email, password } = await other.signUp();
    expect((await signIn({ email, password })).status).toBe(401);
  });
});

describe('GET /user', () => {
  it('answers 200 with user {id, email, name}', async () => {
    const user = await project.signUp();
    const answer = await user.http.get(`${project.auth}/user`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ user: { id: user.id, email: user.email, name: user.email.split('@')[0] } });
  });

  it('answers 401 without a bearer token and without an apikey', async () => {
    const { accessToken } = await project.signUp();
    for (const client of [project.client(project.anonKey, null), project.client(null, accessToken)]) {
      const answer = await client.get(`${project.auth}/user`);
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({ detail: expect.any(String), status_code: 401 });
    }
  });

  it('answers 401 for an API key as bearer, because it has no user', async () => {
    expect((await project.anon.get(`${project.auth}/user`)).status).toBe(401);
    expect((await project.service.get(`${project.auth}/user`)).status).toBe(401);
  });

  it('accepts a token that the project itself signed', async () => {
    const { id } = await project.signUp();
    const answer = await project.asSubject(id).get(`${project.auth}/user`);
    expect([answer.status, answer.body.user.id]).toEqual([200, id]);
    expect((await project.asSubject(randomUUID()).get(`${project.auth}/user`)).status).toBe(401);
  });
});

describe('POST /logout', () => {
  it('answers 200 with a message and invalidates the session', async () => {
    const user = await project.signUp();
    const answer = await user.http.post(`${project.auth}/logout`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ message: expect.any(String) });
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(401);
  });

  it('takes effect in the very next request on auth, table REST and storage', async () => {
    await project.sql(`create table if not exists notes (id int); drop policy if exists all_notes on notes;
      create policy all_notes on notes using (true)`);
    const user = await project.signUp();
    const requests = [`${project.auth}/user`, '/rest/v1/notes', `${project.storage}/buckets`];
    for (const path of requests) expect([path, (await user.http.get(path)).status]).toEqual([path, 200]);
    await user.http.post(`${project.auth}/logout`);
    for (const path of requests) expect([path, (await user.http.get(path)).status]).toEqual([path, 401]);
  });

  it('answers 401 the second time, and without a valid bearer token', async () => {
    const user = await project.signUp();
    await user.http.post(`${project.auth}/logout`);
    for (const client of [user.http, project.anon, guest, project.client(project.anonKey, 'nonsense')]) {
      const answer = await client.post(`${project.auth}/logout`);
      expect([answer.status, answer.body.status_code]).toEqual([401, 401]);
    }
  });

  it('ends the current session, all others, or all, depending on scope', async () => {
    const user = await project.signUp();
    const again = async () => {
      const { session } = (await signIn({ email: user.email, password: user.password })).body;
      return project.client(project.anonKey, session.access_token);
    };
    const status = async (client: HttpClient) => (await client.get(`${project.auth}/user`)).status;
    const [second, third] = [await again(), await again()];
    await second.post(`${project.auth}/logout`, { scope: 'local' });
    expect([await status(user.http), await status(second), await status(third)]).toEqual([200, 401, 200]);
    await third.post(`${project.auth}/logout`, { scope: 'others' });
    expect([await status(user.http), await status(third)]).toEqual([401, 200]);
    const fourth = await again();
    await fourth.post(`${project.auth}/logout`, { scope: 'global' });
    expect([await status(third), await status(fourth)]).toEqual([401, 401]);
    expect((await (await again()).post(`${project.auth}/logout`, { scope: 'galaxy' })).status).toBe(400);
  });

  it('does not affect other users', async () => {
    const [one, two] = [await project.signUp(), await project.signUp()];
    await one.http.post(`${project.auth}/logout`, { scope: 'global' });
    expect((await two.http.get(`${project.auth}/user`)).status).toBe(200);
  });
});

describe('project settings', () => {
  it('disable sign-up: 403', async () => {
    const closed = await plinth.createProject({ settings: { signup_enabled: false } });
    const answer = await closed
      .client(closed.anonKey, null)
      .post(`${closed.auth}/signup`, { email: address(), password: 'secret' });
    expect([answer.status, answer.body.status_code]).toEqual([403, 403]);
  });

  it('raise the minimum password length', async () => {
    const strict = await plinth.createProject({ settings: { password_min_length: 12 } });
    await expect(strict.signUp(address(), 'a'.repeat(11))).rejects.toThrow(/400/);
    await strict.signUp(address(), 'a'.repeat(12));
  });

  it('can refuse common passwords, ignoring case', async () => {
    const strict = await plinth.createProject({ settings: { refuse_common_passwords: true } });
    for (const password of ['123456', 'Password1', 'QWERTYUIOP']) {
      await expect(strict.signUp(address(), password)).rejects.toThrow(/400/);
    }
    await strict.signUp(address(), 'password of my own');
    await project.signUp(address(), '123456');
  });

  it('can restrict e-mail domains: others get 400', async () => {
    const staff = await plinth.createProject({
      settings: { allowed_email_domains: ['Acme.example', 'bücher.example'] },
    });
    await staff.signUp('ada@acme.EXAMPLE');
    await staff.signUp('ada@xn--bcher-kva.example');
    for (const email of ['eve@evil.example', 'eve@sub.acme.example', 'eve@acme.example.evil.example']) {
      await expect(staff.signUp(email)).rejects.toThrow(/400/);
    }
  });
});

describe('errors', () => {
  it('answers with detail and status_code for unknown paths under /v1/auth too', async () => {
    const answer = await guest.get(`${project.auth}/nothing-here`);
    expect(answer.body).toEqual({ detail: expect.any(String), status_code: 404 });
  });
});
