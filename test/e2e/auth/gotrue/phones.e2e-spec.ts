/** Phones: sign-in, sign-up, change and second factors with codes that the hook send_sms_hook sends, and attacks on them. */
import { randomInt } from 'node:crypto';
import { decode } from 'jsonwebtoken';
import { gotrue, guestOf } from '../../../support/gotrue';
import type { HttpAnswer, HttpClient } from '../../../support/http-client';
import { TestPlinth } from '../../../support/plinth';
import type { TestProject } from '../../../support/test-project';

const SETTINGS = { send_sms_hook: 'public.send_sms', sms_per_hour: 10_000 };

let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;
let base: string;

beforeAll(async () => {
  plinth = await TestPlinth.start({
    env: { AUTH_REQUESTS_PER_MINUTE: '10000', AUTH_FAILURES_PER_ADDRESS: '10000', TRUST_PROXY: '1' },
  });
  project = await plinth.createProject();
  await project.sql(`
    create table messages (id int generated always as identity, phone text, otp text);
    create function send_sms(event jsonb) returns jsonb language plpgsql security definer as $$ begin
      if event -> 'user' ->> 'phone' = '+4900000000' then
        return '{"error": {"http_code": 403, "message": "Not this phone"}}'; end if;
      insert into public.messages (phone, otp) values (event -> 'user' ->> 'phone', event -> 'sms' ->> 'otp');
      return '{}';
    end $$;
  `);
  await plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: SETTINGS });
  guest = guestOf(project);
  base = gotrue(project);
});
afterAll(() => plinth.stop());
beforeEach(() => plinth.clock.move(60));

const newPhone = (): string => `+49${randomInt(10 ** 9, 10 ** 10)}`;

async function messagesTo(phone: string): Promise<string[]> {
  const rows = await project.sql(`select otp from messages where phone = '${phone}' order by id`);
  return rows.map(({ otp }: { otp: string }) => otp);
}

const lastTo = async (phone: string): Promise<string> => (await messagesTo(phone)).at(-1) ?? '';

const verify = (phone: string, token: string, type = 'sms'): Promise<HttpAnswer> =>
  guest.post(`${base}/verify`, { type, phone, token });

async function signIn(phone: string): Promise<HttpAnswer> {
  const asked = await guest.post(`${base}/otp`, { phone });
  expect([asked.status, asked.body]).toEqual([200, {}]);
  return verify(phone, await lastTo(phone));
}

const clientOf = ({ body }: HttpAnswer): HttpClient => project.client(project.anonKey, body.access_token);

it('signs a new user in with a code, and later the same user', async () => {
  const phone = newPhone();
  const answer = await signIn(phone);
  expect(answer.status).toBe(200);
  expect(answer.body.user).toMatchObject({
    phone: phone.slice(1),
    email: '',
    is_anonymous: false,
    phone_confirmed_at: expect.any(String),
    app_metadata: { provider: 'phone', providers: ['phone'] },
    identities: [],
  });
  const claims = { phone: phone.slice(1), aal: 'aal1', amr: [{ method: 'otp' }], is_anonymous: false };
  expect(decode(answer.body.access_token)).toMatchObject(claims);
  expect((await signIn(phone)).body.user.id).toBe(answer.body.user.id);
  const http = clientOf(answer);
  expect((await http.get(`/v1/auth/${project.id}/user`)).status).toBe(200);
  const { refresh_token } = answer.body;
  const renewed = await guest.post(`${base}/token?grant_type=refresh_token`, { refresh_token });
  expect(renewed.body.user.id).toBe(answer.body.user.id);
});

it('signs up with a password, which is valid once the phone is confirmed', async () => {
  const [phone, password] = [newPhone(), 'correct horse'];
  const asked = await guest.post(`${base}/signup`, { phone, password, data: { theme: 'dark' } });
  expect([asked.status, asked.body.session, asked.body.phone]).toEqual([200, undefined, phone.slice(1)]);
  const byPassword = (given: string) =>
    guest.post(`${base}/token?grant_type=password`, { phone, password: given });
  expect((await byPassword(password)).body.error_code).toBe('invalid_credentials');
  expect((await guest.post(`${base}/resend`, { type: 'sms', phone })).status).toBe(200);
  const [first = '', second = ''] = await messagesTo(phone);
  if (first !== second) expect((await verify(phone, first)).status).not.toBe(200);
  const { body } = await verify(phone, second);
  expect(body.user.user_metadata).toEqual({ theme: 'dark' });
  expect((await byPassword('wrong')).body.error_code).toBe('invalid_credentials');
  expect((await byPassword(password)).body.user.id).toBe(body.user.id);
  const again = await guest.post(`${base}/signup`, { phone, password: 'of somebody else' });
  expect(Object.keys(again.body).toSorted()).toEqual(Object.keys(asked.body).toSorted());
  expect((await verify(phone, await lastTo(phone))).body.user.id).toBe(body.user.id);
  expect((await byPassword('of somebody else')).status).toBe(400);
});

