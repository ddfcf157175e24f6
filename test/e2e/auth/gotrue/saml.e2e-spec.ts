/** Sign-in with SAML 2.0 by the unmodified supabase-js, and attacks on it. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createClient } from '@supabase/supabase-js';
import { gotrue, guestOf } from '../../../support/gotrue';
import type { HttpAnswer } from '../../../support/http-client';
import { TestPlinth } from '../../../support/plinth';
import { type SamlFacts, SamlIdp, type SamlRequestSeen, type SamlSigning } from '../../../support/saml-idp';
import type { TestProject } from '../../../support/test-project';

const APP = 'http://app.test/';
const VERIFIER = randomBytes(32).toString('hex');
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const SHA1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';
const MAPPING = {
  keys: { groups: { names: ['groups', 'memberOf'], array: true }, plan: { name: 'plan', default: 'free' } },
};

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;
let idp: SamlIdp;
let second: SamlIdp;
let server: Server;
let published: string;
let providerId: string;

beforeAll(async () => {
  plinth = await TestPlinth.start({
    env: {
      AUTH_ALLOWED_HOSTS: '127.0.0.1',
      AUTH_REQUESTS_PER_MINUTE: '10000',
    },
  });
  project = await plinth.createProject({ settings: { site_url: APP } });
  other = await plinth.createProject({ settings: { site_url: APP } });
  const now = () => plinth.clock.now();
  idp = await SamlIdp.create('https://idp.example.com/metadata', 'https://idp.example.com/sso', now);
  second = await SamlIdp.create('https://second.example.net/metadata', 'https://second.example.net/sso', now);
  server = createServer((_request, response) => response.end(published)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const created = await save(project, {
    type: 'saml',
    metadata_xml: idp.metadata(),
    domains: ['Example.com'],
    attribute_mapping: MAPPING,
  });
  providerId = created.id;
  await save(other, { type: 'saml', metadata_xml: idp.metadata(), domains: ['example.com'] });
});
afterAll(async () => {
  server.close();
  await plinth.stop();
});

const providers = (of: TestProject): string => `${gotrue(of)}/admin/sso/providers`;
async function save(of: TestProject, body: object): Promise<{ id: string }> {
  const answer = await of.service.post(providers(of), body);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body;
}

const address = (domain = 'example.com'): string => `user-${randomUUID()}@${domain}`;

async function begin(of = project, body: object = { domain: 'example.com' }): Promise<SamlRequestSeen> {
  const answer = await guestOf(of).post(`${gotrue(of)}/sso`, {
    ...body,
    skip_http_redirect: true,
    code_challenge: CHALLENGE,
    code_challenge_method: 's256',
  });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return SamlIdp.requestIn(answer.body.url);
}

const form = (fields: [string, string][], of = project): Promise<HttpAnswer> =>
  of
    .client(null, null)
    .unchecked()
    .send('POST', `${gotrue(of)}/sso/saml/acs`, {
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
const encoded = (xml: string): string => Buffer.from(xml).toString('base64');
const post = (xml: string, of = project): Promise<HttpAnswer> =>
  form(
    [
      ['SAMLResponse', encoded(xml)],
      ['RelayState', 'https://evil.example/'],
    ],
    of,
  );

const locationOf = ({ headers }: HttpAnswer): URL => new URL(headers.get('location') ?? 'about:blank');

function exchange(code: string | null, of = project): Promise<HttpAnswer> {
  const path = `${gotrue(of)}/token?grant_type=pkce`;
  return guestOf(of).post(path, { auth_code: code, code_verifier: VERIFIER });
}

async function signIn(facts: SamlFacts, signing: SamlSigning = {}, by = idp): Promise<HttpAnswer> {
  const body = by === idp ? { domain: 'example.com' } : { domain: 'second.example.net' };
  const answer = await post(by.response(await begin(project, body), facts, signing));
  expect([answer.status, answer.text]).toEqual([303, '']);
  return exchange(locationOf(answer).searchParams.get('code'));
}

/** Asserts that a response signed nobody in. */
function assertRefused(answer: HttpAnswer): void {
  expect(answer.status).toBe(303);
  const url = locationOf(answer);
  expect([url.origin, url.searchParams.get('code')]).toEqual(['http://app.test', null]);
  expect(url.searchParams.get('error_code')).toMatch(/^(validation_failed|bad_oauth_state)$/);
}

