/** Passkeys of staff: enrolment, second factor, sign-in without a password, and attacks. */
import { TOTP } from 'otpauth';
import { eventually } from '../../support/eventually';
import type { HttpAnswer, HttpClient } from '../../support/http-client';
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { newPerson, signIn, STAFF_PASSWORD, TestPerson } from '../../support/staff';
import { SoftwarePasskey } from '../../support/software-passkey';

const ORIGIN = 'http://plinth.test';

let plinth: TestPlinth;

beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterAll(() => plinth.stop());

const codeOf = ({ body }: HttpAnswer): unknown => body?.error?.code;

const cookieIn = ({ headers }: HttpAnswer, name: string): string =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`${name}=`))!
    .split(';')[0]!;

interface Begun {
  readonly challenge: string;
  /** Headers with the cookie of the flow in addition to the cookies of the client. */
  readonly http: HttpClient;
}

async function begin(http: HttpClient, path: string, body?: object): Promise<Begun> {
  const answer = await http.post(path, body);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  const cookies = [http.headers.cookie, cookieIn(answer, 'plinth_staff_flow')].filter(Boolean).join('; ');
  return { challenge: answer.body.options.challenge, http: http.with({ cookie: cookies }) };
}

const beginSignIn = (): Promise<Begun> => begin(plinth.http, '/admin/v1/session/passkey/options');

const enrolment = ({ http }: TestPerson): Promise<Begun> =>
  begin(http, '/admin/v1/passkeys/options', { password: STAFF_PASSWORD });

/** A staff member with a passkey. */
async function enrolled(): Promise<{ person: TestPerson; passkey: SoftwarePasskey; answer: HttpAnswer }> {
  const person = await newPerson(plinth, 'auditor');
  const passkey = new SoftwarePasskey('plinth.test');
  const { challenge, http } = await enrolment(person);
  const credential = passkey.register({ challenge, origin: ORIGIN });
  const answer = await http.post('/admin/v1/passkeys', { name: 'Laptop', credential });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return { person, passkey, answer };
}

const enter = (http: HttpClient, credential: object): Promise<HttpAnswer> =>
  http.post('/admin/v1/session/passkey', { credential });

describe('a passkey', () => {
  it('signs its owner in without a password, once per challenge', async () => {
    const { person, passkey } = await enrolled();
    const { challenge, http } = await beginSignIn();
    const credential = passkey.authenticate({ challenge, origin: ORIGIN });
    const answer = await enter(http, credential);
    expect([answer.status, answer.body.person.id]).toEqual([200, person.id]);
    const session = plinth.http.with({ cookie: cookieIn(answer, 'plinth_staff') });
    expect((await session.get('/admin/v1/session')).body.person.has_factor).toBe(true);
    const again = passkey.authenticate({ challenge, origin: ORIGIN });
    for (const replayed of [credential, again]) expect((await enter(http, replayed)).status).toBe(401);
  });

  it('is a second factor for a password, and recovery codes replace it', async () => {
    const { person, passkey, answer } = await enrolled();
    expect(codeOf(await signIn(plinth, person.email))).toBe('factor_required');
    const { challenge, http } = await beginSignIn();
    const weak = passkey.authenticate({ challenge, origin: ORIGIN, isUserVerified: false });
    const body = { email: person.email, password: STAFF_PASSWORD, passkey: weak };
    expect((await http.post('/admin/v1/session', { ...body, password: 'wrong password' })).status).toBe(401);
    expect((await http.post('/admin/v1/session', body)).status).toBe(200);
    const [code] = answer.body.recovery_codes as string[];
    expect((await signIn(plinth, person.email, { code })).status).toBe(200);
    expect(codeOf(await signIn(plinth, person.email, { code }))).toBe('invalid_code');
  });

  it('is listed, renamed and deleted only by its owner, with the password', async () => {
    const { person, answer } = await enrolled();
    const path = `/admin/v1/passkeys/${answer.body.id}`;
    const stranger = await newPerson(plinth, 'owner');
    expect(codeOf(await stranger.http.patch(path, { name: 'Mine' }))).toBe('passkey_not_found');
    const remove = (http: HttpClient, body: object): Promise<HttpAnswer> =>
      http.send('DELETE', path, { body });
    expect(codeOf(await remove(stranger.http, { password: STAFF_PASSWORD }))).toBe('passkey_not_found');
    expect((await person.http.patch(path, { name: 'Old laptop' })).body.name).toBe('Old laptop');
    expect((await remove(person.http, {})).status).toBe(401);
    expect((await remove(person.http, { password: STAFF_PASSWORD })).status).toBe(204);
    expect((await person.http.get('/admin/v1/passkeys')).body).toEqual([]);
    expect((await signIn(plinth, person.email)).status).toBe(200);
  });
});

