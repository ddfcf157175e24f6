/** Passkeys of users (GoTrue's paths), with an authenticator in software, and attacks on them. */
import { randomUUID } from 'node:crypto';
import { decode } from 'jsonwebtoken';
import { gotrue, guestOf } from '../../../support/gotrue';
import type { HttpAnswer, HttpClient } from '../../../support/http-client';
import { TestPlinth } from '../../../support/plinth';
import { extensionsOf, SoftwarePasskey } from '../../../support/software-passkey';
import type { TestProject } from '../../../support/test-project';

const APP = 'https://app.example.com';
const OTHER = 'https://shop.example.net';
const SETTINGS = {
  site_url: `${APP}/start`,
  passkeys_enabled: true,
  webauthn_rp_id: 'example.com',
  webauthn_origins: ['https://example.com', OTHER],
};

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { AUTH_REQUESTS_PER_MINUTE: '10000' } });
  project = await plinth.createProject({ settings: SETTINGS });
});
afterAll(() => plinth.stop());
beforeEach(() => plinth.clock.move(120));

const at = (client: HttpClient, site = APP): HttpClient => client.with({ origin: site });
const passkeys = (of = project): string => `${gotrue(of)}/passkeys`;

interface Enrolled {
  readonly passkey: SoftwarePasskey;
  readonly http: HttpClient;
  readonly userId: string;
  readonly id: string;
}

async function enrol(site = APP, rpId = 'example.com'): Promise<Enrolled> {
  const { http, id: userId } = await project.signUp();
  const { body } = await at(http, site).post(`${passkeys()}/registration/options`, {});
  expect(body.options).toMatchObject({ rp: { id: rpId, name: expect.any(String) } });
  const passkey = new SoftwarePasskey(rpId);
  const credential = passkey.register({ challenge: body.options.challenge, origin: site });
  const made = await http.post(`${passkeys()}/registration/verify`, {
    challenge_id: body.challenge_id,
    credential,
  });
  expect([made.status, made.body]).toEqual([200, expect.objectContaining({ friendly_name: 'Passkey' })]);
  return { passkey, http, userId, id: made.body.id };
}

interface Challenge {
  readonly challenge_id: string;
  readonly options: { readonly challenge: string; readonly rpId: string };
}

async function begin(site = APP, of = project): Promise<Challenge> {
  const answer = await at(guestOf(of), site).post(`${passkeys(of)}/authentication/options`, {});
  expect(answer.status).toBe(200);
  return answer.body;
}

const verify = (challenge: Challenge, credential: object, of = project): Promise<HttpAnswer> =>
  guestOf(of).post(`${passkeys(of)}/authentication/verify`, {
    challenge_id: challenge.challenge_id,
    credential,
  });

async function signIn(passkey: SoftwarePasskey, site = APP, more: object = {}): Promise<HttpAnswer> {
  const challenge = await begin(site);
  return verify(
    challenge,
    passkey.authenticate({ challenge: challenge.options.challenge, origin: site, ...more }),
  );
}

it.each([
  [APP, 'example.com'],
  ['https://example.com', 'example.com'],
  [OTHER, 'shop.example.net'],
])('enrols and signs in at %s, with the id %s', async (site, rpId) => {
  const { passkey, userId } = await enrol(site, rpId);
  const answer = await signIn(passkey, site);
  expect([answer.status, answer.body.user.id]).toEqual([200, userId]);
  expect(decode(answer.body.access_token)).toMatchObject({
    aal: 'aal1',
    amr: [{ method: 'passkey' }],
    sub: userId,
  });
});

it('signs in with only a phone where addresses must be verified, but not with an address that is not', async () => {
  const { passkey, userId } = await enrol();
  const required = (is: boolean): Promise<HttpAnswer> =>
    plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { email_verification_required: is } });
  await required(true);
  try {
    expect((await signIn(passkey)).body.error_code).toBe('email_not_confirmed');
    await project.sql(`update auth.users set email = '', email_key = null, phone = '4917012345678',
      phone_verified_at = now() where id = '${userId}'`);
    expect((await signIn(passkey)).status).toBe(200);
  } finally {
    await required(false);
  }
});

it('does not list passkeys in its options', async () => {
  await enrol();
  const challenges = [await begin(APP), await begin(APP)];
  for (const { options } of challenges) expect(options).not.toHaveProperty('allowCredentials.0');
  expect(Object.keys(challenges[0]?.options ?? {})).toEqual(Object.keys(challenges[1]?.options ?? {}));
});

