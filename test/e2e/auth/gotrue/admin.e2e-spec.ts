/** GoTrue's paths for administrators: users, invitations, links, the audit trail. */
import { randomUUID } from 'node:crypto';
import { gotrue, guestOf, mailTo, pressButton } from '../../../support/gotrue';
import { HttpClient } from '../../../support/http-client';
import { MailServer } from '../../../support/mail-server';
import { TestPlinth } from '../../../support/plinth';
import { TestProject } from '../../../support/test-project';

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;
let admin: HttpClient;
let guest: HttpClient;
let base: string;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url, AUTH_REQUESTS_PER_MINUTE: '10000' } });
  project = await plinth.createProject({ settings: { site_url: 'https://app.example.com/' } });
  admin = project.service;
  guest = guestOf(project);
  base = gotrue(project);
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

const address = (): string => `user-${randomUUID()}@example.com`;
const create = async (body: object = {}) => {
  const { status, body: user } = await admin.post(`${base}/admin/users`, { email: address(), ...body });
  expect(status).toBe(200);
  return user;
};

describe('users', () => {
  it('are created with an id, a password, a confirmed address, user_metadata and app_metadata', async () => {
    const id = randomUUID();
    const user = await create({
      id,
      password: 'correct horse',
      email_confirm: true,
      user_metadata: { theme: 'dark' },
      app_metadata: { roles: ['editor'] },
    });
    expect(user).toMatchObject({
      id,
      email_confirmed_at: expect.any(String),
      user_metadata: { theme: 'dark' },
      app_metadata: { provider: 'email', providers: ['email'], roles: ['editor'] },
    });
    const login = await guest.post(`${base}/token?grant_type=password`, {
      email: user.email,
      password: 'correct horse',
    });
    expect(login.body.user.app_metadata.roles).toEqual(['editor']);
  });

  it('are read, changed and deleted', async () => {
    const { id } = await create({ app_metadata: { a: 1 } });
    const email = address();
    const change = { email, app_metadata: { b: 2, a: null }, user_metadata: { c: 3 } };
    const changed = await admin.put(`${base}/admin/users/${id}`, change);
    expect(changed.body).toMatchObject({ email, user_metadata: { c: 3 } });
    expect(changed.body.app_metadata).toEqual({ provider: 'email', providers: ['email'], b: 2 });
    expect((await admin.get(`${base}/admin/users/${id}`)).body.email).toBe(email);
    expect((await admin.delete(`${base}/admin/users/${id}`)).body).toEqual({});
    const gone = await admin.get(`${base}/admin/users/${id}`);
    expect([gone.status, gone.body.error_code]).toEqual([404, 'user_not_found']);
  });

  it('cannot change their own app_metadata', async () => {
    const { http } = await project.signUp();
    await http.unchecked().put(`${base}/user`, { app_metadata: { roles: ['admin'] }, data: { x: 1 } });
    expect((await http.get(`${base}/user`)).body.app_metadata).toEqual({
      provider: 'email',
      providers: ['email'],
    });
  });

  it('are banned for a time, which ends their sessions, and unbanned', async () => {
    const { id, http, email, password } = await project.signUp();
    await admin.put(`${base}/admin/users/${id}`, { ban_duration: '24h' });
    expect((await http.get(`${base}/user`)).status).toBe(403);
    await admin.put(`${base}/admin/users/${id}`, { ban_duration: 'none' });
    expect((await guest.post(`${base}/token?grant_type=password`, { email, password })).status).toBe(200);
    const wrong = await admin.put(`${base}/admin/users/${id}`, { ban_duration: 'soon' });
    expect(wrong.body.error_code).toBe('validation_failed');
  });

  it('are listed in pages, with their total and links to other pages', async () => {
    const small = await plinth.createProject();
    for (let n = 0; n < 5; n += 1) await small.signUp(`user${n}@example.com`);
    const list = (query: string) => small.service.get(`${gotrue(small)}/admin/users${query}`);
    const page = await list('?page=1&per_page=2');
    expect(page.body.users.map(({ email }: { email: string }) => email)).toEqual([
      'user4@example.com',
      'user3@example.com',
    ]);
    expect(page.headers.get('x-total-count')).toBe('5');
    expect(page.headers.get('link')).toBe(
      '</admin/users?page=2&per_page=2>; rel="next", </admin/users?page=3&per_page=2>; rel="last"',
    );
    expect((await list('?page=&per_page=')).body.users).toHaveLength(5);
    expect((await list('?filter=user2')).body.users).toHaveLength(1);
    expect((await list('?page=-1')).body.error_code).toBe('validation_failed');
  });

  it.each([
    [{ email: 'x' }, 400, 'validation_failed'],
    [{}, 400, 'validation_failed'],
    [{ email: address(), password: '123' }, 422, 'weak_password'],
    [{ email: address(), app_metadata: { big: 'x'.repeat(2_000) } }, 400, 'validation_failed'],
    [{ email: address(), phone: '15551234567' }, 400, 'phone_provider_disabled'],
  ])('are not created from %j', async (body, status, code) => {
    const answer = await admin.post(`${base}/admin/users`, body);
    expect([answer.status, answer.body.error_code]).toEqual([status, code]);
  });

  it('are not created with a taken address, and not deleted softly', async () => {
    const { id, email } = await create();
    const taken = await admin.post(`${base}/admin/users`, { email });
    expect([taken.status, taken.body.error_code]).toEqual([422, 'email_exists']);
    const soft = await admin.delete(`${base}/admin/users/${id}`, { body: { should_soft_delete: true } });
    expect([soft.status, soft.body.error_code]).toEqual([422, 'feature_disabled']);
    expect((await admin.get(`${base}/admin/users/${id}`)).status).toBe(200);
  });

  it('are closed to users and to the anon key', async () => {
    const { http } = await project.signUp();
    for (const client of [http, project.anon]) {
      const answer = await client.get(`${base}/admin/users`);
      expect([answer.status, answer.body.error_code]).toEqual([403, 'not_admin']);
    }
  });
});

