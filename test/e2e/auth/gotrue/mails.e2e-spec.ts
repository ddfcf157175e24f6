/** GoTrue's paths: codes and links by mail, their page, and PKCE. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { decode, type JwtPayload } from 'jsonwebtoken';
import { gotrue, guestOf, mailTo, pressButton } from '../../../support/gotrue';
import { HttpClient } from '../../../support/http-client';
import { MailServer } from '../../../support/mail-server';
import { TestPlinth } from '../../../support/plinth';
import { TestProject } from '../../../support/test-project';

const SITE = 'https://app.example.com/';
const PASSWORD = 'correct horse';

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;
let base: string;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({
    env: {
      SMTP_URL: smtp.url,
      AUTH_REQUESTS_PER_MINUTE: '10000',
      AUTH_FAILURES_PER_ADDRESS: '1000',
      TRUST_PROXY: '1',
    },
  });
  project = await plinth.createProject({
    settings: { site_url: SITE, redirect_urls: ['https://*.preview.example.com/**', 'myapp://callback'] },
  });
  guest = guestOf(project);
  base = gotrue(project);
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

const from = (n: number): HttpClient => guest.with({ 'x-forwarded-for': `203.0.113.${n}` });
const address = (): string => `user-${randomUUID()}@example.com`;
const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

async function asked(body: object = {}, query = '', email = address()) {
  const answer = await guest.post(`${base}/otp${query}`, { email, ...body });
  expect([answer.status, answer.body]).toEqual([200, {}]);
  return { email, ...(await mailTo(smtp, email)) };
}

describe('a code by mail', () => {
  it('creates an account and signs it in, once', async () => {
    const { email, code } = await asked({ data: { theme: 'dark' } });
    const verify = () => guest.post(`${base}/verify`, { type: 'email', email, token: code });
    const answer = await verify();
    expect(answer.status).toBe(200);
    expect(answer.body.user).toMatchObject({
      email,
      email_confirmed_at: expect.any(String),
      user_metadata: { theme: 'dark' },
    });
    expect((decode(answer.body.access_token) as JwtPayload).amr).toMatchObject([{ method: 'otp' }]);
    const again = await verify();
    expect([again.status, again.body.error_code]).toEqual([403, 'otp_expired']);
  });

  it('does not work for another address, type or project', async () => {
    const { email, code } = await asked();
    const other = await plinth.createProject({ settings: { site_url: SITE } });
    const attempts = [
      guest.post(`${base}/verify`, { type: 'email', email: address(), token: code }),
      guest.post(`${base}/verify`, { type: 'recovery', email, token: code }),
      guestOf(other).post(`${gotrue(other)}/verify`, { type: 'email', email, token: code }),
    ];
    for (const answer of await Promise.all(attempts)) expect(answer.body.error_code).toBe('otp_expired');
    expect((await guest.post(`${base}/verify`, { type: 'magiclink', email, token: code })).status).toBe(200);
  });

  it('is invalid after ten wrong guesses from as many addresses, while the link still works', async () => {
    const { email, code, token } = await asked();
    const wrong = code === '000000' ? '111111' : '000000';
    for (let n = 0; n < 10; n += 1) {
      plinth.clock.move(1_000);
      await project.sql(`update auth.mailed_tokens set expires_at = expires_at + interval '1000 seconds'`);
      const answer = await from(n).post(`${base}/verify`, { type: 'email', email, token: wrong });
      expect([answer.status, answer.body.error_code]).toEqual([403, 'otp_expired']);
    }
    plinth.clock.move(1_000);
    await project.sql(`update auth.mailed_tokens set expires_at = expires_at + interval '1000 seconds'`);
    const right = await guest.post(`${base}/verify`, { type: 'email', email, token: code });
    expect(right.body.error_code).toBe('otp_expired');
    const link = await guest.post(`${base}/verify`, { type: 'magiclink', token_hash: token });
    expect(link.status).toBe(200);
  });

  it('of simultaneous guesses from as many addresses, at most ten are compared, and the account waits', async () => {
    const { email } = await asked();
    const guesses = Array.from({ length: 30 }, (_each, n) =>
      from(n).post(`${base}/verify`, { type: 'email', email, token: String(n).padStart(6, '9') }),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    const [{ code_attempts: compared }] = await project.sql(
      `select code_attempts from auth.mailed_tokens where email = '${email}'`,
    );
    expect(compared).toBeLessThanOrEqual(10);
  });

  it('is stored as a hash that cannot be computed from the code alone', async () => {
    const { email, code } = await asked();
    const [{ hash }] = await project.sql(
      `select encode(code_hash, 'hex') as hash from auth.mailed_tokens where email = '${email}'`,
    );
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(hash).not.toBe(createHash('sha256').update(code).digest('hex'));
  });

  it('of a newer mail replaces the older one', async () => {
    const { email, code } = await asked();
    expect((await guest.post(`${base}/otp`, { email })).status).toBe(200);
    const newer = await mailTo(smtp, email, 2);
    if (newer.code !== code) {
      const old = await guest.post(`${base}/verify`, { type: 'email', email, token: code });
      expect(old.body.error_code).toBe('otp_expired');
    }
    expect((await guest.post(`${base}/verify`, { type: 'email', email, token: newer.code })).status).toBe(
      200,
    );
  });
});

describe('a link by mail', () => {
  it('shows a page whose button leads to the application; GET and HEAD do not use up the link', async () => {
    const link = await asked({}, `?redirect_to=${encodeURIComponent('https://a.preview.example.com/x?y=1')}`);
    expect(link.url.origin + link.url.pathname).toBe(`http://plinth.test${base}/verify`);
    const page = `${link.url.pathname}${link.url.search}`;
    for (const method of ['GET', 'HEAD', 'GET']) {
      const answer = await project.client(null, null).unchecked().send(method, page);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-security-policy')).toContain(
        `form-action 'self' https://a.preview.example.com`,
      );
    }
    const answer = await pressButton(project, link);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([303, 'no-store']);
    const target = new URL(answer.headers.get('location') ?? '');
    expect(target.origin + target.pathname + target.search).toBe('https://a.preview.example.com/x?y=1');
    const fragment = new URLSearchParams(target.hash.slice(1));
    expect(fragment.get('type')).toBe('magiclink');
    const user = project.client(project.anonKey, fragment.get('access_token'));
    expect((await user.get(`${base}/user`)).body.email).toBe(link.email);
    const again = new URL((await pressButton(project, link)).headers.get('location') ?? '');
    expect(again.hash).toContain('error_code=otp_expired');
    expect(again.hash).not.toContain('access_token');
  });

  it.each([
    'https://evil.example/',
    'https://a.preview.example.com.evil.example/',
    'https://a.b.preview.example.com/x',
    'https://2130706433/.preview.example.com/',
    'https://app.example.com@evil.example/',
    'https://app.example.com\\@evil.example/',
    'http://app.example.com/',
    'javascript:alert(1)//https://app.example.com/',
    'data:text/html,x',
    '//evil.example/',
    '/relative',
    'myapp://other',
  ])('never leads to %s', async (wanted) => {
    const link = await asked({}, `?redirect_to=${encodeURIComponent(wanted)}`);
    expect(link.url.searchParams.get('redirect_to')).toBe(SITE);
    // Anybody can change the link and send the form.
    const changed = new URL(link.url);
    changed.searchParams.set('redirect_to', wanted);
    const page = await project.client(null, null).unchecked().get(`${changed.pathname}${changed.search}`);
    expect(page.text).not.toContain('evil');
    const answer = await pressButton(project, link, { redirect_to: wanted });
    expect(answer.headers.get('location')).toMatch(/^https:\/\/app\.example\.com\/#access_token=/);
  });

  it('may lead to an application with a custom URL scheme', async () => {
    const link = await asked({}, `?redirect_to=${encodeURIComponent('myapp://callback')}`);
    const answer = await pressButton(project, link);
    expect(answer.headers.get('location')).toMatch(/^myapp:\/\/callback#access_token=/);
  });

  it('confirms the sign-in on its page if the project has no site_url', async () => {
    const homeless = await plinth.createProject({ settings: { magic_link_enabled: true } });
    const email = address();
    await guestOf(homeless).post(`${gotrue(homeless)}/otp?redirect_to=https://evil.example/`, { email });
    const link = await mailTo(smtp, email);
    const answer = await pressButton(homeless, link, { redirect_to: 'https://evil.example/' });
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
    expect(answer.text).toContain('You are signed in');
    expect(answer.text).not.toContain('eyJ');
  });
});

describe('PKCE', () => {
  const begin = async (method = 's256') => {
    const verifier = randomBytes(48).toString('base64url');
    const challenge = method === 'plain' ? verifier : challengeOf(verifier);
    const link = await asked({ code_challenge: challenge, code_challenge_method: method });
    return { verifier, link };
  };
  const codeOf = async (link: Parameters<typeof pressButton>[1]): Promise<string> => {
    const answer = await pressButton(project, link);
    const target = new URL(answer.headers.get('location') ?? '');
    expect(target.hash).toBe('');
    return target.searchParams.get('code') ?? '';
  };
  const exchange = (code: string, verifier: string, to = project) =>
    guestOf(to).post(`${gotrue(to)}/token?grant_type=pkce`, { auth_code: code, code_verifier: verifier });

  it.each(['s256', 'plain'])(
    'redirects with a code that only the verifier can exchange for a session (%s)',
    async (method) => {
      const { verifier, link } = await begin(method);
      const code = await codeOf(link);
      const answer = await exchange(code, verifier);
      expect(answer.status).toBe(200);
      expect((decode(answer.body.access_token) as JwtPayload).amr).toMatchObject([{ method: 'magiclink' }]);
      expect((await exchange(code, verifier)).body.error_code).toBe('flow_state_not_found');
    },
  );

  it('uses up a code that comes with a wrong verifier', async () => {
    const { verifier, link } = await begin();
    const code = await codeOf(link);
    expect((await exchange(code, 'x'.repeat(43))).body.error_code).toBe('bad_code_verifier');
    expect((await exchange(code, verifier)).body.error_code).toBe('flow_state_not_found');
  });

  it('refuses the verifier of another request, the challenge as verifier, and another project', async () => {
    const [one, two] = [await begin(), await begin()];
    expect((await exchange(await codeOf(one.link), two.verifier)).body.error_code).toBe('bad_code_verifier');
    expect((await exchange(await codeOf(two.link), challengeOf(two.verifier))).body.error_code).toBe(
      'bad_code_verifier',
    );
    const three = await begin();
    const other = await plinth.createProject();
    const code = await codeOf(three.link);
    expect((await exchange(code, three.verifier, other)).body.error_code).toBe('flow_state_not_found');
  });

  it('is valid for five minutes', async () => {
    const { verifier, link } = await begin();
    const code = await codeOf(link);
    plinth.clock.move(301);
    expect((await exchange(code, verifier)).body.error_code).toBe('flow_state_not_found');
  });

  it.each([
    [{ code_challenge: 'x'.repeat(43) }],
    [{ code_challenge_method: 's256' }],
    [{ code_challenge: 'short', code_challenge_method: 's256' }],
    [{ code_challenge: 'x'.repeat(43), code_challenge_method: 'md5' }],
  ])('refuses %j', async (body) => {
    const answer = await guest.unchecked().post(`${base}/otp`, { email: address(), ...body });
    expect([answer.status, answer.body.error_code]).toEqual([400, 'validation_failed']);
  });
});

describe('the password', () => {
  it('is set again after the link of a mail of /recover', async () => {
    const { email } = await project.signUp(address());
    expect((await guest.post(`${base}/recover`, { email })).body).toEqual({});
    const { code, url } = await mailTo(smtp, email);
    expect(url.searchParams.get('type')).toBe('recovery');
    const session = await guest.post(`${base}/verify`, { type: 'recovery', email, token: code });
    expect(session.status).toBe(200);
    const user = project.client(project.anonKey, session.body.access_token);
    expect((await user.put(`${base}/user`, { password: 'another horse' })).status).toBe(200);
    const login = await guest.post(`${project.auth}/login`, { email, password: 'another horse' });
    expect(login.status).toBe(200);
  });

  it('that a stranger chose for an address ends when its owner signs in by mail', async () => {
    const email = address();
    const stranger = await project.signUp(email, 'chosen by a stranger');
    const { code } = await asked({}, '', email);
    expect((await guest.post(`${base}/verify`, { type: 'email', email, token: code })).status).toBe(200);
    expect((await stranger.http.get(`${base}/user`)).body.error_code).toBe('session_not_found');
    const login = await guest.post(`${base}/token?grant_type=password`, {
      email,
      password: 'chosen by a stranger',
    });
    expect(login.body.error_code).toBe('invalid_credentials');
  });

  it('is kept when the owner of a verified address signs in by mail', async () => {
    const { email } = await asked().then(async (link) => {
      await guest.post(`${base}/verify`, { type: 'email', email: link.email, token: link.code });
      return link;
    });
    const [{ id }] = await project.sql(`select id from auth.users where email = '${email}'`);
    await project.service.put(`${base}/admin/users/${id}`, { password: PASSWORD });
    await guest.post(`${base}/otp`, { email });
    const { code } = await mailTo(smtp, email, 2);
    expect((await guest.post(`${base}/verify`, { type: 'email', email, token: code })).status).toBe(200);
    const login = await guest.post(`${base}/token?grant_type=password`, { email, password: PASSWORD });
    expect(login.status).toBe(200);
  });

  it('is changed in an old session with the code of /reauthenticate, once', async () => {
    const { http, email } = await project.signUp(address());
    expect((await http.get(`${base}/reauthenticate`)).status).toBe(200);
    const { code } = await mailTo(smtp, email);
    const change = (password: string) => http.put(`${base}/user`, { password, nonce: code });
    expect((await change('another horse')).status).toBe(200);
    expect((await change('a third horse')).body.error_code).toBe('reauthentication_not_valid');
    const asSignIn = await guest.post(`${base}/verify`, { type: 'email', email, token: code });
    expect(asSignIn.body.error_code).toBe('otp_expired');
  });
});

describe('a sign-up that must be verified', () => {
  let strict: TestProject;
  let client: HttpClient;
  let path: string;

  beforeAll(async () => {
    strict = await plinth.createProject({ settings: { site_url: SITE, email_verification_required: true } });
    client = guestOf(strict);
    path = gotrue(strict);
  });

  it('answers with only the user, and the code of the mail signs in and keeps the password', async () => {
    const email = address();
    const begun = await client.post(`${path}/signup`, { email, password: PASSWORD });
    expect(begun.body).toMatchObject({ email, confirmation_sent_at: expect.any(String) });
    expect(begun.body).not.toHaveProperty('access_token');
    expect(begun.body).not.toHaveProperty('email_confirmed_at');
    const { code } = await mailTo(smtp, email);
    expect((await client.post(`${path}/verify`, { type: 'signup', email, token: code })).status).toBe(200);
    const login = await client.post(`${path}/token?grant_type=password`, { email, password: PASSWORD });
    expect(login.status).toBe(200);
  });

  it('answers alike for a taken address, and sends it nothing', async () => {
    const email = address();
    const first = await client.post(`${path}/signup`, { email, password: PASSWORD, data: { a: 1 } });
    await mailTo(smtp, email);
    const second = await client.post(`${path}/signup`, { email, password: 'another horse', data: { a: 1 } });
    expect([second.status, Object.keys(second.body).sort()]).toEqual([200, Object.keys(first.body).sort()]);
    expect(second.body.id).not.toBe(first.body.id);
    expect(smtp.to(email)).toHaveLength(1);
  });

  it('mails again by /resend, with one answer for every address', async () => {
    const email = address();
    await client.post(`${path}/signup`, { email, password: PASSWORD });
    await mailTo(smtp, email);
    const known = await client.post(`${path}/resend`, { type: 'signup', email });
    const unknown = await client.post(`${path}/resend`, { type: 'signup', email: address() });
    expect([known.status, known.text]).toEqual([unknown.status, unknown.text]);
    const { token } = await mailTo(smtp, email, 2);
    const answer = await client.post(`${path}/verify`, { type: 'signup', token_hash: token });
    expect(answer.status).toBe(200);
  });
});

it('answers alike to /otp and /recover for known and unknown addresses, with and without create_user', async () => {
  const { email } = await project.signUp(address());
  for (const path of ['otp', 'magiclink', 'recover']) {
    for (const extra of [{}, { create_user: false }]) {
      const known = await guest.unchecked().post(`${base}/${path}`, { email, ...extra });
      const unknown = await guest.unchecked().post(`${base}/${path}`, { email: address(), ...extra });
      if (known.status === 429) continue;
      expect([known.status, known.text]).toEqual([unknown.status, unknown.text]);
    }
  }
});

it('limits the mails to one address', async () => {
  const email = address();
  const statuses: number[] = [];
  for (let n = 0; n < 12; n += 1) statuses.push((await guest.post(`${base}/recover`, { email })).status);
  expect(statuses).toContain(429);
  const limited = await guest.post(`${base}/otp`, { email });
  expect(limited.body.error_code).toBe('over_email_send_rate_limit');
});

it.each([
  [{ type: 'email', email: 'a@example.com' }, 400, 'validation_failed'],
  [{ type: 'email', email: 'a@example.com', token: '1', token_hash: 'x' }, 400, 'validation_failed'],
  [{ type: 'email', token: '123456' }, 400, 'validation_failed'],
  [{ type: 'sms', phone: '15551234567', token: '123456' }, 403, 'otp_expired'],
  [{ type: 'sms', phone: '15-invalid', token: '123456' }, 400, 'validation_failed'],
  [{ type: 'email', token_hash: 'x' }, 403, 'otp_expired'],
])('POST /verify refuses %j', async (body, status, code) => {
  const answer = await guest.post(`${base}/verify`, body);
  expect([answer.status, answer.body.error_code]).toEqual([status, code]);
});
