/** Changes to a user's own account, and verification of addresses (DECISIONS.md 4). */
import { randomUUID } from 'node:crypto';
import { HttpClient } from '../../support/http-client';
import { linkIn, MailServer, tokenIn } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { TestProject, TestUser } from '../../support/test-project';

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url } });
  plinth.clock.hold();
  project = await plinth.createProject();
  guest = project.client(project.anonKey, null);
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

const address = (): string => `user-${randomUUID()}@example.com`;
const change = (user: TestUser, body: unknown) => user.http.patch(`${project.auth}/user`, body);
const signInStatus = async (email: string, password: string) =>
  (await guest.post(`${project.auth}/login`, { email, password })).status;
const verifyEmail = (token: string) => guest.post(`${project.auth}/verify-email`, { token });

describe('PATCH /user', () => {
  it('changes name and data and answers the user', async () => {
    const user = await project.signUp();
    const answer = await change(user, { name: 'Ada', data: { theme: 'dark' } });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      user: { id: user.id, email: user.email, name: 'Ada', data: { theme: 'dark' } },
    });
    expect((await user.http.get(`${project.auth}/user`)).body).toEqual(answer.body);
  });

  it('keeps data unchanged, including names such as __proto__', async () => {
    const user = await project.signUp();
    const data = '{"a":[{"constructor":{"b":1}}],"toString":3,"__proto__":{"a":1},"constructor":2}';
    const mine = await user.http.send('PATCH', `${project.auth}/user`, { body: `{"data":${data}}` });
    expect(JSON.stringify(mine.body.user.data)).toBe(data);
    const path = `${project.auth}/admin/users/${user.id}`;
    const changed = await project.service.send('PATCH', path, { body: `{"data":${data}}` });
    expect(JSON.stringify(changed.body.user.data)).toBe(data);
  });

  it('ignores fields that only administrators may change', async () => {
    const user = await project.signUp();
    const id = randomUUID();
    const answer = await user.http.unchecked().patch(`${project.auth}/user`, {
      id,
      role: 'service_role',
      banned_until: '2000-01-01',
      email_verified: true,
      email_verified_at: '2020-01-01',
      encrypted_password: 'x',
      password_hash: 'x',
      name: 'Ada',
    });
    expect(answer.body.user.id).toBe(user.id);
    const { body } = await project.service.get(`${project.auth}/admin/users/${user.id}`);
    expect(body.user).toMatchObject({ id: user.id, banned_until: null, email_verified_at: null });
    expect(await signInStatus(user.email, user.password)).toBe(200);
  });

  it.each([
    ['an empty name', { name: '' }],
    ['a name that is a number', { name: 7 }],
    ['data that is a list', { data: [1] }],
    ['data with NUL', { data: { a: 'x\0' } }],
    ['a malformed email', { email: 'nonsense' }],
    ['a new password without the old one', { password: 'a new password' }],
    ['a short password', { password: '12345', current_password: 'correct horse' }],
  ])('answers 400 for %s', async (_what, body) => {
    const answer = await change(await project.signUp(), body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ detail: expect.any(String), status_code: 400 });
  });

  it('sets a new password with the old one, and ends all other sessions', async () => {
    const user = await project.signUp();
    const other = (await guest.post(`${project.auth}/login`, { email: user.email, password: user.password }))
      .body.session;
    const body = { password: 'a new password', current_password: user.password };
    expect((await change(user, body)).status).toBe(200);
    expect(await signInStatus(user.email, user.password)).toBe(401);
    expect(await signInStatus(user.email, 'a new password')).toBe(200);
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(200);
    const others = project.client(project.anonKey, other.access_token);
    expect((await others.get(`${project.auth}/user`)).status).toBe(401);
  });

  it('refuses a new password with a wrong old one: 403, nothing changes', async () => {
    const user = await project.signUp();
    const body = { password: 'a new password', current_password: 'wrong', name: 'Changed' };
    expect((await change(user, body)).status).toBe(403);
    expect(await signInStatus(user.email, user.password)).toBe(200);
    expect((await user.http.get(`${project.auth}/user`)).body.user.name).not.toBe('Changed');
  });

  it('delays guesses of the old password as at sign-in', async () => {
    const user = await project.signUp();
    const statuses = [];
    for (let n = 0; n < 12; n += 1) {
      const answer = await change(user, { password: 'a new password', current_password: `guess ${n}` });
      statuses.push(answer.status);
    }
    expect(statuses.slice(0, 10)).toEqual(Array<number>(10).fill(403));
    expect(statuses.slice(10)).toEqual([429, 429]);
  });
});