it('drops the password of a stranger who signs up with the phone, also after its owner signed up', async () => {
  const [phone, password] = [newPhone(), 'of the stranger'];
  const stranger = guest.with({ 'x-forwarded-for': '198.51.100.9' });
  await guest.post(`${base}/signup`, { phone, password: 'of the owner' });
  await stranger.post(`${base}/signup`, { phone, password });
  await guest.post(`${base}/resend`, { type: 'sms', phone });
  expect((await verify(phone, await lastTo(phone))).status).toBe(200);
  const answer = await guest.post(`${base}/token?grant_type=password`, { phone, password });
  expect([answer.status, answer.body.error_code]).toEqual([400, 'invalid_credentials']);
});

it('changes the phone with a code, and refuses the phone of another user', async () => {
  const user = await project.signUp();
  const [phone, taken] = [newPhone(), newPhone()];
  await signIn(taken);
  expect((await user.http.put(`${base}/user`, { phone })).body.phone).toBe('');
  const changed = await verify(phone, await lastTo(phone), 'phone_change');
  expect(changed.body.user).toMatchObject({ id: user.id, phone: phone.slice(1), email: user.email });
  expect((await signIn(phone)).body.user.id).toBe(user.id);
  await user.http.put(`${base}/user`, { phone: taken });
  const refused = await verify(taken, await lastTo(taken), 'phone_change');
  expect([refused.status, refused.body.error_code]).toEqual([422, 'phone_exists']);
});

it('removes a phone from an account when somebody else confirms its address', async () => {
  const { id, email, http } = await project.signUp();
  const phone = newPhone();
  await http.put(`${base}/user`, { phone });
  await verify(phone, await lastTo(phone), 'phone_change');
  const link = await project.service.post(`${base}/admin/generate_link`, { type: 'magiclink', email });
  const proved = await guest.post(`${base}/verify`, {
    type: 'magiclink',
    token_hash: link.body.hashed_token,
  });
  expect(proved.body.user).toMatchObject({ id, phone: '' });
  expect((await signIn(phone)).body.user.id).not.toBe(id);
});

it('raises a session to aal2 with a phone as second factor', async () => {
  const { http } = await project.signUp();
  const phone = newPhone();
  const made = await http.post(`${base}/factors`, { factor_type: 'phone', phone, friendly_name: 'Mine' });
  expect(made.body).toEqual({
    id: expect.any(String),
    type: 'phone',
    friendly_name: 'Mine',
    phone: phone.slice(1),
  });
  const path = `${base}/factors/${made.body.id}`;
  const challenge = await http.post(`${path}/challenge`, {});
  expect(challenge.body).toMatchObject({ type: 'phone' });
  const code = await lastTo(phone);
  const wrong = await http.post(`${path}/verify`, { challenge_id: challenge.body.id, code: 'abcdef' });
  expect([wrong.status, wrong.body.error_code]).toEqual([422, 'mfa_verification_failed']);
  plinth.clock.move(30);
  const given = { challenge_id: challenge.body.id, code };
  const answer = await http.post(`${path}/verify`, given);
  expect(decode(answer.body.access_token)).toMatchObject({ aal: 'aal2', amr: [{ method: 'mfa/phone' }, {}] });
  expect(answer.body.user).toMatchObject({
    phone: '',
    factors: [{ factor_type: 'phone', status: 'verified' }],
  });
  expect((await clientOf(answer).post(`${path}/verify`, given)).body.error_code).toBe(
    'mfa_verification_failed',
  );
  const weak = await http.put(`${base}/user`, { phone: newPhone() });
  expect(weak.body.error_code).toBe('insufficient_aal');
});

