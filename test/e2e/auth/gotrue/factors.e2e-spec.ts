/** GoTrue's paths: second factors, and anonymous users. */
import { randomUUID } from 'node:crypto';
import { decode, type JwtPayload } from 'jsonwebtoken';
import { Secret, TOTP } from 'otpauth';
import { gotrue, guestOf } from '../../../support/gotrue';
import { HttpClient } from '../../../support/http-client';
import { eventually } from '../../../support/mail-server';
import { TestPlinth } from '../../../support/plinth';
import { TestProject } from '../../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;
let base: string;

beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { AUTH_REQUESTS_PER_MINUTE: '10000' } });
  project = await plinth.createProject({ settings: { anonymous_signin_enabled: true } });
  guest = guestOf(project);
  base = gotrue(project);
});
afterAll(() => plinth.stop());

const address = (): string => `user-${randomUUID()}@example.com`;
const claimsOf = (token: string): JwtPayload => decode(token) as JwtPayload;

describe('factors', () => {
  const codeOf = (secret: string): string =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: plinth.clock.now() });

  async function enrolled() {
    const user = await project.signUp();
    const { status, body } = await user.http.post(`${base}/factors`, {
      factor_type: 'totp',
      friendly_name: 'Phone',
    });
    expect(status).toBe(200);
    return { user, id: body.id as string, body, secret: body.totp.secret as string };
  }

  async function verified() {
    const { user, id, secret } = await enrolled();
    const challenge = await user.http.post(`${base}/factors/${id}/challenge`);
    const answer = await user.http.post(`${base}/factors/${id}/verify`, {
      challenge_id: challenge.body.id,
      code: codeOf(secret),
    });
    expect(answer.status).toBe(200);
    return { user, id, secret, answer, http: project.client(project.anonKey, answer.body.access_token) };
  }

  it('are enrolled with a secret, an address and a picture', async () => {
    const { body } = await enrolled();
    expect(body).toMatchObject({ type: 'totp', friendly_name: 'Phone' });
    expect(body.totp.uri).toMatch(/^otpauth:\/\/totp\//);
    expect(body.totp.qr_code).toMatch(/^<svg [^]*<\/svg>$/);
  });

  it('raise the session to aal2 with a challenge and a code', async () => {
    const { answer, http, id } = await verified();
    const claims = claimsOf(answer.body.access_token);
    expect(claims.aal).toBe('aal2');
    expect(claims.amr.map(({ method }: { method: string }) => method)).toEqual(['totp', 'password']);
    expect(answer.body.user.factors).toMatchObject([{ id, status: 'verified', factor_type: 'totp' }]);
    expect((await http.delete(`${base}/factors/${id}`)).body).toEqual({ id });
  });

  it('accept only a challenge of the same factor and session, for five minutes', async () => {
    const [one, two] = [await enrolled(), await enrolled()];
    const challenge = async ({ user, id }: typeof one) =>
      (await user.http.post(`${base}/factors/${id}/challenge`)).body.id as string;
    const verify = async (with_: string) =>
      (
        await one.user.http.post(`${base}/factors/${one.id}/verify`, {
          challenge_id: with_,
          code: codeOf(one.secret),
        })
      ).body.error_code as string;
    expect(await verify(await challenge(two))).toBe('mfa_challenge_expired');
    expect(await verify(randomUUID())).toBe('mfa_challenge_expired');
    const own = await challenge(one);
    plinth.clock.move(301);
    expect(await verify(own)).toBe('mfa_challenge_expired');
    plinth.clock.move(-301);
  });

  it('refuse a wrong code and an unknown factor', async () => {
    const { user, id } = await enrolled();
    const challenge = await user.http.post(`${base}/factors/${id}/challenge`);
    const body = { challenge_id: challenge.body.id, code: 'abcdef' };
    const wrong = await user.http.post(`${base}/factors/${id}/verify`, body);
    expect([wrong.status, wrong.body.error_code]).toEqual([422, 'mfa_verification_failed']);
    const unknown = await user.http.post(`${base}/factors/${randomUUID()}/challenge`);
    expect([unknown.status, unknown.body.error_code]).toEqual([404, 'mfa_factor_not_found']);
  });

  it('protect address, password and further factors from a session of one factor', async () => {
    const { user } = await verified();
    const login = await guest.post(`${base}/token?grant_type=password`, {
      email: user.email,
      password: user.password,
    });
    const weak = project.client(project.anonKey, login.body.access_token);
    for (const answer of [
      await weak.put(`${base}/user`, { password: 'another horse' }),
      await weak.put(`${base}/user`, { email: address() }),
      await weak.post(`${base}/factors`, { factor_type: 'totp' }),
    ])
      expect(answer.body.error_code).toBe('insufficient_aal');
  });

  it('of the type phone are refused', async () => {
    const { http } = await project.signUp();
    const answer = await http.post(`${base}/factors`, { factor_type: 'phone' });
    expect([answer.status, answer.body.error_code]).toEqual([400, 'validation_failed']);
  });

  it('are listed and removed by an administrator', async () => {
    const { user, id } = await verified();
    const path = `${base}/admin/users/${user.id}/factors`;
    expect((await project.service.get(path)).body).toMatchObject([{ id, status: 'verified' }]);
    expect((await project.service.delete(`${path}/${id}`)).body).toEqual({ id });
    expect((await project.service.get(path)).body).toEqual([]);
    const unknown = await project.service.get(`${base}/admin/users/${randomUUID()}/factors`);
    expect([unknown.status, unknown.body.error_code]).toEqual([404, 'user_not_found']);
  });
});