describe('signInWithSSO', () => {
  function client() {
    const stored = new Map<string, string>();
    const storage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
      removeItem: (key: string) => void stored.delete(key),
    };
    return createClient(`${plinth.baseUrl}/p/${project.slug}`, project.anonKey, {
      auth: {
        flowType: 'pkce',
        storage,
        persistSession: true,
        autoRefreshToken: false,
        detectSessionInUrl: false,
      },
      realtime: { transport: class {} as never },
    });
  }

  it('signs in by domain and by id, and the attributes become claims', async () => {
    for (const by of [{ domain: 'example.com' }, { providerId }]) {
      const supabase = client();
      const { data, error } = await supabase.auth.signInWithSSO(by);
      expect(error).toBeNull();
      const email = address();
      const attributes = { mail: [email], displayName: ['Ada Lovelace'], memberOf: ['staff', 'admins'] };
      const nameId = randomUUID();
      const answer = await post(idp.response(SamlIdp.requestIn(data?.url ?? ''), { nameId, attributes }));
      const code = locationOf(answer).searchParams.get('code') ?? '';
      const { data: signedIn, error: fault } = await supabase.auth.exchangeCodeForSession(code);
      expect(fault).toBeNull();
      expect(signedIn.user?.email).toBe(email);
      const { data: claims } = await supabase.auth.getClaims();
      expect(claims?.claims).toMatchObject({
        email,
        aal: 'aal1',
        amr: [{ method: 'sso/saml' }],
        app_metadata: {
          provider: `sso:${providerId}`,
          custom_claims: { groups: ['staff', 'admins'], plan: 'free' },
        },
      });
      const { data: identities } = await supabase.auth.getUserIdentities();
      expect(identities?.identities).toEqual([
        expect.objectContaining({
          provider: `sso:${providerId}`,
          id: nameId,
          identity_data: expect.objectContaining({ email, full_name: 'Ada Lovelace', email_verified: true }),
        }),
      ]);
    }
  });

  it('a test shows the claims or the refusal, works once, and signs nobody in', async () => {
    const path = `${gotrue(project)}/admin/sso/providers/${providerId}/try`;
    const email = address();
    const begin = async () => {
      const { status, body } = await project.service.post(path);
      expect(status).toBe(200);
      return SamlIdp.requestIn(body.url);
    };
    const response = idp.response(await begin(), {
      nameId: randomUUID(),
      attributes: { mail: [email], memberOf: ['staff'] },
    });
    const shown = await post(response);
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining(email)]);
    expect(shown.text).toMatch(/staff/);
    expect((await post(response)).text).not.toContain(email);
    const refused = await post(idp.response(await begin(), {}, { what: 'nothing' }));
    expect([refused.status, refused.headers.get('location')]).toEqual([200, null]);
    expect(await project.sql(`select from auth.users where email = '${email}'`)).toEqual([]);
    expect((await guestOf(project).post(path)).status).toBe(401);
    const unknown = path.replace(providerId, randomUUID());
    expect((await project.service.post(unknown)).status).toBe(404);
  });

  it('has different errors for domains without a provider, projects without SAML, and clients without PKCE', async () => {
    const plain = await plinth.createProject({ settings: { site_url: APP } });
    const asked = (of: TestProject, body: object) => guestOf(of).post(`${gotrue(of)}/sso`, body);
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 's256', skip_http_redirect: true };
    expect((await asked(plain, { domain: 'example.com', ...pkce })).body.error_code).toBe(
      'saml_provider_disabled',
    );
    for (const body of [{ domain: 'elsewhere.org' }, { provider_id: randomUUID() }, { provider_id: 'x' }])
      expect((await asked(project, { ...body, ...pkce })).body.error_code).toBe('sso_provider_not_found');
    for (const body of [pkce, { domain: 'example.com' }, { domain: 'a.b', provider_id: 'x', ...pkce }])
      expect((await asked(project, body)).body.error_code).toBe('validation_failed');
    const moved = await asked(project, { domain: 'example.com', ...pkce, skip_http_redirect: false });
    expect([moved.status, locationOf(moved).origin]).toEqual([303, 'https://idp.example.com']);
  });

  it('redirects only to addresses in the list of the project', async () => {
    const request = await begin(project, { domain: 'example.com', redirect_to: 'https://evil.example/' });
    const answer = await post(idp.response(request, { attributes: { mail: [address()] } }));
    expect(locationOf(answer).origin).toBe('http://app.test');
  });
});

