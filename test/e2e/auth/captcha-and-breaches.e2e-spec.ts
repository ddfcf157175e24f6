/** Captchas and breached passwords, with a local server instead of the providers. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gotrue, guestOf } from '../../support/gotrue';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

const BREACHED = 'correct horse battery';
const PADDED = 'an entry of padding';
const SECRET = '0x4AAAAAAA-secret-of-the-captcha';

let server: Server;
let origin: string;
let plinth: TestPlinth;
let project: TestProject;
let requests: { readonly path: string; readonly body: string }[] = [];
let isDown = false;

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  plinth = await TestPlinth.start({
    tuning: { failureShare: 60 / 10_000 },
    env: {
      AUTH_REQUESTS_PER_MINUTE: '10000',
      AUTH_ALLOWED_HOSTS: '127.0.0.1',
      BREACHED_PASSWORDS_URL: `${origin}/range`,
    },
  });
  project = await plinth.createProject({
    settings: { site_url: 'https://app.example.com', refuse_breached_passwords: true },
  });
});
afterAll(async () => {
  await plinth.stop();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
  isDown = false;
});

const hashOf = (password: string): string => createHash('sha1').update(password).digest('hex').toUpperCase();
const lineOf = (password: string, count: number, prefix: string): string =>
  hashOf(password).startsWith(prefix) ? `${hashOf(password).slice(5)}:${count}\r\n` : '';

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '';
  const body = await text(request);
  requests.push({ path, body });
  if (isDown) return void response.writeHead(500).end('down');
  if (path === '/siteverify') {
    const form = new URLSearchParams(body);
    const success = form.get('secret') === SECRET && form.get('response') === 'solved';
    return void response.end(JSON.stringify({ success }));
  }
  const prefix = path.slice('/range/'.length);
  response.end(`${'0'.repeat(35)}:7\r\n${lineOf(BREACHED, 3, prefix)}${lineOf(PADDED, 0, prefix)}`);
}

const address = (): string => `user-${randomUUID()}@example.com`;
const send = (path: string, body: object): Promise<HttpAnswer> =>
  guestOf(project).unchecked().post(path, body);
const signUp = (password: string): Promise<HttpAnswer> =>
  send(`${gotrue(project)}/signup`, { email: address(), password });
async function set(settings: object): Promise<HttpAnswer> {
  return plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings });
}

describe('breached passwords', () => {
  it('are refused, and the server receives only five digits of the hash', async () => {
    const refused = await signUp(BREACHED);
    expect([refused.status, refused.body]).toEqual([
      422,
      expect.objectContaining({ error_code: 'weak_password', weak_password: { reasons: ['pwned'] } }),
    ]);
    expect(requests).toEqual([{ path: `/range/${hashOf(BREACHED).slice(0, 5)}`, body: '' }]);
    const plain = await send(`${project.auth}/signup`, { email: address(), password: BREACHED });
    expect(plain.status).toBe(400);
    const answers = [await signUp(PADDED), await signUp('not in the list')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('are refused when the user or an administrator sets one', async () => {
    const { body } = await signUp('not in the list');
    const user = project.client(project.anonKey, body.access_token);
    const changed = await user.put(`${gotrue(project)}/user`, { password: BREACHED });
    const created = await project
      .client(project.serviceKey, project.serviceKey)
      .post(`${gotrue(project)}/admin/users`, { email: address(), password: BREACHED });
    expect([changed.status, created.status]).toEqual([422, 422]);
  });

  it('are accepted while the server fails', async () => {
    isDown = true;
    expect((await signUp(BREACHED)).status).toBe(200);
    expect(requests).toHaveLength(1);
  });

  it('are not looked up without the setting', async () => {
    await set({ refuse_breached_passwords: false });
    expect((await signUp(BREACHED)).status).toBe(200);
    expect(requests).toEqual([]);
  });
});

describe('a captcha', () => {
  const email = address();
  const password = 'correct horse';
  const token = (captcha: unknown): object => ({ gotrue_meta_security: { captcha_token: captcha } });

  beforeAll(async () => {
    await project.signUp(email, password);
    const { status, body } = await set({
      magic_link_enabled: true,
      passkeys_enabled: true,
      captcha: { provider: 'turnstile', secret: SECRET, url: `${origin}/siteverify` },
    });
    expect([status, body.settings.captcha]).toEqual([
      200,
      { provider: 'turnstile', url: `${origin}/siteverify` },
    ]);
  });

  const paths = (): [string, object][] => [
    [`${gotrue(project)}/signup`, { email: address(), password }],
    [`${gotrue(project)}/token?grant_type=password`, { email, password }],
    [`${gotrue(project)}/recover`, { email: address() }],
    [`${gotrue(project)}/otp`, { email: address() }],
    [`${gotrue(project)}/magiclink`, { email: address() }],
    [`${gotrue(project)}/resend`, { type: 'signup', email: address() }],
    [`${gotrue(project)}/sso`, { domain: 'example.com' }],
    [`${gotrue(project)}/passkeys/authentication/options`, {}],
    [`${project.auth}/signup`, { email: address(), password }],
    [`${project.auth}/login`, { email, password }],
    [`${project.auth}/reset-password`, { email: address() }],
    [`${project.auth}/resend-verification`, { email: address() }],
    // Only the token route has grants without a captcha.
    [`${gotrue(project)}/signup?grant_type=pkce`, { email: address(), password }],
    [`${project.auth}/login?grant_type=refresh_token`, { email, password }],
  ];

  it('is required by every way to sign in or up, in both APIs', async () => {
    for (const [path, body] of paths()) {
      const wrong = [
        {},
        token(''),
        token(null),
        token(['solved']),
        token('x'.repeat(10_001)),
        token('wrong'),
      ];
      for (const captcha of wrong) {
        const { status, body: error } = await send(path, { ...body, ...captcha });
        expect([path, status, error.error_code ?? error.detail]).toEqual([
          path,
          400,
          path.startsWith('/p/') ? 'captcha_failed' : 'The captcha was not solved',
        ]);
      }
    }
    // Only tokens that could be valid are sent to the provider.
    expect(requests).toHaveLength(paths().length);
    for (const [path, body] of paths()) {
      const { status } = await send(path, { ...body, ...token('solved') });
      // No SAML provider exists, so /sso answers 404.
      expect([path, [200, 201, ...(path.endsWith('/sso') ? [404] : [])].includes(status)]).toEqual([
        path,
        true,
      ]);
    }
  });

  it('that is wrong many times is no longer sent to the provider', async () => {
    const path = `${gotrue(project)}/token?grant_type=password`;
    const statuses: number[] = [];
    const guess = async (): Promise<number> =>
      (await send(path, { email, password, ...token('wrong') })).status;
    for (let at = 0; at < 70 && !statuses.includes(429); at += 1) statuses.push(await guess());
    expect(statuses).toContain(429);
    const asked = requests.length;
    expect(await guess()).toBe(429);
    expect(requests).toHaveLength(asked);
    plinth.clock.move(3_600);
  });

  it('is not required for a refresh or with the service key', async () => {
    const { body } = await send(`${gotrue(project)}/token?grant_type=password`, {
      email,
      password,
      ...token('solved'),
    });
    const refreshed = await send(`${gotrue(project)}/token?grant_type=refresh_token`, {
      refresh_token: body.refresh_token,
    });
    const byBackend = await project
      .client(project.serviceKey, null)
      .post(`${project.auth}/login`, { email, password });
    expect([refreshed.status, byBackend.status]).toEqual([200, 200]);
  });

  it('that cannot be checked is refused', async () => {
    isDown = true;
    const answers = [
      await send(`${gotrue(project)}/token?grant_type=password`, { email, password, ...token('solved') }),
      await send(`${project.auth}/login`, { email, password, ...token('solved') }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    expect(answers.map(({ text: body }) => body).join()).not.toContain('127.0.0.1');
  });

  it('accepts only a provider and a secret as its setting', async () => {
    const wrong = [
      { provider: 'other', secret: SECRET },
      { provider: 'hcaptcha' },
      { provider: 'turnstile', url: 'https://elsewhere.example.com' },
      { provider: 'hcaptcha', secret: '' },
      { provider: 'hcaptcha', secret: SECRET, more: 1 },
      { provider: 'hcaptcha', secret: SECRET, url: 'file:///etc/passwd' },
    ];
    for (const captcha of wrong) expect([captcha, (await set({ captcha })).status]).toEqual([captcha, 400]);
    const kept = await set({ captcha: { provider: 'turnstile', url: `${origin}/siteverify` } });
    expect([kept.status, kept.text.includes(SECRET)]).toEqual([200, false]);
    const signedIn = await send(`${project.auth}/login`, { email, password, ...token('solved') });
    expect(signedIn.status).toBe(200);
  });
});
