/** Single sign-on of staff, with a real issuer, and attacks on it. */
import { TOTP } from 'otpauth';
import type { HttpAnswer } from '../../support/http-client';
import { OidcIssuer } from '../../support/oidc-issuer';
import { TestPlinth } from '../../support/plinth';
import { newPerson, personOf, proveAddress, signIn, STAFF_PASSWORD, TestPerson } from '../../support/staff';
import { TestProject } from '../../support/test-project';

const PUBLIC_URL = 'http://plinth.test';
const CONSOLE = `${PUBLIC_URL}/console/`;
const CALLBACK = `${PUBLIC_URL}/admin/v1/session/oidc/callback`;
const ROLES = {
  owners: { role: 'owner' },
  platform: { role: 'operator' },
  audit: { role: 'auditor' },
  shop: { projects: { shop: 'developer', unknown: 'admin' } },
  'shop admins': { projects: { shop: 'admin' } },
};

let issuer: OidcIssuer;
let plinth: TestPlinth;
let project: TestProject;
let owner: TestPerson;

beforeAll(async () => {
  issuer = await OidcIssuer.start(CALLBACK);
  plinth = await TestPlinth.start({ env: issuer.environment(ROLES) });
  project = await plinth.createProject({ name: 'shop' });
  owner = await newPerson(plinth, 'owner');
}, 60_000);
afterAll(async () => {
  await plinth.stop();
  await issuer.stop();
});

let subjects = 0;
const subject = (): string => `subject-${++subjects}`;

/** Claims with an address that the issuer has verified. */
const claimsOf = (sub: string, groups: readonly string[], more: object = {}) => ({
  sub,
  email: `${sub}@example.com`,
  email_verified: true,
  name: `Name of ${sub}`,
  groups,
  ...more,
});

const flowOf = ({ headers }: HttpAnswer): string =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith('plinth_staff_flow='))!
    .split(';')[0]!;

/** Signs in at the issuer. @returns the callback to Plinth */
async function reachCallback(): Promise<{ flow: string; callback: URL }> {
  const begun = await plinth.http.get('/admin/v1/session/oidc');
  expect(begun.status).toBe(303);
  return { flow: flowOf(begun), callback: await issuer.signIn(begun.headers.get('location')!) };
}

const comeBack = ({ flow, callback }: { flow: string; callback: URL }): Promise<HttpAnswer> =>
  plinth.http.with({ cookie: flow }).get(callback.pathname + callback.search);

async function enter(...[person, forged]: Parameters<OidcIssuer['setPerson']>): Promise<HttpAnswer> {
  await issuer.setPerson(person, forged);
  return comeBack(await reachCallback());
}

const sessionCookieOf = ({ headers }: HttpAnswer): string | undefined =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith('plinth_staff='))
    ?.split(';')[0];

const sessionOf = async (answer: HttpAnswer): Promise<HttpAnswer> =>
  plinth.http.with({ cookie: sessionCookieOf(answer) ?? '' }).get('/admin/v1/session');

/** Asserts that a sign-in was refused without a session. */
function expectRefused(answer: HttpAnswer, code: string): void {
  expect(answer.headers.get('location')).toBe(`${CONSOLE}#sign_in_error=${code}`);
  expect(sessionCookieOf(answer)).toBeUndefined();
}

/** Roles of the session that a sign-in begins. */
async function rolesAfter(answer: HttpAnswer): Promise<[string | null, string[]]> {
  expect(answer.headers.get('location')).toBe(CONSOLE);
  const { person, projects } = (await sessionOf(answer)).body as {
    person: { role: string | null };
    projects: { slug: string; role: string }[];
  };
  return [person.role, projects.map(({ slug, role }) => `${slug}:${role}`)];
}