describe('accounts', () => {
  it('uses the same account for the same NameID, with the claims of the last sign-in', async () => {
    const [nameId, email] = [randomUUID(), address()];
    const first = await signIn({ nameId, attributes: { mail: [email], groups: ['a'] } });
    const next = await signIn({ nameId, attributes: { mail: [email], groups: [] } }, { what: 'response' });
    expect(next.body.user.id).toBe(first.body.user.id);
    expect(first.body.user.app_metadata.custom_claims).toEqual({ groups: ['a'], plan: 'free' });
    expect(next.body.user.app_metadata.custom_claims).toEqual({ groups: [], plan: 'free' });
  });

  it('joins an account only if both sides proved the address', async () => {
    const password = 'correct horse';
    const proved = address();
    await project.service.post(`${project.auth}/admin/users`, {
      email: proved,
      password,
      email_verified: true,
    });
    const joined = await signIn({ nameId: randomUUID(), attributes: { mail: [proved] } });
    expect(joined.body.user.email).toBe(proved);
    const unproved = address();
    await guestOf(project).post(`${project.auth}/signup`, { email: unproved, password });
    // An address of another domain is not proved by this provider.
    const foreign = address('elsewhere.org');
    await project.service.post(`${project.auth}/admin/users`, {
      email: foreign,
      password,
      email_verified: true,
    });
    for (const email of [unproved, foreign]) {
      const answer = await post(
        idp.response(await begin(), { nameId: randomUUID(), attributes: { mail: [email] } }),
      );
      expect(locationOf(answer).searchParams.get('error_code')).toBe('provider_email_needs_verification');
    }
  });

  it('refuses mapped attributes that make tokens too long', async () => {
    const groups = Array.from({ length: 50 }, (_, index) => `group number ${index} of the company`);
    const answer = await post(idp.response(await begin(), { attributes: { mail: [address()], groups } }));
    expect(locationOf(answer).searchParams.get('error_description')).toContain('1024 bytes');
  });

  it('distinguishes two providers with the same NameID', async () => {
    await save(project, { type: 'saml', metadata_xml: second.metadata(), domains: ['second.example.net'] });
    const nameId = randomUUID();
    const one = await signIn({ nameId, attributes: { mail: [address()] } });
    const two = await signIn({ nameId, attributes: { mail: [address('second.example.net')] } }, {}, second);
    expect(two.body.user.id).not.toBe(one.body.user.id);
    // A response of one provider does not answer a request to the other.
    const request = await begin(project, { domain: 'second.example.net' });
    assertRefused(await post(idp.response(request, { nameId, attributes: { mail: [address()] } })));
  });
});