describe('a new e-mail address', () => {
  it('takes effect when its mailed token is confirmed; the old address is notified before', async () => {
    const user = await project.signUp();
    const email = address();
    const answer = await change(user, { email });
    expect([answer.status, answer.body.user.email]).toEqual([200, user.email]);
    const mail = await smtp.mailTo(email);
    const notice = await smtp.mailTo(user.email);
    expect(notice.text).toContain(email);
    expect(() => tokenIn(notice)).toThrow();
    expect(await signInStatus(email, user.password)).toBe(401);
    expect((await verifyEmail(tokenIn(mail))).status).toBe(200);
    expect(await signInStatus(email, user.password)).toBe(200);
    expect(await signInStatus(user.email, user.password)).toBe(401);
    expect((await user.http.get(`${project.auth}/user`)).body.user.email).toBe(email);
  });

  it('is refused when it is taken: 400, immediately or when it is confirmed', async () => {
    const [user, other] = [await project.signUp(), await project.signUp()];
    expect((await change(user, { email: other.email.toUpperCase() })).status).toBe(400);
    const email = address();
    await change(user, { email });
    const token = tokenIn(await smtp.mailTo(email));
    await project.signUp(email);
    expect((await verifyEmail(token)).status).toBe(400);
    expect((await user.http.get(`${project.auth}/user`)).body.user.email).toBe(user.email);
  });

  it('receives no token before the old address is notified', async () => {
    const user = await project.signUp();
    await project.sql(`
      create function public.refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before insert on auth.outgoing_mails for each row
        when (new.kind = 'email_change_notice') execute function public.refuse()`);
    expect((await change(user, { email: address() })).status).toBeGreaterThanOrEqual(400);
    await project.sql('drop trigger refuse on auth.outgoing_mails');
    expect(await project.sql(`select kind from auth.mailed_tokens where user_id = '${user.id}'`)).toEqual([]);
  });

  it('that has received too many mails is refused without a change: 429', async () => {
    const user = await project.signUp();
    const email = address();
    for (let n = 0; n < 10; n += 1) await guest.post(`${project.auth}/reset-password`, { email });
    const body = { email, password: 'a new password', current_password: user.password };
    expect((await change(user, body)).status).toBe(429);
    expect(await signInStatus(user.email, user.password)).toBe(200);
  });

  it('reveals only for a few addresses whether they have an account, and then answers 429', async () => {
    const [user, other] = [await project.signUp(), await project.signUp()];
    const statuses: number[] = [];
    for (let n = 0; n < 12; n += 1) statuses.push((await change(user, { email: other.email })).status);
    expect(statuses).toEqual([...Array<number>(10).fill(400), 429, 429]);
  });

  it('replaces one that was requested earlier', async () => {
    const user = await project.signUp();
    const [first, second] = [address(), address()];
    await change(user, { email: first });
    const spent = tokenIn(await smtp.mailTo(first));
    await change(user, { email: second });
    await smtp.mailTo(second);
    expect((await verifyEmail(spent)).status).toBe(401);
  });
});

describe('POST /verify-email and POST /resend-verification', () => {
  it('verifies the address with a mailed token, once', async () => {
    const user = await project.signUp();
    const answer = await guest.post(`${project.auth}/resend-verification`, { email: user.email });
    expect([answer.status, answer.body]).toEqual([200, { message: expect.any(String) }]);
    const mail = await smtp.mailTo(user.email);
    expect(linkIn(mail).pathname).toBe(`${project.auth}/verify`);
    const token = tokenIn(mail);
    expect((await plinth.http.get(`${project.auth}/verify?token=${token}`)).status).toBe(200);
    expect((await verifyEmail(token)).body).toEqual({ message: expect.any(String) });
    const { body } = await project.service.get(`${project.auth}/admin/users/${user.id}`);
    expect(body.user.email_verified_at).toEqual(expect.any(String));
    expect((await verifyEmail(token)).status).toBe(401);
  });

  it('answers the same for unknown and for verified addresses, and sends them nothing', async () => {
    const user = await project.signUp();
    await project.service.patch(`${project.auth}/admin/users/${user.id}`, { email_verified: true });
    const [known, unknown] = [user.email, address()];
    const answers = [];
    for (const email of [known, unknown]) {
      answers.push((await guest.post(`${project.auth}/resend-verification`, { email })).text);
    }
    expect(answers[0]).toBe(answers[1]);
    const marker = await project.signUp();
    await guest.post(`${project.auth}/resend-verification`, { email: marker.email });
    await smtp.mailTo(marker.email);
    expect([...smtp.to(known), ...smtp.to(unknown)]).toEqual([]);
  });

  it('accepts no reset token for verification, nor the reverse', async () => {
    const user = await project.signUp();
    await guest.post(`${project.auth}/reset-password`, { email: user.email });
    const reset = tokenIn(await smtp.mailTo(user.email));
    expect((await verifyEmail(reset)).status).toBe(401);
    await guest.post(`${project.auth}/resend-verification`, { email: user.email });
    const verify = tokenIn(await smtp.mailTo(user.email, 2));
    const update = { token: verify, password: 'a new password' };
    expect((await guest.post(`${project.auth}/update-password`, update)).status).toBe(401);
  });

  it('sends no mail at sign-up unless the project requires verified addresses', async () => {
    const user = await project.signUp();
    const marker = await project.signUp();
    await guest.post(`${project.auth}/resend-verification`, { email: marker.email });
    await smtp.mailTo(marker.email);
    expect(smtp.to(user.email)).toEqual([]);
  });
});

describe('a project that requires verified addresses', () => {
  it('begins no session before the address is verified, and reveals this only for the right password', async () => {
    const strict = await plinth.createProject({ settings: { email_verification_required: true } });
    const client = strict.client(strict.anonKey, null);
    const email = address();
    const signIn = (password: string) => client.post(`${strict.auth}/login`, { email, password });
    const signUp = await client.post(`${strict.auth}/signup`, { email, password: 'secret' });
    expect([signUp.status, signUp.body.user.email, signUp.body.session]).toEqual([201, email, null]);
    expect((await signIn('wrong one')).status).toBe(401);
    expect((await signIn('secret')).status).toBe(403);
    const token = tokenIn(await smtp.mailTo(email));
    await client.post(`${strict.auth}/verify-email`, { token });
    expect((await signIn('secret')).status).toBe(200);
    expect((await client.post(`${strict.auth}/signup`, { email, password: 'secret' })).status).toBe(400);
  });
});