describe('refuses', () => {
  it('codes that are wrong, used, old, of another phone or another purpose', async () => {
    const [phone, other] = [newPhone(), newPhone()];
    await guest.post(`${base}/otp`, { phone });
    const code = await lastTo(phone);
    for (const [number, type] of [
      [other, 'sms'],
      [phone, 'phone_change'],
    ] as const)
      expect((await verify(number, code, type)).body.error_code).toBe('otp_expired');
    const statuses = await Promise.all(Array.from({ length: 5 }, () => verify(phone, code)));
    expect(statuses.filter(({ status }) => status === 200)).toHaveLength(1);
    plinth.clock.move(3_600);
    await guest.post(`${base}/otp`, { phone });
    plinth.clock.move(601);
    expect((await verify(phone, await lastTo(phone))).body.error_code).toBe('otp_expired');
  });

  it('the right code after ten wrong guesses', async () => {
    const phone = newPhone();
    await guest.post(`${base}/otp`, { phone });
    const code = await lastTo(phone);
    await project.sql(`update auth.phone_codes set attempts = 10 where phone = '${phone.slice(1)}'`);
    expect((await verify(phone, code)).body.error_code).toBe('otp_expired');
  });

  it('too many messages to a phone, texts that are not phone numbers, and phones that the hook refuses', async () => {
    const phone = newPhone();
    const answers = [];
    for (let round = 0; round < 12; round += 1) answers.push(await guest.post(`${base}/otp`, { phone }));
    expect(answers.map(({ status }) => status)).toContain(429);
    expect((await messagesTo(phone)).length).toBeLessThan(12);
    for (const text of ['x', '+0123', '+49151x', '+491511234567890123'])
      expect((await guest.post(`${base}/otp`, { phone: text })).status).toBe(400);
    const refused = await guest.post(`${base}/otp`, { phone: '+4900000000' });
    expect([refused.status, refused.body.msg]).toEqual([403, 'Not this phone']);
  });

  it('more messages than the project sends in an hour, a quarter of them for one client address', async () => {
    const sms_per_hour = 8;
    const path = `/admin/v1/projects/${project.id}`;
    await plinth.admin.patch(path, { settings: { sms_per_hour } });
    plinth.clock.move(3_601);
    const { http } = await project.signUp();
    const ask = (client: HttpClient, ip: string): Promise<HttpAnswer> =>
      client.with({ 'x-forwarded-for': ip }).post(`${base}/otp`, { phone: newPhone() });
    const statuses: number[] = [];
    for (const last of [1, 1, 1, 2, 2, 2, 3, 3, 4])
      statuses.push((await ask(guest, `198.51.100.${last}`)).status);
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429, 200, 200, 200]);
    // A signed-in user with phones of others as factors, or with a new phone, is counted as well.
    const own = http.with({ 'x-forwarded-for': '198.51.100.5' });
    const made = await own.post(`${base}/factors`, { factor_type: 'phone', phone: newPhone() });
    expect((await own.post(`${base}/factors/${made.body.id}/challenge`, {})).status).toBe(200);
    for (const answer of [
      await own.post(`${base}/factors/${made.body.id}/challenge`, {}),
      await own.put(`${base}/user`, { phone: newPhone() }),
      await guest
        .with({ 'x-forwarded-for': '198.51.100.6' })
        .post(`${base}/resend`, { type: 'sms', phone: newPhone() }),
      await ask(guest, '198.51.100.7'),
    ])
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
    plinth.clock.move(3_601);
    expect((await ask(guest, '198.51.100.1')).status).toBe(200);
    await plinth.admin.patch(path, { settings: SETTINGS });
  });

  it('phones if no hook sends messages', async () => {
    const plain = await plinth.createProject();
    const { http } = await plain.signUp();
    for (const answer of [
      await guestOf(plain).post(`${gotrue(plain)}/otp`, { phone: newPhone() }),
      await guestOf(plain).post(`${gotrue(plain)}/signup`, { phone: newPhone(), password: 'correct horse' }),
      await http.put(`${gotrue(plain)}/user`, { phone: newPhone() }),
      await http.post(`${gotrue(plain)}/factors`, { factor_type: 'phone', phone: newPhone() }),
    ])
      expect([answer.status, answer.body.error_code]).toEqual([400, 'phone_provider_disabled']);
  });

  it('to reveal whether a phone has an account if sign-up is disabled', async () => {
    const known = newPhone();
    await signIn(known);
    const unknown = newPhone();
    for (const phone of [known, unknown]) {
      const asked = await guest.post(`${base}/otp`, { phone, create_user: false });
      expect([asked.status, asked.body]).toEqual([200, {}]);
      expect((await verify(phone, '000000')).body.error_code).toBe('otp_expired');
    }
    expect(await messagesTo(unknown)).toEqual([]);
    const failures = await project.sql(
      `select count(*)::int as count from auth.audit_log where action = 'sign_in_failed' and user_id is null`,
    );
    // Writing a row for only one of the phones would change the response time.
    expect(failures[0].count).toBeGreaterThanOrEqual(2);
  });

  it('to reveal by the number of messages whether a phone has an account', async () => {
    const known = newPhone();
    await signIn(known);
    const statuses: number[][] = [];
    for (const phone of [known, newPhone()]) {
      plinth.clock.move(4_000);
      const asked: number[] = [];
      for (let n = 0; n < 12; n += 1)
        asked.push((await guest.post(`${base}/otp`, { phone, create_user: false })).status);
      asked.push((await guest.post(`${base}/otp`, { phone })).status);
      statuses.push(asked);
    }
    expect(statuses[0]).toEqual(statuses[1]);
    expect(statuses[0]).toContain(429);
  });
});