describe('anonymous users', () => {
  async function anonymous(data?: object) {
    const { status, body } = await guest.post(`${base}/signup`, { data });
    expect(status).toBe(200);
    return { body, id: body.user.id as string, http: project.client(project.anonKey, body.access_token) };
  }

  it('have a session, no address and no identity', async () => {
    const { body, http } = await anonymous({ cart: 3 });
    expect(body.user).toMatchObject({
      email: '',
      is_anonymous: true,
      identities: [],
      app_metadata: {},
      user_metadata: { cart: 3 },
    });
    const claims = claimsOf(body.access_token);
    expect(claims).toMatchObject({ role: 'authenticated', is_anonymous: true, email: '' });
    expect(claims.amr).toMatchObject([{ method: 'anonymous' }]);
    expect((await http.get(`${project.auth}/user`)).body.user).toMatchObject({ id: body.user.id, email: '' });
  });

  it('are distinct users, and a policy can recognize them', async () => {
    const users = [await anonymous(), await anonymous()];
    expect(users[0]?.id).not.toBe(users[1]?.id);
    await project.sql(`create table drafts (id int primary key, owner uuid default auth.uid());
      create policy own on drafts using (owner = auth.uid()) with check ((auth.jwt() ->> 'is_anonymous')::boolean)`);
    const path = `/p/${project.slug}/rest/v1/drafts`;
    expect((await users[0]?.http.post(path, { id: 1 }))?.status).toBe(201);
    expect((await users[1]?.http.get(path))?.body).toEqual([]);
    const { http } = await project.signUp();
    expect((await http.post(path, { id: 2 })).status).toBe(403);
  });

  it('keep their id when they add an address and a password', async () => {
    const { id, http } = await anonymous();
    const email = address();
    const refused = await http.put(`${base}/user`, { password: 'correct horse' });
    expect([refused.status, refused.body.error_code]).toEqual([422, 'validation_failed']);
    const changed = await http.put(`${base}/user`, { email, password: 'correct horse' });
    expect(changed.body).toMatchObject({ id, email, is_anonymous: false });
    const login = await guest.post(`${base}/token?grant_type=password`, { email, password: 'correct horse' });
    expect(login.body.user.id).toBe(id);
    expect(claimsOf(login.body.access_token).is_anonymous).toBe(false);
  });

  it('cannot take the address of another account', async () => {
    const { http } = await anonymous();
    const { email } = await project.signUp();
    const answer = await http.put(`${base}/user`, { email });
    expect([answer.status, answer.body.error_code]).toEqual([422, 'email_exists']);
  });

  it('must confirm the mail if addresses must be verified', async () => {
    const strict = await plinth.createProject({
      settings: { anonymous_signin_enabled: true, email_verification_required: true },
    });
    const begun = await guestOf(strict).post(`${gotrue(strict)}/signup`, {});
    const http = strict.client(strict.anonKey, begun.body.access_token);
    const email = address();
    const changed = await http.put(`${gotrue(strict)}/user`, { email });
    expect(changed.body).toMatchObject({ email: '', new_email: email, is_anonymous: true });
  });

  it('cannot use factors or reauthentication', async () => {
    const { http } = await anonymous();
    expect((await http.post(`${base}/factors`, { factor_type: 'totp' })).status).toBe(403);
    expect((await http.get(`${base}/reauthenticate`)).status).toBe(422);
  });

  it('are off by default', async () => {
    const other = await plinth.createProject();
    const answer = await guestOf(other).post(`${gotrue(other)}/signup`, {});
    expect([answer.status, answer.body.error_code]).toEqual([422, 'anonymous_provider_disabled']);
  });

  it('are deleted after the time that the project sets', async () => {
    const brief = await plinth.createProject({
      settings: { anonymous_signin_enabled: true, anonymous_user_lifetime: 1 },
    });
    const path = gotrue(brief);
    const client = guestOf(brief);
    await client.post(`${path}/signup`, {});
    const email = address();
    await client.post(`${path}/signup`, { email, password: 'correct horse' });
    await brief.sql(`update auth.users set created_at = created_at - interval '2 days'`);
    // A sign-in starts the sweep.
    await client.post(`${path}/token?grant_type=password`, { email, password: 'correct horse' });
    const left = await eventually(async () => {
      const rows = await brief.sql('select email from auth.users');
      return rows.length === 1 ? rows : null;
    });
    expect(left).toEqual([{ email }]);
  });
});