it('an invitation is mailed with a link and a code that sign in', async () => {
  const email = address();
  const invited = await admin.post(`${base}/invite`, { email, data: { team: 'a' } });
  expect(invited.body).toMatchObject({ email, invited_at: expect.any(String), user_metadata: { team: 'a' } });
  const { url, token } = await mailTo(smtp, email);
  expect(url.searchParams.get('type')).toBe('invite');
  const answer = await guest.post(`${base}/verify`, { type: 'invite', token_hash: token });
  expect(answer.body.user).toMatchObject({ email, email_confirmed_at: expect.any(String) });
  const again = await admin.post(`${base}/invite`, { email });
  expect([again.status, again.body.error_code]).toEqual([422, 'email_exists']);
});

describe('generated links', () => {
  const generate = (body: object) => admin.post(`${base}/admin/generate_link`, body);

  it.each(['signup', 'invite', 'magiclink'])('of the type %s create an account and sign in', async (type) => {
    const email = address();
    const { status, body } = await generate({ type, email, password: 'correct horse', data: { a: 1 } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ email, verification_type: type, redirect_to: 'https://app.example.com/' });
    const url = new URL(body.action_link);
    expect(url.searchParams.get('type')).toBe(type);
    const link = { url, token: url.searchParams.get('token') ?? '' };
    // The page of a sign-up asks for the password, and the other pages sign in.
    const answer = await pressButton(project, link, type === 'signup' ? { password: 'correct horse' } : {});
    expect(answer.headers.get('location')).toContain('#access_token=');
    expect(smtp.to(email)).toEqual([]);
  });

  it('give a code and a token that work once', async () => {
    const { email } = await project.signUp(address());
    const { body } = await generate({ type: 'recovery', email });
    const answer = await guest.post(`${base}/verify`, { type: 'recovery', email, token: body.email_otp });
    expect(answer.status).toBe(200);
    const hashed = { type: 'recovery', token_hash: body.hashed_token };
    expect((await guest.post(`${base}/verify`, hashed)).body.error_code).toBe('otp_expired');
  });

  it('change an address', async () => {
    const { email, id } = await project.signUp(address());
    const next = address();
    const { body } = await generate({ type: 'email_change_new', email, new_email: next });
    expect(body.new_email).toBe(next);
    const answer = await guest.post(`${base}/verify`, {
      type: 'email_change',
      email: next,
      token: body.email_otp,
    });
    expect(answer.body.user).toMatchObject({ id, email: next });
  });

  it('are refused for an unknown and a taken address', async () => {
    expect((await generate({ type: 'recovery', email: address() })).body.error_code).toBe('user_not_found');
    const one = await project.signUp(address());
    const two = await project.signUp(address());
    const taken = { type: 'email_change_new', email: one.email, new_email: two.email };
    expect((await generate(taken)).body.error_code).toBe('email_exists');
  });
});

it('the audit trail is listed in the format of GoTrue', async () => {
  const { id } = await project.signUp();
  const { body } = await admin.get(`${base}/admin/audit?per_page=1`);
  expect(body).toMatchObject([
    { payload: { action: 'sign_in', actor_id: id }, ip_address: expect.any(String) },
  ]);
});