it('works at other origins of its relying party ID, but not at origins of another ID', async () => {
  const { passkey } = await enrol();
  expect((await signIn(passkey, 'https://example.com')).status).toBe(200);
  expect((await signIn(passkey, OTHER)).status).toBe(401);
});

it('lists, renames and removes passkeys, also as an administrator', async () => {
  const { http, id, userId, passkey } = await enrol();
  await signIn(passkey);
  const renamed = await http.patch(`${passkeys()}/${id}`, { friendly_name: 'Phone' });
  expect(renamed.body).toMatchObject({ id, friendly_name: 'Phone', last_used_at: expect.any(String) });
  expect((await http.get(passkeys())).body).toEqual([renamed.body]);
  const stranger = (await project.signUp()).http;
  expect((await stranger.patch(`${passkeys()}/${id}`, { friendly_name: 'Mine' })).status).toBe(404);
  expect((await stranger.delete(`${passkeys()}/${id}`)).status).toBe(404);
  const admin = `${gotrue(project)}/admin/users/${userId}/passkeys`;
  expect((await project.service.get(admin)).body).toEqual([renamed.body]);
  expect((await guestOf(project).get(admin)).status).toBe(401);
  expect((await project.service.delete(`${admin}/${id}`)).status).toBe(200);
  expect((await signIn(passkey)).status).toBe(401);
  const second = await enrol();
  expect((await second.http.delete(`${passkeys()}/${second.id}`)).status).toBe(200);
  expect((await second.http.delete(`${passkeys()}/${second.id}`)).status).toBe(404);
});