describe('single sign-on', () => {
  it('creates an account with the roles of the groups, in a session like that of a password', async () => {
    expect((await plinth.http.get('/admin/v1/session/methods')).body.oidc_issuer).toBe(
      new URL(issuer.url).host,
    );
    const sub = subject();
    const answer = await enter(claimsOf(sub, ['platform', 'shop', 'shop admins', 'constructor']));
    expect(await rolesAfter(answer)).toEqual(['operator', [`${project.slug}:admin`]]);
    expect(answer.headers.getSetCookie().join('\n')).toMatch(
      /^plinth_staff=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/m,
    );
    const { body } = await sessionOf(answer);
    expect(body.person).toMatchObject({ email: `${sub}@example.com`, name: `Name of ${sub}` });
    const log = await owner.http.get('/admin/v1/audit-log?limit=50');
    const actions = (log.body as { action: string; actor: string }[])
      .filter(({ actor }) => actor.startsWith(`${sub}@`))
      .map(({ action }) => action);
    expect(actions).toEqual(['person.sign_in', 'person.oidc_roles', 'person.oidc_create']);
    // The account has no password.
    expect((await signIn(plinth, `${sub}@example.com`)).status).toBe(401);
  });

  it('uses PKCE, state and nonce, with a Lax cookie that the callback removes', async () => {
    const begun = await plinth.http.get('/admin/v1/session/oidc');
    const { searchParams } = new URL(begun.headers.get('location')!);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
    expect(begun.headers.getSetCookie().join()).toMatch(
      /^plinth_staff_flow=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const answer = await enter(claimsOf(subject(), ['audit']));
    expect(answer.headers.getSetCookie()).toContainEqual(
      expect.stringMatching(/^plinth_staff_flow=; Max-Age=0;/),
    );
  });

  it('removes roles with the groups, and keeps roles that a staff member granted', async () => {
    const sub = subject();
    await rolesAfter(await enter(claimsOf(sub, ['platform', 'shop'])));
    expect(await rolesAfter(await enter(claimsOf(sub, ['audit', 'shop'])))).toEqual([
      'auditor',
      [`${project.slug}:developer`],
    ]);
    expect(await rolesAfter(await enter(claimsOf(sub, ['shop'])))).toEqual([
      null,
      [`${project.slug}:developer`],
    ]);
    const last = await enter(claimsOf(sub, ['shop']));
    expectRefused(await enter(claimsOf(sub, [])), 'oidc_no_role');
    // The sessions that the groups allowed end too.
    expect((await sessionOf(last)).status).toBe(401);
    await owner.http.put(`/admin/v1/projects/${project.id}/people/${sub}@example.com`, { role: 'viewer' });
    expect(await rolesAfter(await enter(claimsOf(sub, [])))).toEqual([null, [`${project.slug}:viewer`]]);
    expect(await rolesAfter(await enter(claimsOf(sub, ['shop admins'])))).toEqual([
      null,
      [`${project.slug}:viewer`],
    ]);
  });

  it('refuses a sign-in whose groups have no role, and creates no account', async () => {
    const sub = subject();
    expectRefused(await enter(claimsOf(sub, ['strangers', '__proto__'])), 'oidc_no_role');
    const people = (await owner.http.get('/admin/v1/people')).body as { email: string }[];
    expect(people.map(({ email }) => email)).not.toContain(`${sub}@example.com`);
  });

  it('links an account only by a verified address, and afterwards by issuer and subject', async () => {
    const person = await newPerson(plinth, 'auditor');
    const sub = subject();
    for (const verified of [false, undefined]) {
      const claims = claimsOf(sub, ['owners'], { email: person.email, email_verified: verified });
      expectRefused(await enter(claims), 'oidc_address_taken');
    }
    const linked = await enter(claimsOf(sub, [], { email: person.email }));
    expect((await sessionOf(linked)).body.person).toMatchObject({ id: person.id, role: 'auditor' });
    // A new address at the issuer that belongs to another staff member changes nothing.
    const renamed = await enter(claimsOf(sub, [], { email: owner.email, email_verified: false }));
    expect((await sessionOf(renamed)).body.person.id).toBe(person.id);
    // An unverified address creates no account, which could later receive roles by that address.
    const unverified = claimsOf(subject(), ['audit'], { email_verified: false });
    expectRefused(await enter(unverified), 'oidc_no_role');
  });

  describe('an account whose address was not verified', () => {
    it("keeps no credential of its creator, so the chief's role goes to the chief alone", async () => {
      const sub = subject();
      // The inviter saw the link and accepted the invitation.
      const impostor = await newPerson(
        plinth,
        null,
        [{ id: project.id, role: 'viewer' }],
        `${sub}@example.com`,
      );
      const token = await impostor.http.post('/admin/v1/tokens', {
        name: 'kept',
        scopes: ['read'],
        expires_in: 3600,
      });
      expect(token.status).toBe(201);
      const bearer = plinth.http.with({ authorization: `Bearer ${token.body.token}` });
      expect((await bearer.get('/admin/v1/projects')).status).toBe(200);
      const { uri } = (await impostor.http.post('/admin/v1/session/factor', { password: STAFF_PASSWORD }))
        .body;
      const secret = new URL(uri).searchParams.get('secret')!;
      const code = new TOTP({ secret }).generate({ timestamp: plinth.clock.now() });
      await impostor.http.put('/admin/v1/session/factor', { code });

      const chief = await enter(claimsOf(sub, ['owners']));
      expect(await rolesAfter(chief)).toEqual(['owner', [`${project.slug}:viewer`]]);
      expect((await sessionOf(chief)).body.person).toMatchObject({ id: impostor.id, role: 'owner' });
      expect((await impostor.http.get('/admin/v1/session')).status).toBe(401);
      expect((await bearer.get('/admin/v1/projects')).status).toBe(401);
      expect((await signIn(plinth, impostor.email, { code })).status).toBe(401);
      expect((await signIn(plinth, impostor.email)).status).toBe(401);
      // The second sign-in finds the address verified.
      expect(await rolesAfter(await enter(claimsOf(sub, ['owners'])))).toEqual([
        'owner',
        [`${project.slug}:viewer`],
      ]);
      expect((await sessionOf(chief)).status).toBe(200);
    });

    it('that an issuer without email_verified created is taken over by a verified identity', async () => {
      const [other, sub] = [subject(), subject()];
      const email = `${sub}@example.com`;
      const first = await enter(claimsOf(other, ['audit'], { email, email_verified: undefined }));
      expect((await sessionOf(first)).status).toBe(200);
      await enter(claimsOf(sub, ['owners'], { email }));
      expect((await sessionOf(first)).status).toBe(401);
      expectRefused(
        await enter(claimsOf(other, ['audit'], { email, email_verified: undefined })),
        'oidc_address_taken',
      );
    });

    it('gets links that only operators see', async () => {
      const admin = await newPerson(plinth, null, [{ id: project.id, role: 'admin' }]);
      const invitation = { role: null, projects: [{ id: project.id, role: 'viewer' }] };
      const shown = await owner.http.post('/admin/v1/invitations', {
        ...invitation,
        email: 'shown@example.com',
      });
      const hidden = await admin.http.post('/admin/v1/invitations', {
        ...invitation,
        email: 'hidden@example.com',
      });
      expect([shown.status, typeof shown.body.link]).toEqual([201, 'string']);
      expect([hidden.status, hidden.body.link]).toEqual([201, null]);
      expect([shown.body.mailed, hidden.body.mailed]).toEqual([false, false]);
      // An invitation by one inviter does not prevent others from inviting the address.
      const again = { ...invitation, email: 'hidden@example.com' };
      expect((await owner.http.post('/admin/v1/invitations', again)).status).toBe(201);
      expect((await owner.http.post('/admin/v1/invitations', again)).status).toBe(409);
    });
  });

  it('refuses a disabled account', async () => {
    const sub = subject();
    const { body } = await sessionOf(await enter(claimsOf(sub, ['audit'])));
    await owner.http.patch(`/admin/v1/people/${body.person.id}`, { disabled: true });
    expectRefused(await enter(claimsOf(sub, ['owners'])), 'account_disabled');
  });

  it('asks for the second factor of the account, unless the issuer asked for one', async () => {
    const person = await newPerson(plinth, 'auditor');
    await proveAddress(plinth, person);
    const { uri } = (await person.http.post('/admin/v1/session/factor', { password: STAFF_PASSWORD })).body;
    const code = (): string =>
      new TOTP({ secret: new URL(uri).searchParams.get('secret')! }).generate({
        timestamp: plinth.clock.now(),
      });
    await person.http.put('/admin/v1/session/factor', { code: code() });
    const claims = claimsOf(subject(), [], { email: person.email });

    const asked = await enter(claims);
    expectRefused(asked, 'factor_required');
    const pending = plinth.http.with({ cookie: flowOf(asked) });
    const wrong = await pending.post('/admin/v1/session/oidc', { code: '000000' });
    expect([wrong.status, wrong.body.error.code]).toEqual([401, 'invalid_code']);
    plinth.clock.move(60);
    const completed = await pending.post('/admin/v1/session/oidc', { code: code() });
    expect(personOf(plinth, { ...completed, headers: sessionOnly(completed) }).id).toBe(person.id);
    plinth.clock.move(60);
    const again = await pending.post('/admin/v1/session/oidc', { code: code() });
    expect([again.status, again.body.error.code]).toEqual([401, 'sign_in_over']);

    const strong = await enter(claims, { amr: ['pwd', 'mfa'] });
    expect((await sessionOf(strong)).body.person.id).toBe(person.id);
  });
});

const sessionOnly = (answer: HttpAnswer): Headers => new Headers({ 'set-cookie': sessionCookieOf(answer)! });

describe('an attack on single sign-on fails', () => {
  const attacker = (): ReturnType<typeof claimsOf> => claimsOf(subject(), ['owners']);

  it('with another state, or in a browser that did not begin the sign-in', async () => {
    await issuer.setPerson(attacker());
    const [mine, other] = [await reachCallback(), await reachCallback()];
    expectRefused(await comeBack({ ...mine, flow: other.flow }), 'oidc_failed');
    mine.callback.searchParams.set('state', 'guessed');
    expectRefused(await comeBack(mine), 'oidc_failed');
    expectRefused(await comeBack({ ...other, flow: 'plinth_staff_flow=made-up' }), 'sign_in_over');
    expectRefused(await comeBack({ ...other, flow: 'other=1' }), 'sign_in_over');
  });

  it('with a code that was used', async () => {
    await issuer.setPerson(attacker());
    const used = await reachCallback();
    expect((await comeBack(used)).headers.get('location')).toBe(CONSOLE);
    expectRefused(await comeBack(used), 'oidc_failed');
    const fresh = await reachCallback();
    fresh.callback.searchParams.set('code', used.callback.searchParams.get('code')!);
    expectRefused(await comeBack(fresh), 'oidc_failed');
  });

  it.each([
    ['of another sign-in (nonce)', { nonce: 'another' }],
    ['for another client (audience)', { aud: 'another' }],
    ['of another issuer', { iss: 'https://issuer.example.com' }],
    ['that has expired', { exp: 1_700_000_000, iat: 1_699_999_000 }],
  ])('with an ID token %s', async (_title, forged) => {
    expectRefused(await enter(attacker(), forged), 'oidc_failed');
  });

  it('with the answer of another issuer (mix-up)', async () => {
    await issuer.setPerson(attacker());
    const mixed = await reachCallback();
    mixed.callback.searchParams.set('iss', 'https://issuer.example.com');
    expectRefused(await comeBack(mixed), 'oidc_failed');
  });

  it('with the cookie of a flow that is too old', async () => {
    await issuer.setPerson(attacker());
    const old = await reachCallback();
    plinth.clock.move(11 * 60);
    expectRefused(await comeBack(old), 'sign_in_over');
  });
});

it('refuses to take the role from the last owner', async () => {
  const sub = subject();
  await rolesAfter(await enter(claimsOf(sub, ['owners'])));
  const people = (await plinth.admin.get('/admin/v1/people')).body as {
    id: string;
    email: string;
    role: string;
  }[];
  for (const { id, email } of people.filter(
    ({ role, email: one }) => role === 'owner' && !one.startsWith(`${sub}@`),
  )) {
    expect([email, (await plinth.admin.delete(`/admin/v1/people/${id}`)).status]).toEqual([email, 204]);
  }
  expectRefused(await enter(claimsOf(sub, [])), 'last_owner');
  expect(await rolesAfter(await enter(claimsOf(sub, ['owners'])))).toEqual(['owner', []]);
});