describe('responses that are refused', () => {
  const email = address();
  const attributes = { mail: [email] };
  const facts: SamlFacts = { nameId: 'ada', attributes };
  const forged: SamlFacts = { nameId: 'admin', attributes: { mail: [address()] } };
  const assertionIn = (xml: string): string => /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)?.[0] ?? '';
  const signatureIn = (xml: string): string => /<Signature .*?<\/Signature>/s.exec(xml)?.[0] ?? '';

  it.each<[string, SamlFacts, SamlSigning?]>([
    ['no signature', facts, { what: 'nothing' }],
    ['SHA-1 in the signature', facts, { signature: SHA1 }],
    ['SHA-1 in the digest', facts, { digest: 'http://www.w3.org/2000/09/xmldsig#sha1' }],
    [
      'a canonicalization that keeps comments',
      facts,
      { canonicalization: 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments' },
    ],
    ['another audience', { ...facts, audience: 'https://other.example/' }],
    ['another recipient', { ...facts, recipient: 'https://other.example/acs' }],
    ['another destination', { ...facts, destination: 'https://other.example/acs' }],
    ['another issuer', { ...facts, issuer: 'https://other.example/' }],
    ['another request', { ...facts, inResponseTo: '_0000' }],
    ['no request', { ...facts, inResponseTo: '' }],
    ['another status', { ...facts, status: 'urn:oasis:names:tc:SAML:2.0:status:Responder' }],
    ['another confirmation', { ...facts, confirmation: 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key' }],
    ['no conditions', { ...facts, withoutConditions: true }],
    ['an expired assertion', { ...facts, ahead: -8 * 60_000 }],
    ['an assertion of the future', { ...facts, ahead: 4 * 60_000 }],
    ['a transient NameID', { ...facts, nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }],
    ['an empty NameID', { ...facts, nameId: '' }],
    ['a NameID that is too long', { ...facts, nameId: 'x'.repeat(300) }],
  ])('with %s', async (_what, wrong, signing = {}) => {
    assertRefused(await post(idp.response(await begin(), wrong, signing)));
  });

  it('accepts clocks that differ by up to two minutes', async () => {
    for (const ahead of [-100_000, 100_000])
      expect(
        (await signIn({ ...facts, ahead, nameId: randomUUID(), attributes: { mail: [address()] } })).status,
      ).toBe(200);
  });

  it('sent twice, for another request, or for a request that is too old', async () => {
    const request = await begin();
    const xml = idp.response(request, {
      nameId: randomUUID(),
      attributes: { mail: [address()] },
      assertionId: '_once',
    });
    expect(locationOf(await post(xml)).searchParams.get('code')).toMatch(/./);
    assertRefused(await post(xml));
    const again = { nameId: randomUUID(), attributes: { mail: [address()] }, assertionId: '_once' };
    assertRefused(await post(idp.response(await begin(), again)));
    const late = await begin();
    plinth.clock.move(11 * 60);
    assertRefused(await post(idp.response(late, facts)));
  });

  it('sent twice concurrently: one succeeds', async () => {
    const xml = idp.response(await begin(), { nameId: randomUUID(), attributes: { mail: [address()] } });
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(xml)));
    const codes = answers.filter((answer) => locationOf(answer).searchParams.has('code'));
    expect(codes).toHaveLength(1);
  });

  it('of another project, or with the signature of a stranger', async () => {
    assertRefused(await post(idp.response(await begin(other), facts)));
    const stranger = await SamlIdp.create(idp.entityId, idp.page, () => plinth.clock.now());
    assertRefused(await post(stranger.response(await begin(), facts)));
  });

  it('with wrapped signatures', async () => {
    const wrap: ((signed: string, evil: string) => string)[] = [
      // XSW 1 and 2: a second response around or next to the signed one.
      (signed, evil) => evil.replace('</samlp:Response>', `${signed}</samlp:Response>`),
      (signed, evil) => evil.replace('<saml:Assertion ', `${signed}<saml:Assertion `),
      // XSW 3 and 4: the forged assertion before, and around, the signed one.
      (signed, evil) => signed.replace(assertionIn(signed), assertionIn(evil) + assertionIn(signed)),
      (signed, evil) =>
        signed.replace(
          assertionIn(signed),
          assertionIn(evil).replace('</saml:Assertion>', `${assertionIn(signed)}</saml:Assertion>`),
        ),
      // XSW 5 and 6: the signature moves into the forged assertion, with the original inside or behind.
      (signed, evil) =>
        signed.replace(
          assertionIn(signed),
          assertionIn(evil).replace('</saml:Issuer>', `</saml:Issuer>${signatureIn(signed)}`) +
            assertionIn(signed).replace(signatureIn(signed), ''),
        ),
      (signed, evil) =>
        signed.replace(
          assertionIn(signed),
          assertionIn(evil).replace(
            '</saml:Issuer>',
            `</saml:Issuer>${signatureIn(signed).replace('</Signature>', `<Object>${assertionIn(signed).replace(signatureIn(signed), '')}</Object></Signature>`)}`,
          ),
        ),
      // XSW 7 and 8: the original inside extensions, or inside an object of the signature.
      (signed, evil) =>
        signed.replace(
          assertionIn(signed),
          `<samlp:Extensions>${assertionIn(signed)}</samlp:Extensions>${assertionIn(evil)}`,
        ),
      (signed, evil) =>
        signed.replace(
          assertionIn(signed),
          assertionIn(evil).replace(
            '</saml:Issuer>',
            `</saml:Issuer><Object xmlns="http://www.w3.org/2000/09/xmldsig#">${assertionIn(signed)}</Object>`,
          ),
        ),
      // The same id twice.
      (signed, evil) =>
        signed.replace(
          assertionIn(signed),
          assertionIn(evil).replace(/ ID="[^"]+"/, / ID="[^"]+"/.exec(assertionIn(signed))?.[0] ?? '') +
            assertionIn(signed),
        ),
      // Changed after it was signed.
      (signed) => signed.replace('>ada<', '>admin<'),
      (signed) => signed.replace(email, 'admin@example.com'),
      // The signature value is replaced.
      (signed) => signed.replace(/<SignatureValue>[^<]+</, '<SignatureValue>AAAA<'),
    ];
    for (const [index, change] of wrap.entries()) {
      const request = await begin();
      const signed = idp.response(request, facts);
      const xml = change(signed, idp.response(request, forged, { what: 'nothing' }));
      expect([index, xml === signed]).toEqual([index, false]);
      assertRefused(await post(xml));
    }
    const users = await project.sql(`select from auth.identities where subject = 'admin'`);
    expect(users).toEqual([]);
  });

  it('with declarations, entities, comments and instructions in XML', async () => {
    const request = await begin();
    const valid = idp.response(request, facts);
    const entity = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>';
    const bomb = `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">${'bcdefghij'.replaceAll(/./g, (name) => `<!ENTITY ${name} "${`&${String.fromCharCode((name.codePointAt(0) ?? 0) - 1)};`.repeat(10)}">`)}]>`;
    for (const xml of [
      entity + valid.replace('>ada<', '>&x;<'),
      bomb + valid.replace('>ada<', '>&j;<'),
      valid.replace('>ada<', '>a<!-- -->da<'),
      valid.replace('>ada<', '><![CDATA[ada]]><'),
      valid.replace('>ada<', '>a<?x?>da<'),
      `<?xml-stylesheet href="http://127.0.0.1/"?>${valid}`,
      `${valid}${valid}`,
      valid.slice(0, -5),
      '<a>'.repeat(5_000),
      `<samlp:Response xmlns:samlp="x" InResponseTo="${request.id}">${'<a>'.repeat(2_900)}${'</a>'.repeat(2_900)}</samlp:Response>`,
      'x',
      '',
    ])
      assertRefused(await post(xml));
    // None of the refused responses used up the request.
    expect(locationOf(await post(valid)).searchParams.get('code')).toMatch(/./);
  });

  it('that are too large, not in base64, or sent twice in one form', async () => {
    const valid = encoded(idp.response(await begin(), facts));
    assertRefused(await post(`<a>${'x'.repeat(300_000)}</a>`));
    expect((await form([['SAMLResponse', 'x'.repeat(1_000_000)]])).status).toBe(413);
    assertRefused(await form([['SAMLResponse', '%%%']]));
    assertRefused(await form([]));
    assertRefused(
      await form([
        ['SAMLResponse', valid],
        ['SAMLResponse', valid],
      ]),
    );
  });
});

