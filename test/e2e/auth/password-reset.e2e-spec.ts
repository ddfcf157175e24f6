/** The two-step password reset over real SMTP (SPEC.md 3.2, 4.2, 6; DECISIONS.md 4). */
import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/eventually';
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
  plinth = await TestPlinth.start({
    env: { SMTP_URL: smtp.url, MAIL_FROM: 'Acme <no-reply@acme.example>' },
    tuning: { mailRetryDelayMs: 1_000 },
  });
  project = await plinth.createProject({ name: 'Acme & Sons' });
  guest = project.client(project.anonKey, null);
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

const reset = (email: string) => guest.post(`${project.auth}/reset-password`, { email });
const update = (token: string, password: string) =>
  guest.post(`${project.auth}/update-password`, { token, password });
const signInStatus = async (user: Pick<TestUser, 'email'>, password: string) =>
  (await guest.post(`${project.auth}/login`, { email: user.email, password })).status;

async function mailedToken(user: TestUser, nth = 1): Promise<string> {
  await reset(user.email);
  return tokenIn(await smtp.mailTo(user.email, nth));
}

describe('POST /reset-password', () => {
  it('answers 200 with a message and sends a mail with a token to the user', async () => {
    const user = await project.signUp();
    const answer = await reset(user.email);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ message: expect.any(String) });
    const mail = await smtp.mailTo(user.email);
    expect(mail.recipients).toEqual([user.email]);
    expect(mail.from?.text).toBe('"Acme" <no-reply@acme.example>');
    expect(mail.subject).toBe('Reset your password for Acme & Sons');
    expect(tokenIn(mail)).toMatch(/^[\w-]{43}$/);
    expect(mail.html).toContain('Acme &amp; Sons');
    expect(mail.html).toContain(`token=${tokenIn(mail)}`);
  });

  it('answers the same for an unknown address and sends no mail', async () => {
    const user = await project.signUp();
    const unknown = `nobody-${randomUUID()}@example.com`;
    const [known, other] = [await reset(user.email), await reset(unknown)];
    expect([other.status, other.text]).toEqual([known.status, known.text]);
    await smtp.mailTo(user.email);
    expect(smtp.to(unknown)).toEqual([]);
  });

  it("finds the account regardless of the address's case", async () => {
    const user = await project.signUp();
    await reset(user.email.toUpperCase());
    expect(tokenIn(await smtp.mailTo(user.email))).toBeTruthy();
  });

  it.each([
    ['no email', {}],
    ['no address', { email: 'nonsense' }],
    ['a list', { email: ['a@example.com'] }],
  ])('answers 400 for %s', async (_what, body) => {
    const answer = await guest.post(`${project.auth}/reset-password`, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ detail: expect.any(String), status_code: 400 });
  });

  it('needs the apikey: 401', async () => {
    const answer = await plinth.http.post(`${project.auth}/reset-password`, { email: 'a@example.com' });
    expect([answer.status, answer.body.status_code]).toEqual([401, 401]);
  });

  it("stores only the token's hash, and deletes the sealed mail once it is sent", async () => {
    const user = await project.signUp();
    const token = await mailedToken(user);
    const dump = JSON.stringify([
      await project.sql(`select encode(token_hash, 'escape') h, t.* from auth.mailed_tokens t`),
      await project.sql('select * from auth.audit_log'),
      await project.sql('select * from auth.users'),
    ]);
    expect(dump).not.toContain(token);
    // The mail is marked as sent right after the server accepted it.
    await eventually(async () => {
      const rows = await project.sql(
        `select sealed, sent_at from auth.outgoing_mails where user_id = '${user.id}'`,
      );
      expect(rows).toEqual([{ sealed: null, sent_at: expect.anything() }]);
    });
  });

  it("makes links from PUBLIC_URL, not from the request's headers", async () => {
    const user = await project.signUp();
    await guest.post(
      `${project.auth}/reset-password`,
      { email: user.email },
      {
        headers: {
          'x-forwarded-host': 'evil.example',
          'x-forwarded-proto': 'https',
          forwarded: 'host=evil.example',
          'x-original-url': 'https://evil.example/',
          origin: 'https://evil.example',
          referer: 'https://evil.example/',
        },
      },
    );
    const mail = await smtp.mailTo(user.email);
    expect(linkIn(mail).href).toBe(`http://plinth.test/v1/auth/${project.id}/reset?token=${tokenIn(mail)}`);
    expect(`${mail.text} ${String(mail.html)}`).not.toContain('evil');
  });

  it('ignores an address for the link in the body', async () => {
    const user = await project.signUp();
    const redirects = {
      redirect_to: 'https://evil.example',
      redirectTo: 'https://evil.example',
      url: '//evil.example',
    };
    await guest.unchecked().post(`${project.auth}/reset-password`, { email: user.email, ...redirects });
    expect(linkIn(await smtp.mailTo(user.email)).host).toBe('plinth.test');
  });

  it("links to the project's own page when it has one", async () => {
    const own = await plinth.createProject({
      settings: { reset_redirect_url: 'https://app.acme.example/reset?lang=de' },
    });
    const user = await own.signUp();
    await own.client(own.anonKey, null).post(`${own.auth}/reset-password`, { email: user.email });
    const mail = await smtp.mailTo(user.email);
    expect(linkIn(mail).href).toBe(`https://app.acme.example/reset?lang=de&token=${tokenIn(mail)}`);
  });

  it("uses the project's own template, escapes user input, and falls back if the template fails", async () => {
    const own = await plinth.createProject({
      settings: {
        mail_templates: {
          reset: {
            subject: 'Hallo {{ name }}',
            text: 'Link: {{ link }}\n\n{{ token }}\n',
            html: '<b>{{ project }}</b> {{ email }} {{ link }}',
          },
        },
      },
    });
    const user = await own.signUp(`"<i>x</i>"-${randomUUID()}@example.com`.replaceAll(/["<>/]/g, ''));
    const client = own.client(own.anonKey, null);
    await client.post(`${own.auth}/reset-password`, { email: user.email });
    const mail = await smtp.mailTo(user.email);
    expect(mail.subject).toMatch(/^Hallo /);
    expect(mail.html).toContain('<b>Test</b>');
    const broken = await plinth.createProject({
      // Renders with the sample values of the validation, and fails with all others.
      settings: {
        mail_templates: {
          reset: { text: '{% if name != "Ada Lovelace" %}{% include "x" %}{% endif %}{{ token }}' },
        },
      },
    });
    const other = await broken.signUp();
    await broken.client(broken.anonKey, null).post(`${broken.auth}/reset-password`, { email: other.email });
    expect(tokenIn(await smtp.mailTo(other.email))).toBeTruthy();
  });

  it('omits a name that looks like a message or a link', async () => {
    const email = `ada-${randomUUID()}@example.com`;
    const name = 'You won! Go to https://evil.example now';
    await guest.post(`${project.auth}/signup`, { email, password: 'secret', name });
    await reset(email);
    const mail = await smtp.mailTo(email);
    expect(`${mail.text} ${String(mail.html)} ${mail.subject}`).not.toContain('evil');
  });
});

describe('POST /update-password', () => {
  it('answers 200 with a message and sets the new password', async () => {
    const user = await project.signUp();
    const answer = await update(await mailedToken(user), 'a new password');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ message: expect.any(String) });
    expect(await signInStatus(user, user.password)).toBe(401);
    expect(await signInStatus(user, 'a new password')).toBe(200);
  });

  it('ends all sessions of the user', async () => {
    const user = await project.signUp();
    const token = await mailedToken(user);
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(200);
    await update(token, 'a new password');
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(401);
    const refresh = { refresh_token: user.session.refresh_token };
    expect((await guest.post(`${project.auth}/refresh`, refresh)).status).toBe(401);
  });

  it('accepts a token once', async () => {
    const user = await project.signUp();
    const token = await mailedToken(user);
    await update(token, 'a new password');
    const again = await update(token, 'another password');
    expect([again.status, again.body.status_code]).toEqual([401, 401]);
    expect(await signInStatus(user, 'another password')).toBe(401);
  });

  it('accepts exactly one of several parallel uses of a token', async () => {
    const user = await project.signUp();
    const token = await mailedToken(user);
    const passwords = Array.from({ length: 10 }, (_, n) => `password number ${n}`);
    const answers = await Promise.all(passwords.map((password) => update(token, password)));
    const winners = passwords.filter((_, n) => answers[n]?.status === 200);
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
    expect(await signInStatus(user, winners[0] as string)).toBe(200);
  });

  it('refuses an older token once a newer one was requested', async () => {
    const user = await project.signUp();
    const older = await mailedToken(user);
    const newer = await mailedToken(user, 2);
    expect((await update(older, 'a new password')).status).toBe(401);
    expect((await update(newer, 'a new password')).status).toBe(200);
  });

  it('leaves one valid token after parallel requests', async () => {
    const user = await project.signUp();
    await Promise.all(Array.from({ length: 4 }, () => reset(user.email)));
    await smtp.mailTo(user.email, 4);
    const tokens = smtp.to(user.email).map(tokenIn);
    expect(new Set(tokens).size).toBe(4);
    const statuses = [];
    for (const token of tokens) statuses.push((await update(token, 'a new password')).status);
    expect(statuses.sort()).toEqual([200, 401, 401, 401]);
  });

  it('does not use up the token for a refused password: 400', async () => {
    const user = await project.signUp();
    const token = await mailedToken(user);
    for (const password of ['12345', 'a'.repeat(73), 'secret\0tail']) {
      const answer = await update(token, password);
      expect([answer.status, answer.body.status_code]).toEqual([400, 400]);
    }
    expect((await update(token, 'a new password')).status).toBe(200);
  });

  it.each([
    ['no token', { password: 'a new password' }, 400],
    ['no password', { token: 'x' }, 400],
    ['a token that is an object', { token: {}, password: 'a new password' }, 400],
    ['an unknown token', { token: 'A'.repeat(43), password: 'a new password' }, 401],
    ['a token with NUL', { token: 'A\0', password: 'a new password' }, 400],
  ])('refuses %s', async (_what, body, status) => {
    const answer = await guest.post(`${project.auth}/update-password`, body);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ detail: expect.any(String), status_code: status });
  });

  it('refuses a token of another project', async () => {
    const other = await plinth.createProject();
    const user = await project.signUp();
    const token = await mailedToken(user);
    const answer = await other
      .client(other.anonKey, null)
      .post(`${other.auth}/update-password`, { token, password: 'a new password' });
    expect(answer.status).toBe(401);
    expect((await update(token, 'a new password')).status).toBe(200);
  });

  it('verifies the address, which allows sign-in where verification is required', async () => {
    const user = await project.signUp();
    await update(await mailedToken(user), 'a new password');
    const { body } = await project.service.get(`${project.auth}/admin/users/${user.id}`);
    expect(body.user.email_verified_at).toEqual(expect.any(String));
  });

  it('is used up by POST only: GET and HEAD of the link, as sent by mail scanners, change nothing', async () => {
    const user = await project.signUp();
    const token = await mailedToken(user);
    const path = `${project.auth}/reset?token=${token}`;
    for (const method of ['GET', 'HEAD', 'GET']) {
      expect((await plinth.http.send(method, path)).status).toBe(200);
    }
    await plinth.http.get(`${project.auth}/update-password?token=${token}&password=stolen-it`);
    expect((await update(token, 'a new password')).status).toBe(200);
  });

  // The last test, because it moves the clock.
  it('refuses a token that is older than an hour', async () => {
    const [early, late] = [await project.signUp(), await project.signUp()];
    const [earlyToken, lateToken] = [await mailedToken(early), await mailedToken(late)];
    plinth.clock.move(3_540);
    expect((await update(earlyToken, 'a new password')).status).toBe(200);
    plinth.clock.move(120);
    expect((await update(lateToken, 'a new password')).status).toBe(401);
    expect(await signInStatus(late, late.password)).toBe(200);
  });
});
