/** Staff who sign in by SAML 2.0 and with the passwords of a real directory (OpenLDAP), and attacks on both. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOTP } from 'otpauth';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { type SamlFacts, SamlIdp, type SamlRequestSeen, type SamlSigning } from '../../support/saml-idp';
import { BASE_DN, BIND_DN, BIND_PASSWORD, hasSlapd, SlapdServer } from '../../support/slapd-server';
import { newPerson, personOf, proveAddress, signIn, STAFF_PASSWORD, TestPerson } from '../../support/staff';
import { TestProject } from '../../support/test-project';

const PUBLIC_URL = 'http://plinth.test';
const CONSOLE = `${PUBLIC_URL}/console/`;
const PASSWORD = 'correct horse';
const ROLES = {
  owners: { role: 'owner' },
  platform: { role: 'operator' },
  audit: { role: 'auditor' },
  shop: { projects: { shop: 'developer' } },
};
const PEOPLE = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay'].map((uid) => ({
  uid,
  mail: `${uid}@ldap.example.com`,
  password: PASSWORD,
}));

let folder: string;
let idp: SamlIdp;
let slapd: SlapdServer | null = null;
let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'saml-'));
  const page = 'https://idp.example.com/sso';
  idp = await SamlIdp.create('https://idp.example.com/metadata', page, () => plinth.clock.now());
  writeFileSync(join(folder, 'metadata.xml'), idp.metadata());
  const saml = { metadata: join(folder, 'metadata.xml'), domains: ['example.com'], roles: ROLES };
  if (hasSlapd)
    slapd = await SlapdServer.start(PEOPLE, { platform: ['ada', 'bob', 'dan'], shop: ['cyd', 'bob'] });
  const ldap = slapd && {
    url: `ldap://127.0.0.1:${slapd.ldapPort}`,
    ca: slapd.ca,
    bind_dn: BIND_DN,
    bind_password: BIND_PASSWORD,
    base_dn: BASE_DN,
    group_filter: '(member={dn})',
    domains: ['ldap.example.com'],
    roles: ROLES,
  };
  plinth = await TestPlinth.start({
    env: {
      PUBLIC_URL,
      STAFF_SIGN_IN: JSON.stringify({ saml, ldap }),
      AUTH_REQUESTS_PER_MINUTE: '10000',
    },
  });
  project = await plinth.createProject({ name: 'shop' });
});
afterAll(async () => {
  await plinth.stop();
  await slapd?.stop();
  rmSync(folder, { recursive: true });
});
// Refused responses and passwords count as guesses, whose delay ends within an hour.
beforeEach(() => plinth.clock.move(3_600));

let subjects = 0;
const subject = (): string => `subject-${++subjects}`;

const cookieNamed = (name: string, { headers }: HttpAnswer): string | undefined =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.split(';')[0];

async function rolesOf(cookie: string | undefined): Promise<[string | null, string[]]> {
  const { body } = await plinth.http.with({ cookie: cookie ?? '' }).get('/admin/v1/session');
  const projects = body.projects as { slug: string; role: string }[];
  return [body.person.role, projects.map(({ slug, role }) => `${slug}:${role}`)];
}

const statusOf = async (cookie: string | undefined): Promise<number> =>
  (await plinth.http.with({ cookie: cookie ?? '' }).get('/admin/v1/session')).status;

const errorOf = ({ status, body }: HttpAnswer): [number, string] => [status, body.error?.code];

async function addApp(person: TestPerson): Promise<() => string> {
  const { uri } = (await person.http.post('/admin/v1/session/factor', { password: STAFF_PASSWORD })).body;
  const totp = new TOTP({ secret: new URL(uri).searchParams.get('secret')! });
  const code = (): string => totp.generate({ timestamp: plinth.clock.now() });
  await person.http.put('/admin/v1/session/factor', { code: code() });
  return code;
}

describe('sign-in of staff with SAML', () => {
  interface Begun {
    readonly flow: string;
    readonly request: SamlRequestSeen;
  }

  async function begin(): Promise<Begun> {
    const begun = await plinth.http.get('/admin/v1/session/saml');
    expect(begun.status).toBe(303);
    const request = SamlIdp.requestIn(begun.headers.get('location')!);
    return { flow: cookieNamed('plinth_staff_flow', begun)!, request };
  }

  /** Sends a response as the page of the provider does, from another site and without cookies. */
  const send = (xml: string): Promise<HttpAnswer> =>
    plinth.http.unchecked().send('POST', '/admin/v1/session/saml/acs', {
      body: new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64') }).toString(),
      headers: { origin: 'https://idp.example.com', 'content-type': 'application/x-www-form-urlencoded' },
    });

  const follow = (flow: string, sent: HttpAnswer): Promise<HttpAnswer> => {
    const { pathname, search } = new URL(sent.headers.get('location')!);
    expect(pathname).toBe('/admin/v1/session/saml/callback');
    return plinth.http.with({ cookie: flow }).get(pathname + search);
  };

  const factsOf = (sub: string, groups: readonly string[], more: SamlFacts = {}): SamlFacts => ({
    nameId: sub,
    attributes: { email: [`${sub}@example.com`], displayName: [`Name of ${sub}`], groups },
    ...more,
  });

  async function enter(facts: SamlFacts, signing?: SamlSigning): Promise<HttpAnswer> {
    const { flow, request } = await begin();
    const sent = await send(idp.response(request, facts, signing));
    return sent.headers.get('location')?.includes('/callback?') === true ? follow(flow, sent) : sent;
  }

  function expectRefused(answer: HttpAnswer, code: string): void {
    expect(answer.headers.get('location')).toBe(`${CONSOLE}#sign_in_error=${code}`);
    expect(cookieNamed('plinth_staff', answer)).toBeUndefined();
  }

  it('lists the sign-in methods for the page, and serves its metadata', async () => {
    const { body } = await plinth.http.get('/admin/v1/session/methods');
    expect(body).toMatchObject({ saml_provider: 'SAML', ldap_directory: hasSlapd ? '127.0.0.1' : null });
    const { text } = await plinth.http.get('/admin/v1/session/saml/metadata');
    expect(text).toContain(`${PUBLIC_URL}/admin/v1/session/saml/acs`);
  });

  it('creates an account with the roles of the groups, and removes roles with the groups', async () => {
    const sub = subject();
    const first = await enter(factsOf(sub, ['platform', 'shop', 'strangers']));
    expect(first.headers.get('location')).toBe(CONSOLE);
    const session = cookieNamed('plinth_staff', first);
    expect(await rolesOf(session)).toEqual(['operator', [`${project.slug}:developer`]]);
    expect(await rolesOf(cookieNamed('plinth_staff', await enter(factsOf(sub, ['audit']))))).toEqual([
      'auditor',
      [],
    ]);
    expectRefused(await enter(factsOf(sub, [])), 'saml_no_role');
    // The sessions that the groups allowed end too.
    expect(await statusOf(session)).toBe(401);
    expectRefused(await enter(factsOf(subject(), ['strangers', '__proto__'])), 'saml_no_role');
  });

  it('links an account only by an address in its domains', async () => {
    const elsewhere = await newPerson(plinth, 'auditor', [], 'chief@elsewhere.example.net');
    await proveAddress(plinth, elsewhere);
    const foreign = { attributes: { email: [elsewhere.email], groups: ['owners'] } };
    expectRefused(await enter(factsOf(subject(), [], foreign)), 'saml_address_taken');
    const known = await newPerson(plinth, 'auditor');
    await proveAddress(plinth, known);
    const linked = await enter(factsOf(subject(), [], { attributes: { email: [known.email] } }));
    expect(await rolesOf(cookieNamed('plinth_staff', linked))).toEqual(['auditor', []]);
    // The address of the account was verified, so it keeps its session.
    expect((await known.http.get('/admin/v1/session')).status).toBe(200);
  });

  it('removes the access of the creator of an account whose address was not verified', async () => {
    const sub = subject();
    const impostor = await newPerson(plinth, 'auditor', [], `${sub}@example.com`);
    const chief = await enter(factsOf(sub, ['owners']));
    expect((await rolesOf(cookieNamed('plinth_staff', chief)))[0]).toBe('auditor');
    expect((await impostor.http.get('/admin/v1/session')).status).toBe(401);
    expect((await signIn(plinth, impostor.email)).status).toBe(401);
  });

  it('asks for the second factor of the account', async () => {
    const person = await newPerson(plinth, 'auditor');
    await proveAddress(plinth, person);
    const code = await addApp(person);
    const asked = await enter(factsOf(subject(), [], { attributes: { email: [person.email] } }));
    expectRefused(asked, 'factor_required');
    const pending = plinth.http.with({ cookie: cookieNamed('plinth_staff_flow', asked)! });
    expect(errorOf(await pending.post('/admin/v1/session/oidc', { code: '000000' }))).toEqual([
      401,
      'invalid_code',
    ]);
    plinth.clock.move(60);
    const { body } = await pending.post('/admin/v1/session/oidc', { code: code() });
    expect(body.person.id).toBe(person.id);
  });

  it('refuses a disabled account', async () => {
    const sub = subject();
    await enter(factsOf(sub, ['audit']));
    const people = (await plinth.admin.get('/admin/v1/people')).body as { id: string; email: string }[];
    const { id } = people.find(({ email }) => email === `${sub}@example.com`)!;
    await plinth.admin.patch(`/admin/v1/people/${id}`, { disabled: true });
    expectRefused(await enter(factsOf(sub, ['audit'])), 'account_disabled');
  });

  describe('an attack on it fails', () => {
    it('in a browser that did not begin the sign-in, or began another one', async () => {
      const [mine, other] = [await begin(), await begin()];
      const sent = await send(idp.response(mine.request, factsOf(subject(), ['owners'])));
      expectRefused(await follow('other=1', sent), 'sign_in_over');
      expectRefused(await follow(other.flow, sent), 'saml_failed');
      expect((await follow(mine.flow, sent)).headers.get('location')).toBe(CONSOLE);
    });

    it('with a response that was used, forged or truncated', async () => {
      const { flow, request } = await begin();
      const xml = idp.response(request, factsOf(subject(), ['owners']));
      const sent = await send(xml);
      const path = (answer: string): string => `/admin/v1/session/saml/callback?answer=${answer}`;
      const sealed = new URL(sent.headers.get('location')!).searchParams.get('answer')!;
      const browser = plinth.http.with({ cookie: flow });
      for (const forged of ['', 'AAAA', sealed.slice(0, -4), `${sealed}&answer=${sealed}`])
        expectRefused(await browser.get(path(forged)), 'saml_failed');
      expect((await follow(flow, sent)).headers.get('location')).toBe(CONSOLE);
      expectRefused(await follow(flow, sent), 'sign_in_over');
      expectRefused(await follow(flow, await send(xml)), 'sign_in_over');
    });

    it('after ten minutes', async () => {
      const { flow, request } = await begin();
      plinth.clock.move(11 * 60);
      expectRefused(
        await follow(flow, await send(idp.response(request, factsOf(subject(), ['owners'])))),
        'sign_in_over',
      );
    });

    it.each<[string, SamlFacts, SamlSigning | undefined]>([
      ['without a signature', {}, { what: 'nothing' }],
      ['for another audience', { audience: 'https://other.example.com' }, undefined],
      ['for another address', { recipient: 'https://other.example.com/acs' }, undefined],
      ['of another issuer', { issuer: 'https://other.example.com' }, undefined],
      [
        'whose NameID is transient',
        { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' },
        undefined,
      ],
      ['whose NameID is too long', { nameId: 'x'.repeat(300) }, undefined],
      ['that is old', { ahead: -3_600_000 }, undefined],
    ])('with a response %s', async (_title, facts, signing) => {
      expectRefused(await enter({ ...factsOf(subject(), ['owners']), ...facts }, signing), 'saml_failed');
    });

    it('with anything but a response', async () => {
      for (const xml of ['', '<a/>', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'])
        expectRefused(await send(xml), 'saml_failed');
    });
  });
});

(hasSlapd ? describe : describe.skip)('sign-in of staff with LDAP (needs slapd)', () => {
  const enter = (login: string, password = PASSWORD, more: object = {}): Promise<HttpAnswer> =>
    plinth.http.post('/admin/v1/session/ldap', { login, password, ...more });

  it('creates an account with the roles of the groups', async () => {
    const answer = await enter('ada');
    expect(answer.body.person).toMatchObject({
      email: 'ada@ldap.example.com',
      name: 'Name of ada',
      role: 'operator',
    });
    expect((await personOf(plinth, answer).http.get('/admin/v1/people')).status).toBe(200);
    // Every name of the entry leads to the same account.
    expect((await enter('ADA@ldap.example.com')).body.person.id).toBe(answer.body.person.id);
    expect((await enter('bob')).body).toMatchObject({
      person: { role: 'operator' },
      projects: [{ slug: project.slug, role: 'developer' }],
    });
    expect(errorOf(await enter('eve'))).toEqual([403, 'ldap_no_role']);
    const { text } = await plinth.admin.get('/admin/v1/audit-log');
    expect(text).toContain('person.ldap_create');
  });

  it('ends the session that the browser had', async () => {
    const first = cookieNamed('plinth_staff', await enter('bob'))!;
    await plinth.http
      .with({ cookie: first })
      .post('/admin/v1/session/ldap', { login: 'bob', password: PASSWORD });
    expect(await statusOf(first)).toBe(401);
  });

  it('answers wrong passwords, unknown logins and LDAP filters as logins alike', async () => {
    const logins = [
      ['ada', 'wrong'],
      ['nobody', PASSWORD],
      ['*', PASSWORD],
      ['*)(uid=ada', PASSWORD],
      ['a\0da', PASSWORD],
    ];
    for (const [login = '', password = ''] of logins) {
      const [status, code] = errorOf(await enter(login, password));
      expect([login, [400, 401].includes(status), code]).toEqual([
        login,
        true,
        status === 400 ? 'invalid_parameters' : 'invalid_credentials',
      ]);
    }
    expect((await enter('ada', '')).status).toBe(400);
  });

  it('removes the access of the creator of an account whose address was not verified', async () => {
    const impostor = await newPerson(
      plinth,
      null,
      [{ id: project.id, role: 'viewer' }],
      'dan@ldap.example.com',
    );
    const { body } = await enter('dan');
    expect(body.person).toMatchObject({ id: impostor.id, role: 'operator' });
    expect((await impostor.http.get('/admin/v1/session')).status).toBe(401);
    expect((await signIn(plinth, impostor.email)).status).toBe(401);
  });

  it('asks for the second factor of the account', async () => {
    const person = await newPerson(plinth, null, [], 'cyd@ldap.example.com');
    await proveAddress(plinth, person);
    const code = await addApp(person);
    expect(errorOf(await enter('cyd'))).toEqual([401, 'factor_required']);
    expect(errorOf(await enter('cyd', PASSWORD, { code: '000000' }))).toEqual([401, 'invalid_code']);
    plinth.clock.move(60);
    expect((await enter('cyd', PASSWORD, { code: code() })).body.person.id).toBe(person.id);
  });

  it('slows guesses down for every name of the entry', async () => {
    const names = ['fay', 'FAY', 'fay@ldap.example.com'];
    const statuses: number[] = [];
    for (let turn = 0; turn < 30 && !statuses.includes(429); turn++)
      statuses.push((await enter(names[turn % names.length] ?? '', 'wrong')).status);
    expect(statuses.at(-1)).toBe(429);
    expect((await enter('fay')).status).toBe(429);
    // Delayed attempts leave no entry in the audit log.
    expect((await plinth.admin.get('/admin/v1/audit-log')).text).not.toContain('rate_limit');
  });

  it('answers 503 while the directory is down', async () => {
    await slapd?.stop();
    slapd = null;
    expect(errorOf(await enter('ada'))).toEqual([503, 'directory_failed']);
  });
});
