/** Administration of users with the service-role key, and the audit trail (DECISIONS.md 4). */
import { randomUUID } from 'node:crypto';
import { HttpClient } from '../../support/http-client';
import { linkIn, MailServer, tokenIn } from '../../support/mail-server';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;
let admin: HttpClient;
let users: string;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url } });
  project = await plinth.createProject();
  guest = project.client(project.anonKey, null);
  admin = project.service;
  users = `${project.auth}/admin/users`;
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

const address = (): string => `user-${randomUUID()}@example.com`;
const signInStatus = async (email: string, password: string) =>
  (await guest.post(`${project.auth}/login`, { email, password })).status;

describe('/admin/users', () => {
  it('requires the service-role key: 403 for other credentials, 401 without', async () => {
    const user = await project.signUp();
    const id = user.id;
    const requests: [string, string][] = [
      ['GET', users],
      ['POST', users],
      ['POST', `${users}/invite`],
      ['GET', `${users}/${id}`],
      ['PATCH', `${users}/${id}`],
      ['DELETE', `${users}/${id}`],
      ['POST', `${users}/${id}/logout`],
      ['GET', `${users}/${id}/sessions`],
      ['GET', `${project.auth}/admin/audit`],
      ['GET', `${project.auth}/admin/failed-mails`],
      ['POST', `${project.auth}/admin/mail-preview`],
      ['POST', `${project.auth}/admin/mail-test`],
    ];
    for (const [method, path] of requests) {
      expect([path, (await project.anon.send(method, path)).status]).toEqual([path, 403]);
      expect([path, (await user.http.send(method, path)).status]).toEqual([path, 403]);
      expect([path, (await guest.send(method, path)).status]).toEqual([path, 401]);
    }
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(200);
  });

  it('creates a user with a password, confirmed or not', async () => {
    const email = address();
    const answer = await admin.post(users, {
      email,
      password: 'secret',
      email_verified: true,
      data: { team: 'blue' },
    });
    expect(answer.status).toBe(200);
    expect(answer.body.user).toMatchObject({
      id: expect.any(String),
      email,
      name: email.split('@')[0],
      data: { team: 'blue' },
      email_verified_at: expect.any(String),
      banned_until: null,
    });
    expect(JSON.stringify(answer.body)).not.toMatch(/password|\$2/);
    expect(await signInStatus(email, 'secret')).toBe(200);
    expect((await admin.post(users, { email })).status).toBe(400);
    expect((await admin.post(users, { email: address() })).body.user.email_verified_at).toBeNull();
  });

  it('creates a banned user in one transaction', async () => {
    const [email, until] = [address(), new Date(Date.now() + 3_600_000).toISOString()];
    const { user } = (await admin.post(users, { email, password: 'secret', banned_until: until })).body;
    expect(user.banned_until).toBe(until);
    expect(await signInStatus(email, 'secret')).toBe(403);
    const audit = await project.sql(`select action from auth.audit_log where user_id = '${user.id}'`);
    expect(audit).toEqual([{ action: 'user_created' }]);
  });

  it.each([
    ['no email', {}],
    ['a malformed email', { email: 'x' }],
    ['a short password', { email: 'a@example.com', password: '12345' }],
    ['an invalid time', { email: 'a@example.com', banned_until: 'tomorrow' }],
  ])('answers 400 for %s', async (_what, body) => {
    expect((await admin.post(users, body)).status).toBe(400);
  });

  it('finds a user by id; answers 404 for an unknown or malformed id', async () => {
    const { id, email } = await project.signUp();
    expect((await admin.get(`${users}/${id}`)).body.user).toMatchObject({ id, email });
    for (const wrong of [randomUUID(), 'nonsense', '1']) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const answer = await admin.send(method, `${users}/${wrong}`);
        expect([answer.status, answer.body.status_code]).toEqual([404, 404]);
      }
    }
  });

  it('lists in pages, with the total in X-Total-Count, sorted and searched', async () => {
    const own = await plinth.createProject();
    const path = `${own.auth}/admin/users`;
    for (const name of ['carol', 'alice', 'bob_x', 'zbobyx']) {
      await own.service.post(path, { email: `${name}@example.com`, name: name.toUpperCase() });
    }
    const names = async (query: string) => {
      const { body, headers } = await own.service.get(`${path}?${query}`);
      return [body.users.map((user: { name: string }) => user.name), headers.get('x-total-count')];
    };
    expect(await names('sort=name&order=asc&per_page=3')).toEqual([['ALICE', 'BOB_X', 'CAROL'], '4']);
    expect(await names('sort=name&order=asc&per_page=3&page=2')).toEqual([['ZBOBYX'], '4']);
    expect(await names('sort=email&order=desc&per_page=1')).toEqual([['ZBOBYX'], '4']);
    expect(await names('page=9')).toEqual([[], '4']);
    expect(await names('search=ALICE@ex')).toEqual([['ALICE'], '1']);
    // An underscore is literal here, not LIKE's wildcard.
    expect(await names('search=bob_')).toEqual([['BOB_X'], '1']);
    expect(await names('search=%25')).toEqual([[], '0']);
    expect(await names(`search=${encodeURIComponent("' or true --")}`)).toEqual([[], '0']);
    for (const wrong of [
      'sort=encrypted_password',
      'order=up',
      'page=0',
      'per_page=1001',
      'page=x',
      'page=1&page=2',
    ]) {
      expect((await own.service.get(`${path}?${wrong}`)).status).toBe(400);
    }
    for (const [wrong, detail] of [
      ['page=-1', 'page must not be less than 1'],
      ['per_page=1001', 'per_page must not be greater than 1000'],
      ['page=x', 'page must be an integer number'],
    ]) {
      expect((await own.service.get(`${path}?${wrong}`)).body.detail).toBe(detail);
    }
  });

  it('changes email, name, data and password; a new password ends the sessions', async () => {
    const user = await project.signUp();
    const email = address();
    const answer = await admin.patch(`${users}/${user.id}`, {
      email,
      name: 'New',
      data: { a: 1 },
      email_verified: true,
    });
    expect([answer.status, answer.body.user.email, answer.body.user.name]).toEqual([200, email, 'New']);
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(200);
    expect((await admin.patch(`${users}/${user.id}`, { password: 'a new password' })).status).toBe(200);
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(401);
    expect(await signInStatus(email, 'a new password')).toBe(200);
    const taken = await project.signUp();
    expect((await admin.patch(`${users}/${user.id}`, { email: taken.email })).status).toBe(400);
  });

  it('bans a user immediately until a time, also for refresh, reset and tokens signed by the project', async () => {
    const user = await project.signUp();
    const until = new Date(Date.now() + 86_400_000).toISOString();
    await admin.patch(`${users}/${user.id}`, { banned_until: until });
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(401);
    expect((await project.asSubject(user.id).get(`${project.auth}/user`)).status).toBe(401);
    const refresh = { refresh_token: user.session.refresh_token };
    expect((await guest.post(`${project.auth}/refresh`, refresh)).status).toBe(401);
    expect(await signInStatus(user.email, user.password)).toBe(403);
    expect(await signInStatus(user.email, 'wrong')).toBe(401);
    await guest.post(`${project.auth}/reset-password`, { email: user.email });
    // The ban applies when a worker finds the account of the request.
    const requested = 'select 1 from auth.outgoing_mails where user_id is null';
    await eventually(async () => expect(await project.sql(requested)).toEqual([]));
    await admin.patch(`${users}/${user.id}`, { banned_until: null });
    expect(await signInStatus(user.email, user.password)).toBe(200);
    const marker = await project.signUp();
    await guest.post(`${project.auth}/reset-password`, { email: marker.email });
    await smtp.mailTo(marker.email);
    expect(smtp.to(user.email)).toEqual([]);
  });

  it('signs a user out everywhere', async () => {
    const user = await project.signUp();
    const answer = await admin.post(`${users}/${user.id}/logout`);
    expect([answer.status, answer.body]).toEqual([200, { message: expect.any(String) }]);
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(401);
    expect((await admin.post(`${users}/${randomUUID()}/logout`)).status).toBe(404);
  });

  it('deletes a user: the tokens are refused in the next request and the address is free', async () => {
    await project.sql(`create table if not exists notes (id int); drop policy if exists all_notes on notes;
      create policy all_notes on notes using (true)`);
    const user = await project.signUp();
    expect((await user.http.get('/rest/v1/notes')).status).toBe(200);
    expect((await admin.delete(`${users}/${user.id}`)).body).toEqual({ message: expect.any(String) });
    expect((await user.http.get('/rest/v1/notes')).status).toBe(401);
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(401);
    expect(await signInStatus(user.email, user.password)).toBe(401);
    await project.signUp(user.email);
  });

  it('invites by mail: the token sets the first password and verifies the address', async () => {
    const email = address();
    const answer = await admin.post(`${users}/invite`, { email, name: 'Grace' });
    expect([answer.status, answer.body.user.invited_at]).toEqual([200, expect.any(String)]);
    const mail = await smtp.mailTo(email);
    expect(linkIn(mail).pathname).toBe(`${project.auth}/reset`);
    const update = { token: tokenIn(mail), password: 'my first password' };
    expect((await guest.post(`${project.auth}/update-password`, update)).status).toBe(200);
    expect(await signInStatus(email, 'my first password')).toBe(200);
    const { user } = (await admin.get(`${users}/${answer.body.user.id}`)).body;
    expect(user).toMatchObject({ name: 'Grace', email_verified_at: expect.any(String) });
    expect((await admin.post(`${users}/invite`, { email })).status).toBe(400);
  });
});

