/** Hostile bodies, headers and settings: wrong types, text that cannot be stored, redirects, forged client addresses. */
import { randomUUID } from 'node:crypto';
import { linkIn, MailServer } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { rawExchange } from '../../support/uploads';
import { TestProject } from '../../support/test-project';

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url, TRUST_PROXY: '1' } });
  plinth.clock.hold();
  project = await plinth.createProject();
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

const guest = () => project.client(project.anonKey, null);

describe('a body with a value of the wrong type', () => {
  it.each([7, true, null, {}, ['ada@example.com']])(
    'reports that the email %j is not a string',
    async (email) => {
      for (const path of ['signup', 'login', 'reset-password', 'resend-verification']) {
        const answer = await guest().post(`${project.auth}/${path}`, { email, password: 'secret' });
        expect([answer.status, answer.body.detail]).toEqual([400, 'email must be a string']);
      }
    },
  );

  it.each([
    ['20260101', 'is not a date in the extended format'],
    ['tomorrow', 'is not a date'],
    ['2026-02-31', 'is not an existing day'],
    ['2026-01-01T25:00:00Z', 'is not a time'],
    ['', 'is nothing'],
    [1_767_225_600, 'is a number'],
  ])('reports the format of banned_until: %j %s', async (banned_until, _what) => {
    const user = await project.signUp();
    const answer = await project.service.patch(`${project.auth}/admin/users/${user.id}`, { banned_until });
    expect([answer.status, answer.body.detail]).toEqual([
      400,
      'banned_until must be a date and time such as 2026-01-31T12:00:00Z',
    ]);
  });

  it.each(['2999-01-31', '2999-01-31T12:00:00Z', '2999-01-31T12:00:00.5+02:00'])(
    'accepts %s for banned_until',
    async (banned_until) => {
      const user = await project.signUp();
      // The OpenAPI document declares date-time only, because no format covers dates without a time as well; hence unchecked().
      const client = project.service.unchecked();
      const answer = await client.patch(`${project.auth}/admin/users/${user.id}`, { banned_until });
      expect([answer.status, answer.body.user.banned_until]).toEqual([
        200,
        new Date(banned_until).toISOString(),
      ]);
    },
  );

  it.each([
    ['NUL', 'a\0b'],
    ['half a surrogate pair', 'a\ud800b'],
    ['the other half', '\udc00'],
  ])('refuses a name with %s instead of altering it', async (_what, name) => {
    const email = `ada-${randomUUID()}@example.com`;
    const user = await project.signUp();
    for (const answer of [
      await guest().post(`${project.auth}/signup`, { email, password: 'secret', name }),
      await user.http.patch(`${project.auth}/user`, { name }),
      await user.http.patch(`${project.auth}/user`, { data: { [name]: 1 } }),
      await user.http.patch(`${project.auth}/user`, { data: { list: [{ text: name }] } }),
      await project.service.post(`${project.auth}/admin/users`, { email, name }),
      await project.service.post(`${project.auth}/admin/users/invite`, { email, name }),
    ]) {
      expect([answer.status, answer.body.status_code]).toEqual([400, 400]);
    }
    expect((await project.service.get(`${project.auth}/admin/users?search=${email}`)).body.users).toEqual([]);
  });

  it('keeps surrogate pairs and every other character of a name', async () => {
    const user = await project.signUp();
    const name = 'Ada 🦊 \u{10FFFF} ﷽ "\'<&';
    expect((await user.http.patch(`${project.auth}/user`, { name })).body.user.name).toBe(name);
  });
});

describe('a redirect address', () => {
  const EVIL = [
    'https://evil.example/',
    '//evil.example',
    '\\\\evil.example',
    '/\\evil.example',
    'https://plinth.test@evil.example/',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
  ];

  it.each(EVIL)('%s in a request does not change the links in a mail', async (address) => {
    const user = await project.signUp();
    const names = ['redirect_to', 'redirectTo', 'redirect', 'reset_redirect_url', 'url', 'next', 'return_to'];
    const query = new URLSearchParams(names.map((name): [string, string] => [name, address])).toString();
    const body = { email: user.email, ...Object.fromEntries(names.map((name) => [name, address])) };
    const headers = { origin: address.replaceAll('\\', '/'), referer: address.replaceAll('\\', '/') };
    const answer = await guest()
      .unchecked()
      .post(`${project.auth}/reset-password?${query}`, body, { headers });
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
    const link = linkIn(await smtp.mailTo(user.email));
    expect([link.origin, link.pathname]).toEqual(['http://plinth.test', `${project.auth}/reset`]);
    const page = await plinth.http.get(`${project.auth}/reset?${query}`);
    expect([page.status, page.headers.get('location')]).toEqual([200, null]);
    expect(page.text).not.toContain('evil');
  });

  it('in the Host header does not change the links either', async () => {
    const user = await project.signUp();
    const body = JSON.stringify({ email: user.email });
    const answer = await rawExchange(
      plinth.baseUrl,
      `POST ${project.auth}/reset-password HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n` +
        `apikey: ${project.anonKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
        `Connection: close\r\n\r\n${body}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    const mail = await smtp.mailTo(user.email);
    expect(linkIn(mail).host).toBe('plinth.test');
    expect(`${mail.text} ${String(mail.html)}`).not.toContain('evil');
  });

  it.each([...EVIL.filter((address) => !/^https:(\/\/)?evil/.test(address)), 'ftp://evil.example/', 'x', ''])(
    'refuses %j as the redirect URL of mails',
    async (address) => {
      for (const name of ['reset_redirect_url', 'verify_redirect_url']) {
        const answer = await plinth.admin.patch(`/admin/v1/projects/${project.id}`, {
          settings: { [name]: address },
        });
        expect(answer.status).toBe(400);
      }
    },
  );
});

describe('a client behind one trusted proxy', () => {
  const guess = (forwarded: string, email: string) =>
    guest()
      .with({ 'x-forwarded-for': forwarded })
      .post(`${project.auth}/login`, { email, password: 'guess' });

  it('cannot appear as many clients by sending X-Forwarded-For', async () => {
    const statuses = [];
    for (let n = 0; n < 53; n += 1) {
      statuses.push((await guess(`203.0.113.${n}, 198.51.100.200`, `nobody-${n}@example.com`)).status);
    }
    expect(statuses.slice(50)).toEqual([429, 429, 429]);
  });

  it('is recorded with the address that the proxy saw', async () => {
    const user = await project.signUp();
    const answer = await guest()
      .with({ 'x-forwarded-for': '1.2.3.4, 198.51.100.9', 'x-real-ip': '5.6.7.8', forwarded: 'for=9.9.9.9' })
      .post(`${project.auth}/login`, { email: user.email, password: user.password });
    const http = project.client(project.anonKey, answer.body.session.access_token);
    const { sessions } = (await http.get(`${project.auth}/sessions`)).body;
    expect(sessions.find(({ current }) => current)?.ip).toBe('198.51.100.9');
  });
});