describe('the identity providers of a project', () => {
  it('are added, changed, listed and removed with the service-role key only', async () => {
    const own = await plinth.createProject({ settings: { site_url: APP } });
    const { id } = await save(own, { type: 'saml', metadata_xml: idp.metadata(), resource_id: 'acme' });
    const path = `${providers(own)}/${id}`;
    const changed = await own.service.put(path, { domains: ['a.example', 'b.example'], disabled: true });
    expect(changed.body).toMatchObject({
      resource_id: 'acme',
      disabled: true,
      domains: [{ domain: 'a.example' }, { domain: 'b.example' }],
      saml: { entity_id: idp.entityId },
    });
    expect((await own.service.get(providers(own))).body.items).toHaveLength(1);
    const anon = guestOf(own);
    for (const answer of [
      await anon.get(providers(own)),
      await anon.post(providers(own), { type: 'saml', metadata_xml: second.metadata() }),
      await anon.delete(path),
    ])
      expect([401, 403]).toContain(answer.status);
    const taken = await own.service.post(providers(own), { type: 'saml', metadata_xml: idp.metadata() });
    expect([taken.status, taken.body.error_code]).toEqual([422, 'saml_idp_already_exists']);
    expect((await own.service.delete(path)).body.id).toBe(id);
    expect((await own.service.get(path)).status).toBe(404);
  });

  it('read their metadata from an address, again after a day, and keep it while the address fails', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const own = await plinth.createProject({ settings: { site_url: APP } });
    published = idp.metadata();
    await save(own, { type: 'saml', metadata_url: url, domains: ['example.com'] });
    const renewed = await SamlIdp.create(idp.entityId, 'https://idp.example.com/new', () =>
      plinth.clock.now(),
    );
    published = renewed.metadata();
    plinth.clock.move(25 * 3_600);
    const request = await begin(own);
    const answer = await post(renewed.response(request, { attributes: { mail: [address()] } }), own);
    expect(locationOf(answer).searchParams.get('code')).toMatch(/./);
    published = second.metadata();
    plinth.clock.move(25 * 3_600);
    const again = await post(
      renewed.response(await begin(own), { nameId: 'x', attributes: { mail: [address()] } }),
      own,
    );
    expect(locationOf(again).searchParams.get('code')).toMatch(/./);
  });

  it.each([
    ['nothing', {}],
    ['both', { metadata_xml: '<x/>', metadata_url: 'https://idp.example.com/' }],
    ['no XML', { metadata_xml: 'x' }],
    ['entities', { metadata_xml: '<!DOCTYPE x [<!ENTITY y "z">]><x>&y;</x>' }],
    ['no metadata', { metadata_xml: '<x/>' }],
    ['a private address', { metadata_url: 'https://10.0.0.1/' }],
    ['an address that does not answer', { metadata_url: 'http://127.0.0.1:9/' }],
  ])('are refused with %s for metadata', async (_what, body) => {
    const answer = await project.service.post(providers(project), { type: 'saml', ...body });
    expect(answer.status).toBe(400);
  });

  it.each([
    [
      'a page without TLS',
      (xml: string) => xml.replace('https://fresh.example/sso', 'http://fresh.example/sso'),
    ],
    ['a script as page', (xml: string) => xml.replace('https://fresh.example/sso', 'javascript:alert(1)')],
    ['no certificate', (xml: string) => xml.replace(/<ds:X509Certificate>.*<\/ds:X509Certificate>/s, '')],
    ['a broken certificate', (xml: string) => xml.replace('MII', 'AAA')],
    ['no entity', (xml: string) => xml.replace(/entityID="[^"]+"/, '')],
  ])('are refused with %s', async (_what, change) => {
    const fresh = await SamlIdp.create(
      'https://fresh.example/metadata',
      'https://fresh.example/sso',
      () => 0,
    );
    const metadata_xml = change(fresh.metadata());
    const answer = await project.service.post(providers(project), { type: 'saml', metadata_xml });
    expect(answer.status).toBe(400);
  });

  it('sign nobody in once their metadata has expired or they are turned off', async () => {
    const own = await plinth.createProject({ settings: { site_url: APP } });
    const until = new Date(plinth.clock.now() + 60_000).toISOString();
    const { id } = await save(own, {
      type: 'saml',
      metadata_xml: idp.metadata(`validUntil="${until}"`),
      domains: ['example.com'],
    });
    const request = await begin(own);
    plinth.clock.move(120);
    assertRefused(await post(idp.response(request, { attributes: { mail: [address()] } }), own));
    await own.service.put(`${providers(own)}/${id}`, { metadata_xml: idp.metadata() });
    const next = await begin(own);
    await own.service.put(`${providers(own)}/${id}`, { disabled: true });
    const answer = await post(idp.response(next, { attributes: { mail: [address()] } }), own);
    expect(locationOf(answer).searchParams.get('error_code')).toBe('sso_provider_not_found');
  });

  it('can read the metadata of the service provider', async () => {
    const answer = await project.client(null, null).get(`${gotrue(project)}/sso/saml/metadata?download=true`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'application/xml; charset=utf-8',
    ]);
    expect(answer.text).toContain(`${gotrue(project)}/sso/saml/acs`);
    expect(answer.headers.get('content-disposition')).toContain('attachment');
  });
});