describe('refuses a sign-in', () => {
  it('with a challenge that was used, is too old, of an enrolment, of another project, or made up', async () => {
    const { passkey, http } = await enrol();
    const used = await begin();
    const answer = passkey.authenticate({ challenge: used.options.challenge, origin: APP });
    expect((await verify(used, answer)).status).toBe(200);
    const gone = [400, 'webauthn_challenge_not_found'];
    const refusalOf = ({ status, body }: HttpAnswer): unknown[] => [status, body.error_code];
    expect(refusalOf(await verify(used, answer))).toEqual(gone);
    const again = passkey.authenticate({ challenge: used.options.challenge, origin: APP });
    expect(refusalOf(await verify(used, again))).toEqual(gone);
    const old = await begin();
    plinth.clock.move(301);
    const late = passkey.authenticate({ challenge: old.options.challenge, origin: APP });
    expect(refusalOf(await verify(old, late))).toEqual(gone);
    const enrolment = (await at(http).post(`${passkeys()}/registration/options`, {})).body as Challenge;
    const of = passkey.authenticate({ challenge: enrolment.options.challenge, origin: APP });
    expect(refusalOf(await verify(enrolment, of))).toEqual(gone);
    const other = await plinth.createProject({ settings: SETTINGS });
    const foreign = await begin(APP, other);
    const there = passkey.authenticate({ challenge: foreign.options.challenge, origin: APP });
    expect(refusalOf(await verify(foreign, there))).toEqual(gone);
    expect((await verify(foreign, there, other)).status).toBe(401);
    const unknown = '00000000-0000-0000-0000-000000000000';
    for (const challenge_id of [unknown, 'x', 'A'.repeat(200), '%', 'x'.repeat(5_000)])
      expect((await verify({ ...old, challenge_id }, there)).status).toBe(400);
  });

  it('that is sent twice concurrently: one succeeds', async () => {
    const { passkey } = await enrol();
    const challenge = await begin();
    const answer = passkey.authenticate({ challenge: challenge.options.challenge, origin: APP });
    const statuses = await Promise.all(Array.from({ length: 5 }, () => verify(challenge, answer)));
    expect(statuses.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it.each([
    ['of a stranger', () => new SoftwarePasskey('example.com'), {}],
    ['at another origin', null, { origin: 'https://evil.example' }],
    ['at the origin of another id', null, { origin: OTHER }],
    ['that did not verify its user', null, { isUserVerified: false }],
    ['whose counter went back', null, { counter: 1 }],
  ])('with a passkey %s', async (_what, make, more) => {
    const { passkey } = await enrol();
    await signIn(passkey);
    await signIn(passkey);
    expect((await signIn(make?.() ?? passkey, APP, more)).status).toBe(401);
  });

  it('with credentials of wrong forms', async () => {
    for (const credential of [{}, { id: 5 }, { id: 'x'.repeat(2_000) }, { id: 'x', response: [] }])
      expect((await verify(await begin(), credential)).status).toBe(401);
    for (const credential of [[], 'x', 5, null, { id: '\0' }])
      expect((await verify(await begin(), credential as never)).status).toBe(400);
  });

  it('with long outputs of extensions, whose CBOR would block the event loop for several seconds', async () => {
    const { passkey } = await enrol();
    expect((await signIn(passkey, APP, { extensions: extensionsOf(100) })).status).toBe(200);
    expect((await signIn(passkey, APP, { extensions: extensionsOf(7_000) })).status).toBe(401);
    const { http } = await project.signUp();
    const made = async (zeros: number): Promise<number> => {
      const { body } = await at(http).post(`${passkeys()}/registration/options`, {});
      const { challenge } = body.options;
      const own = new SoftwarePasskey('example.com');
      const credential = own.register({ challenge, origin: APP, extensions: extensionsOf(zeros) });
      const given = { challenge_id: body.challenge_id, credential };
      return (await http.post(`${passkeys()}/registration/verify`, given)).status;
    };
    expect([await made(100), await made(7_000)]).toEqual([200, 401]);
  });

  it('of a banned user', async () => {
    const { passkey, userId } = await enrol();
    await project.service.put(`${gotrue(project)}/admin/users/${userId}`, { ban_duration: '24h' });
    expect((await signIn(passkey)).body.error_code).toBe('user_banned');
  });
});

describe('an enrolment', () => {
  it('belongs to its session, works once, and refuses a credential that exists', async () => {
    const [one, two] = [await project.signUp(), await project.signUp()];
    const { body } = await at(one.http).post(`${passkeys()}/registration/options`, {});
    const passkey = new SoftwarePasskey('example.com');
    const credential = passkey.register({ challenge: body.options.challenge, origin: APP });
    const given = { challenge_id: body.challenge_id, credential };
    expect((await two.http.post(`${passkeys()}/registration/verify`, given)).status).toBe(400);
    expect((await one.http.post(`${passkeys()}/registration/verify`, given)).status).toBe(200);
    expect((await one.http.post(`${passkeys()}/registration/verify`, given)).status).toBe(400);
    const next = (await at(two.http).post(`${passkeys()}/registration/options`, {})).body as Challenge;
    const stolen = passkey.register({ challenge: next.options.challenge, origin: APP });
    const again = { challenge_id: next.challenge_id, credential: stolen };
    expect((await two.http.post(`${passkeys()}/registration/verify`, again)).status).toBe(401);
  });

  it('does not outlive the proof of the address by its owner', async () => {
    const email = `user-${randomUUID()}@example.org`;
    const guest = guestOf(project);
    const up = await guest.post(`${gotrue(project)}/signup`, { email, password: 'of a stranger' });
    const http = project.client(project.anonKey, up.body.access_token);
    const { body } = await at(http).post(`${passkeys()}/registration/options`, {});
    const passkey = new SoftwarePasskey('example.com');
    const credential = passkey.register({ challenge: body.options.challenge, origin: APP });
    await http.post(`${passkeys()}/registration/verify`, { challenge_id: body.challenge_id, credential });
    const link = await project.service.post(`${gotrue(project)}/admin/generate_link`, {
      type: 'magiclink',
      email,
    });
    const proved = await guest.post(`${gotrue(project)}/verify`, {
      type: 'magiclink',
      email,
      token: link.body.email_otp,
    });
    expect(proved.status).toBe(200);
    expect((await signIn(passkey)).status).toBe(401);
  });

  it('is refused for anonymous users, and where passkeys are turned off', async () => {
    const plain = await plinth.createProject({ settings: { site_url: APP, anonymous_signin_enabled: true } });
    const off = await guestOf(plain).post(`${passkeys(plain)}/authentication/options`, {});
    expect([off.status, off.body.error_code]).toEqual([404, 'passkey_disabled']);
    await plinth.admin.patch(`/admin/v1/projects/${plain.id}`, { settings: { passkeys_enabled: true } });
    const up = await guestOf(plain).post(`${gotrue(plain)}/signup`, {});
    const http = plain.client(plain.anonKey, up.body.access_token);
    expect((await http.post(`${passkeys(plain)}/registration/options`, {})).status).toBe(403);
  });
});

describe('a security key as second factor', () => {
  const factors = (): string => `${gotrue(project)}/factors`;

  interface KeyChallenge {
    readonly id: string;
    readonly webauthn: {
      readonly type: string;
      readonly credential_options: { readonly publicKey: Challenge['options'] };
    };
  }

  async function challengeOf(http: HttpClient, id: string): Promise<KeyChallenge> {
    const wanted = { webauthn: { rpId: 'shop.example.net' } };
    const answer = await http.post(`${factors()}/${id}/challenge`, wanted);
    expect(answer.body).toMatchObject({ type: 'webauthn', expires_at: expect.any(Number) });
    return answer.body;
  }

  const verifyKey = (http: HttpClient, id: string, { id: challenge_id }: KeyChallenge, credential: object) =>
    http.post(`${factors()}/${id}/verify`, { challenge_id, webauthn: { credential_response: credential } });

  const answerOf = (key: SoftwarePasskey, challenge: KeyChallenge, more: object = {}): object =>
    key.authenticate({
      challenge: challenge.webauthn.credential_options.publicKey.challenge,
      origin: OTHER,
      isUserVerified: false,
      ...more,
    });

  async function again({ email, password }: { email: string; password: string }): Promise<HttpClient> {
    const path = `${gotrue(project)}/token?grant_type=password`;
    const { body } = await guestOf(project).post(path, { email, password });
    return project.client(project.anonKey, body.access_token);
  }

  async function enrolKey() {
    const user = await project.signUp();
    const made = await user.http.post(factors(), { factor_type: 'webauthn', friendly_name: 'Blue key' });
    expect(made.body).toEqual({ id: expect.any(String), type: 'webauthn', friendly_name: 'Blue key' });
    const { id } = made.body as { id: string };
    const challenge = await challengeOf(user.http, id);
    expect(challenge.webauthn.type).toBe('create');
    const key = new SoftwarePasskey('shop.example.net');
    const wanted = challenge.webauthn.credential_options.publicKey.challenge;
    const credential = key.register({ challenge: wanted, origin: OTHER });
    const stranger = (await project.signUp()).http;
    expect((await verifyKey(stranger, id, challenge, credential)).status).toBe(422);
    const answer = await verifyKey(user.http, id, challenge, credential);
    expect(answer.status).toBe(200);
    return { user, id, key, credential, challenge, token: answer.body.access_token as string };
  }

  it('raises the session, also later, and is listed and removed', async () => {
    const { user, id, key, token } = await enrolKey();
    expect(decode(token)).toMatchObject({ aal: 'aal2', amr: [{ method: 'mfa/webauthn' }, {}] });
    const http = await again(user);
    const challenge = await challengeOf(http, id);
    expect(challenge.webauthn.type).toBe('request');
    const answer = await verifyKey(http, id, challenge, answerOf(key, challenge));
    expect(decode(answer.body.access_token)).toMatchObject({ aal: 'aal2' });
    expect(answer.body.user.factors).toMatchObject([{ id, factor_type: 'webauthn', status: 'verified' }]);
    const strong = project.client(project.anonKey, answer.body.access_token);
    expect((await strong.get(`/v1/auth/${project.id}/factors`)).body.factors).toMatchObject([
      { id, kind: 'webauthn' },
    ]);
    expect((await strong.delete(`${factors()}/${id}`)).status).toBe(200);
  });

  it('refuses a response to another challenge', async () => {
    const { user, id, key, credential, challenge } = await enrolKey();
    const failed = 'webauthn_verification_failed';
    expect((await verifyKey(user.http, id, challenge, credential)).body.error_code).toBe(failed);
    const http = await again(user);
    const another = await challengeOf(http, id);
    const attempts: readonly ((of: KeyChallenge) => object)[] = [
      () => ({}),
      (of) => answerOf(new SoftwarePasskey('shop.example.net'), of),
      (of) => answerOf(key, of, { origin: APP }),
      () => answerOf(key, another),
      () => credential,
    ];
    for (const attempt of attempts) {
      plinth.clock.move(60);
      const of = await challengeOf(http, id);
      expect((await verifyKey(http, id, of, attempt(of))).body.error_code).toBe(failed);
    }
    plinth.clock.move(60);
    const used = await challengeOf(http, id);
    const code = await http.post(`${factors()}/${id}/verify`, { challenge_id: used.id, code: '123456' });
    expect([code.status, code.body.error_code]).toEqual([422, 'mfa_verification_failed']);
    plinth.clock.move(60);
    const fresh = await challengeOf(http, id);
    const statuses = await Promise.all(
      [answerOf(key, fresh), answerOf(key, fresh)].map((one) => verifyKey(http, id, fresh, one)),
    );
    expect(statuses.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('needs the setting', async () => {
    const plain = await plinth.createProject();
    const { http } = await plain.signUp();
    const answer = await http.post(`${gotrue(plain)}/factors`, { factor_type: 'webauthn' });
    expect(answer.body.error_code).toBe('passkey_disabled');
  });
});