describe('an attack with a passkey fails', () => {
  it.each([
    ['without user verification, if nothing else is required', { isUserVerified: false }],
    ['from another origin', { origin: 'https://plinth.test.example.com' }],
    ['with another challenge', { challenge: Buffer.alloc(32, 1).toString('base64url') }],
    ['with a counter that does not increase, as for a copy', { counter: 1 }],
  ])('%s', async (_title, change) => {
    const { passkey } = await enrolled();
    const { challenge, http } = await beginSignIn();
    const refused = await enter(http, passkey.authenticate({ challenge, origin: ORIGIN, ...change }));
    expect([refused.status, codeOf(refused)]).toEqual([401, 'passkey_failed']);
    // The same passkey is accepted without the change.
    expect((await enter(http, passkey.authenticate({ challenge, origin: ORIGIN, counter: 9 }))).status).toBe(
      200,
    );
  });

  it('for another relying party, of an unknown credential, or in another browser', async () => {
    const { challenge, http } = await beginSignIn();
    const unknown = new SoftwarePasskey('plinth.test').authenticate({ challenge, origin: ORIGIN });
    expect(codeOf(await enter(http, unknown))).toBe('passkey_failed');
    for (const broken of [{}, { id: 1 }, { id: 'x'.repeat(2_000) }])
      expect(codeOf(await enter(http, broken))).toBe('passkey_failed');
    const { passkey } = await enrolled();
    const credential = passkey.authenticate({ challenge, origin: ORIGIN });
    expect(codeOf(await enter(plinth.http, credential))).toBe('sign_in_over');
    const person = await newPerson(plinth, null);
    const begun = await enrolment(person);
    const foreign = new SoftwarePasskey('example.com').register({
      challenge: begun.challenge,
      origin: ORIGIN,
    });
    const answer = await begun.http.post('/admin/v1/passkeys', { name: 'Foreign', credential: foreign });
    expect(codeOf(answer)).toBe('passkey_failed');
  });

  it('of another staff member as second factor, and of a disabled account', async () => {
    const [mine, other] = [await enrolled(), await enrolled()];
    const { challenge, http } = await beginSignIn();
    const body = { email: mine.person.email, password: STAFF_PASSWORD };
    const passkey = other.passkey.authenticate({ challenge, origin: ORIGIN });
    expect(codeOf(await http.post('/admin/v1/session', { ...body, passkey }))).toBe('passkey_failed');
    await plinth.admin.patch(`/admin/v1/people/${other.person.id}`, { disabled: true });
    const begun = await beginSignIn();
    const disabled = other.passkey.authenticate({ challenge: begun.challenge, origin: ORIGIN });
    expect(codeOf(await enter(begun.http, disabled))).toBe('passkey_failed');
  });

  it('from a stolen session, because adding a passkey needs the password', async () => {
    const person = await newPerson(plinth, null);
    for (const body of [{}, { password: 'wrong password' }])
      expect((await person.http.post('/admin/v1/passkeys/options', body)).status).toBe(401);
    const begun = await enrolment(person);
    const credential = new SoftwarePasskey('plinth.test').register({
      challenge: begun.challenge,
      origin: ORIGIN,
    });
    // The challenge belongs to the session that asked for it.
    const other = await newPerson(plinth, null);
    const flow = begun.http.headers.cookie!.split('; ')[1]!;
    const mixed = other.http.with({ cookie: `${other.http.headers.cookie}; ${flow}` });
    expect(codeOf(await mixed.post('/admin/v1/passkeys', { name: 'Stolen', credential }))).toBe(
      'passkey_failed',
    );
  });
});

it('a staff member has at most 20 passkeys, even if more enrolments complete concurrently', async () => {
  const person = await newPerson(plinth, null);
  const begun = [];
  for (let index = 0; index < 22; index += 1) begun.push(await enrolment(person));
  const answers = await Promise.all(
    begun.map(({ challenge, http }) => {
      const credential = new SoftwarePasskey('plinth.test').register({ challenge, origin: ORIGIN });
      return http.post('/admin/v1/passkeys', { name: 'One of many', credential });
    }),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(20).fill(201), 400, 400]);
  expect((await person.http.get('/admin/v1/passkeys')).body).toHaveLength(20);
});

it('recovery codes end with the last factor, even if app and passkey are removed concurrently', async () => {
  const { person, answer } = await enrolled();
  const { http } = person;
  const { uri } = (await http.post('/admin/v1/session/factor', { password: STAFF_PASSWORD })).body;
  const totp = new TOTP({ secret: new URL(uri).searchParams.get('secret')! });
  const code = (): string => totp.generate({ timestamp: plinth.clock.now() });
  const confirmed = await http.put('/admin/v1/session/factor', { code: code() });
  const session = http.with({ cookie: cookieIn(confirmed, 'plinth_staff') });
  plinth.clock.move(30);
  const removals = await asSuperuser(plinth.platformDatabase, async (client) => {
    await client.query('begin; lock table audit_log in exclusive mode');
    const sent = [
      session.send('DELETE', '/admin/v1/session/factor', { body: { code: code() } }),
      session.send('DELETE', `/admin/v1/passkeys/${answer.body.id}`, { body: { password: STAFF_PASSWORD } }),
    ];
    await eventually(async () => {
      const { rows } = await client.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(rows).toHaveLength(2);
    });
    await client.query('commit');
    return Promise.all(sent);
  });
  expect(removals.map(({ status }) => status)).toEqual([204, 204]);
  const { challenge, http: begun } = await enrolment({ ...person, http: session });
  const credential = new SoftwarePasskey('plinth.test').register({ challenge, origin: ORIGIN });
  const again = await begun.post('/admin/v1/passkeys', { name: 'New', credential });
  // The old codes are gone, so new codes are issued.
  expect(again.body.recovery_codes).toHaveLength(10);
});