describe('the audit trail', () => {
  it('records actor, action, address and time, and no secret', async () => {
    const user = await project.signUp();
    await guest.post(`${project.auth}/login`, { email: user.email, password: 'a wrong one' });
    await user.http.patch(`${project.auth}/user`, { name: 'Ada', data: { secret: 'hush' } });
    await guest.post(`${project.auth}/reset-password`, { email: user.email });
    const token = tokenIn(await smtp.mailTo(user.email));
    await user.http.post(`${project.auth}/logout`);
    await guest.post(`${project.auth}/update-password`, { token, password: 'a new password' });
    await admin.patch(`${users}/${user.id}`, { name: 'Countess' });
    const { body, headers } = await admin.get(`${project.auth}/admin/audit?user_id=${user.id}`);
    const actions = body.entries.map((entry) => entry.action);
    expect(actions.reverse()).toEqual([
      'sign_up',
      'sign_in',
      'sign_in_failed',
      'profile_updated',
      'reset_requested',
      'sign_out',
      'password_updated',
      'user_updated',
    ]);
    expect(headers.get('x-total-count')).toBe('8');
    expect(body.entries[0]).toMatchObject({ actor_role: 'service_role', actor_id: null, ip: '127.0.0.1' });
    expect(Date.parse(body.entries[0]!.at)).not.toBeNaN();
    for (const secret of [token, user.password, 'a wrong one', 'a new password', 'hush', user.accessToken]) {
      expect(JSON.stringify(body)).not.toContain(secret);
    }
  });

  it('records nothing for a change that failed', async () => {
    const user = await project.signUp();
    await user.http.post(`${project.auth}/logout`);
    await user.http.post(`${project.auth}/logout`);
    const { body } = await admin.get(`${project.auth}/admin/audit?user_id=${user.id}&action=sign_out`);
    expect(body.entries).toHaveLength(1);
  });
});

