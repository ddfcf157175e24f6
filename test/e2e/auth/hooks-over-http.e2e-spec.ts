/** Hooks as signed HTTP calls (Standard Webhooks), and hostile hook servers. */
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { decode } from 'jsonwebtoken';
import { guestOf } from '../../support/gotrue';
import type { HttpClient } from '../../support/http-client';
import { eventually, MailServer } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { Directory } from '../../support/scim';
import type { TestProject } from '../../support/test-project';

interface Call {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const KEY = Buffer.from('0123456789abcdef0123456789abcdef');
const SECRET = `v1,whsec_${KEY.toString('base64')}`;

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;
let server: Server;
let url: string;
let received: Call[] = [];
let answer: (response: ServerResponse, event: Record<string, unknown>) => void;

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body });
      answer(response, JSON.parse(body) as Record<string, unknown>);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}/hook`;
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({
    env: { SMTP_URL: smtp.url, AUTH_REQUESTS_PER_MINUTE: '10000', AUTH_ALLOWED_HOSTS: `127.0.0.1:${port}` },
  });
  project = await plinth.createProject({ settings: { site_url: 'https://app.example.com' } });
  guest = guestOf(project);
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received = [];
  reply({});
});

const address = (): string => `user-${randomUUID()}@example.com`;
function reply(body: unknown, status = 200): void {
  answer = (response) => response.writeHead(status).end(JSON.stringify(body));
}
const path = (): string => `/admin/v1/projects/${project.id}`;
async function set(settings: object): Promise<Record<string, unknown>> {
  const { status, body } = await plinth.admin.patch(path(), { settings });
  expect(status).toBe(200);
  return body.settings;
}
const signUp = (email = address()) =>
  guest.post(`${project.auth}/signup`, { email, password: 'correct horse' });
const signIn = (email: string, password = 'correct horse') =>
  guest.post(`${project.auth}/login`, { email, password });
const claimsOf = (token: string) => decode(token) as Record<string, unknown>;
function assertSigned({ headers, body }: Call): void {
  const id = String(headers['webhook-id']);
  const timestamp = Number(headers['webhook-timestamp']);
  const signature = createHmac('sha256', KEY).update(`${id}.${timestamp}.${body}`).digest('base64');
  expect(headers).toMatchObject({
    'webhook-signature': `v1,${signature}`,
    'content-type': 'application/json',
  });
  expect(Math.abs(timestamp - plinth.clock.now() / 1000)).toBeLessThan(60);
}

describe('custom_access_token_hook', () => {
  beforeAll(() => set({ custom_access_token_hook: { url, secret: SECRET } }));
  afterAll(() => set({ custom_access_token_hook: null }));

  it('adds claims to the tokens of sign-ups, sign-ins and refreshes, but no reserved claims', async () => {
    answer = (response, event) => {
      const claims = { ...(event.claims as object), plan: 'pro', role: 'service_role', aal: 'aal2' };
      response.end(JSON.stringify({ claims }));
    };
    const email = address();
    const up = (await signUp(email)).body;
    const inn = (await signIn(email)).body;
    const refresh_token = inn.session.refresh_token;
    const refreshed = (await guest.post(`${project.auth}/refresh`, { refresh_token })).body;
    for (const { session } of [up, inn, refreshed])
      expect(claimsOf(session.access_token)).toMatchObject({
        plan: 'pro',
        role: 'authenticated',
        aal: 'aal1',
        sub: up.user.id,
        email,
      });
    expect(received).toHaveLength(3);
    received.forEach(assertSigned);
    for (const { body } of received)
      expect(JSON.parse(body)).toMatchObject({ user_id: up.user.id, claims: { sub: up.user.id, email } });
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  it('does not end a session when it fails at a refresh, even long after', async () => {
    reply({ claims: {} });
    const { session } = (await signUp()).body;
    const refresh = () => guest.post(`${project.auth}/refresh`, { refresh_token: session.refresh_token });
    reply({}, 500);
    expect((await refresh()).status).toBe(500);
    plinth.clock.move(60);
    expect((await refresh()).status).toBe(500);
    reply({ claims: {} });
    expect((await refresh()).status).toBe(200);
  });

  it.each([
    ['a list', []],
    ['no claims', {}],
    ['claims that are not an object', { claims: 1 }],
    ['claims that are too large', { claims: { x: 'x'.repeat(5_000) } }],
    ['a response that is too large', { claims: { x: 'x'.repeat(5_000_000) } }],
  ])('refuses the sign-in when it answers %s', async (_what, body) => {
    reply(body);
    expect((await signUp()).status).toBe(500);
  });
});

describe('before_user_created_hook', () => {
  beforeAll(() => set({ before_user_created_hook: { url, secret: SECRET } }));
  afterAll(() => set({ before_user_created_hook: null }));

  it('refuses a sign-up with its status and message, and no user is created', async () => {
    reply({ error: { http_code: 400, message: 'Only addresses of example.org' } });
    const email = address();
    const refused = await signUp(email);
    expect([refused.status, refused.body.detail]).toEqual([400, 'Only addresses of example.org']);
    assertSigned(received[0] as Call);
    expect(await project.sql(`select from auth.users where email = '${email}'`)).toEqual([]);
    answer = (response) => response.writeHead(204).end();
    expect((await signUp(email)).status).toBe(201);
  });

  it('refuses sign-ups while its server fails, redirects, hangs, sends too much, or does not exist', async () => {
    const hostile: (typeof answer)[] = [
      (response) => response.writeHead(302, { location: 'https://example.com/' }).end(),
      (response) => response.writeHead(500).end('{}'),
      (response) => response.end('not json'),
      (response) => response.end(`{"x": "${'x'.repeat(10_000_000)}"}`),
      (response) => response.socket?.destroy(),
      (response) => response.write('{'),
      () => {},
    ];
    for (const one of hostile) {
      answer = one;
      const { status, body } = await signUp();
      expect([status, JSON.stringify(body)]).toEqual([500, expect.not.stringContaining('127.0.0.1')]);
    }
  });

  it.each(['http://127.0.0.1:9/hook', 'https://10.0.0.1/hook', 'https://[::1]/hook', 'http://example.com/'])(
    'does not connect to %s',
    async (elsewhere) => {
      await set({ before_user_created_hook: { url: elsewhere, secret: SECRET } });
      expect((await signUp()).status).toBe(500);
      expect(received).toEqual([]);
      await set({ before_user_created_hook: { url, secret: SECRET } });
    },
  );
});

it('password_verification_attempt_hook can refuse right passwords, but does not affect wrong passwords', async () => {
  const email = address();
  await signUp(email);
  await set({ password_verification_attempt_hook: { url, secret: SECRET } });
  reply({ decision: 'reject', message: 'Come back tomorrow' });
  const refused = await signIn(email);
  expect([refused.status, refused.body.detail]).toEqual([403, 'Come back tomorrow']);
  expect((await signIn(email, 'wrong')).status).toBe(401);
  await set({ password_verification_attempt_hook: null });
});

it('send_email_hook receives each mail with the same id for all attempts', async () => {
  const email = address();
  await signUp(email);
  await set({ send_email_hook: { url, secret: SECRET } });
  reply({}, 503);
  await guest.post(`${project.auth}/reset-password`, { email });
  const first = await eventually(() => received[0] ?? null);
  expect(JSON.parse(first.body)).toMatchObject({
    user: { email },
    email_data: { email_action_type: 'reset' },
  });
  assertSigned(first);
  expect(smtp.to(email)).toEqual([]);
  await set({ send_email_hook: null });
});

describe('the secret of an address', () => {
  afterEach(() => set({ before_user_created_hook: null }));

  it('is never shown, and is kept until the address changes', async () => {
    const shown = await set({ before_user_created_hook: { url, secret: SECRET } });
    expect(shown.before_user_created_hook).toEqual({ url });
    const { body } = await plinth.admin.get(path());
    expect(body.settings.before_user_created_hook).toEqual({ url });
    await set({ before_user_created_hook: { url } });
    expect((await signUp()).status).toBe(201);
    assertSigned(received[0] as Call);
  });

  it.each([
    ['another address without a secret', { url: 'https://example.com/hook' }],
    ['no address', { secret: SECRET }],
    ['a short secret', { url: 'https://example.com/', secret: 'whsec_c2hvcnQ=' }],
    ['an address with a password', { url: 'https://me:too@example.com/', secret: SECRET }],
    ['another scheme', { url: 'file:///etc/passwd', secret: SECRET }],
    ['more members', { url: 'https://example.com/', secret: SECRET, method: 'GET' }],
  ])('is refused with %s', async (_what, target) => {
    await set({ before_user_created_hook: { url, secret: SECRET } });
    const settings = { before_user_created_hook: target };
    expect((await plinth.admin.unchecked().patch(path(), { settings })).status).toBe(400);
  });
});

it('no session begins for a user who is removed from a directory group while the hook answers', async () => {
  const directory = await Directory.connect(plinth, `/projects/${project.id}`);
  const user = await project.signUp();
  const group = await directory.newGroup('Sales', [user.id]);
  await set({ custom_access_token_hook: { url, secret: SECRET } });
  answer = (response, { claims }) => {
    void directory
      .patchGroup(group, { op: 'remove', path: 'members' })
      .then(() => response.writeHead(200).end(JSON.stringify({ claims })));
  };
  expect((await signIn(user.email, user.password)).status).toBe(401);
  answer = (response, { claims }) => response.writeHead(200).end(JSON.stringify({ claims }));
  expect((await signIn(user.email, user.password)).status).toBe(200);
  await set({ custom_access_token_hook: null });
});