describe('POST /admin/mail-preview', () => {
  const preview = (body: unknown) => admin.post(`${project.auth}/admin/mail-preview`, body);

  it('renders a mail with sample values and sends none', async () => {
    const { status, body } = await preview({ kind: 'reset', subject: 'For {{ name }}' });
    expect([status, body.subject]).toEqual([200, 'For Ada Lovelace']);
    expect(body.text).toContain(`${project.auth}/reset?token=sample-token`);
    expect(body.html).toContain('sample-token');
  });

  it.each([
    ['an unclosed tag', '{% if name %}'],
    ['an unknown filter', '{{ name | shell }}'],
    ['an include of a file', '{% include "/etc/passwd" %}'],
    ['a render of a file', '{% render "../../package.json" %}'],
    ['a layout', '{% layout "/etc/passwd" %}'],
    ['an endless loop', '{% for i in (1..100000000) %}x{% endfor %}'],
  ])('answers 400 for %s', async (_what, text) => {
    const answer = await preview({ kind: 'reset', text });
    expect(answer.body).toEqual({ detail: expect.stringContaining('template'), status_code: 400 });
  });

  it('gives a template no access to the program', async () => {
    const text =
      '{{ constructor }}{{ name.constructor }}{{ name.__proto__ }}{{ process }}{{ global }}{{ this }}|';
    expect((await preview({ kind: 'reset', text })).body.text).toBe('|');
  });

  it('keeps a subject on one line and escapes values in HTML only', async () => {
    const { body } = await preview({
      kind: 'reset',
      subject: 'a\r\nBcc: x@example.com',
      html: '{{ "<b>" }}',
      text: '{{ "<b>" }}',
    });
    expect(body).toEqual({ subject: 'a Bcc: x@example.com', html: '&lt;b&gt;', text: '<b>' });
  });

  it('answers 400 for an unknown type of mail', async () => {
    expect((await preview({ kind: 'spam' })).status).toBe(400);
  });
});

describe('GET /admin/users/<id>/sessions', () => {
  const sessionsOf = async (id: string) => (await admin.get(`${users}/${id}/sessions`)).body.sessions;

  it('lists live sessions of this user only, the last refreshed first', async () => {
    const user = await project.signUp();
    await project.signUp();
    const [first] = await sessionsOf(user.id);
    expect(first).toEqual({
      id: expect.any(String),
      created_at: expect.stringMatching(/Z$/),
      last_seen_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      ip: expect.any(String),
      user_agent: expect.anything(),
      aal: 'aal1',
    });
    expect(await sessionsOf(user.id)).toHaveLength(1);
    await admin.post(`${users}/${user.id}/logout`);
    expect(await sessionsOf(user.id)).toEqual([]);
  });

  it.each(['nonsense', '00000000-0000-0000-0000-000000000000'])('has none for the user %s', async (id) => {
    expect(await sessionsOf(id)).toEqual([]);
  });
});
