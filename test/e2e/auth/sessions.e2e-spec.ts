/** Refresh, the list of sessions, and the end of sessions (DECISIONS.md 4). */
import { randomUUID } from 'node:crypto';
import { decode } from 'jsonwebtoken';
import { HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

interface Session {
  access_token: string;
  refresh_token: string;
  expires_at: number;
}

let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  plinth.clock.hold();
  project = await plinth.createProject();
  guest = project.client(project.anonKey, null);
});
afterAll(() => plinth.stop());

const refresh = (token: string) => guest.post(`${project.auth}/refresh`, { refresh_token: token });
const userStatus = async (session: Session) =>
  (await project.client(project.anonKey, session.access_token).get(`${project.auth}/user`)).status;
const sessionId = (session: Session) => (decode(session.access_token) as { session_id: string }).session_id;

describe('POST /refresh', () => {
  it('answers 200 with the user and a session with new tokens', async () => {
    const user = await project.signUp();
    plinth.clock.move(5);
    const { status, body } = await refresh(user.session.refresh_token);
    expect(status).toBe(200);
    expect(body.user).toMatchObject({ id: user.id, email: user.email });
    expect(body.session.refresh_token).not.toBe(user.session.refresh_token);
    expect(body.session.expires_at).toBeGreaterThanOrEqual(user.session.expires_at + 4);
    expect(await userStatus(body.session)).toBe(200);
  });

  it('stays within its session: it begins no other and cannot choose one', async () => {
    const user = await project.signUp();
    const { body } = await guest.unchecked().post(`${project.auth}/refresh`, {
      refresh_token: user.session.refresh_token,
      session_id: randomUUID(),
    });
    expect(sessionId(body.session)).toBe(sessionId(user.session));
    expect((await user.http.get(`${project.auth}/sessions`)).body.sessions).toHaveLength(1);
  });

  it('begins a new session at every sign-in', async () => {
    const user = await project.signUp();
    const { body } = await guest.post(`${project.auth}/login`, {
      email: user.email,
      password: user.password,
    });
    expect(sessionId(body.session)).not.toBe(sessionId(user.session));
  });

  it('answers a used token with the same successor for 10 seconds', async () => {
    const user = await project.signUp();
    const first = await refresh(user.session.refresh_token);
    plinth.clock.move(8);
    const second = await refresh(user.session.refresh_token);
    expect(second.status).toBe(200);
    expect(second.body.session.refresh_token).toBe(first.body.session.refresh_token);
  });

  it('revokes the session when a token is used again later', async () => {
    const user = await project.signUp();
    const { session } = (await refresh(user.session.refresh_token)).body;
    plinth.clock.move(11);
    expect((await refresh(user.session.refresh_token)).status).toBe(401);
    expect((await refresh(session.refresh_token)).status).toBe(401);
    expect(await userStatus(session)).toBe(401);
    const { body } = await project.service.get(
      `${project.auth}/admin/audit?action=refresh_token_reused&user_id=${user.id}`,
    );
    expect(body.entries).toHaveLength(1);
  });

  it('revokes the session when a token from two rotations ago is used, even within 10 seconds', async () => {
    const user = await project.signUp();
    const once = (await refresh(user.session.refresh_token)).body.session;
    const twice = (await refresh(once.refresh_token)).body.session;
    expect((await refresh(user.session.refresh_token)).status).toBe(401);
    expect(await userStatus(twice)).toBe(401);
  });

  it('gives the same successor to 20 parallel uses of a token', async () => {
    const user = await project.signUp();
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(user.session.refresh_token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const successors = new Set(answers.map(({ body }) => body.session.refresh_token));
    expect(successors.size).toBe(1);
    expect((await refresh([...successors][0] as string)).status).toBe(200);
  });

  it('revokes the session once when 20 late replays arrive together', async () => {
    const user = await project.signUp();
    const { session } = (await refresh(user.session.refresh_token)).body;
    plinth.clock.move(11);
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(user.session.refresh_token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(await userStatus(session)).toBe(401);
  });

  it.each([
    ['no token', {}, 400],
    ['a token that is a number', { refresh_token: 7 }, 400],
    ['nonsense', { refresh_token: 'nonsense' }, 401],
    ['random characters of the right length', { refresh_token: 'A'.repeat(70) }, 401],
  ])('refuses %s', async (_what, body, status) => {
    const answer = await guest.post(`${project.auth}/refresh`, body);
    expect([answer.status, answer.body.status_code]).toEqual([status, status]);
  });

  it('refuses every altered token without ending the session', async () => {
    const { session } = await project.signUp();
    const token = session.refresh_token;
    for (const at of [0, 10, 21, 24, 26, 30, 69]) {
      const other = token[at] === 'A' ? 'B' : 'A';
      const altered = token.slice(0, at) + other + token.slice(at + 1);
      expect((await refresh(altered)).status).toBe(401);
    }
    for (const altered of [`${token}=`, ` ${token}`, token.slice(0, -1), `${token}A`]) {
      expect((await refresh(altered)).status).toBe(401);
    }
    expect(await userStatus(session)).toBe(200);
  });

  it('refuses a token of another project, and an access token', async () => {
    const other = await plinth.createProject();
    const { session } = await other.signUp();
    expect((await refresh(session.refresh_token)).status).toBe(401);
    expect((await refresh(session.access_token)).status).toBe(401);
  });

  it('refuses after sign-out', async () => {
    const user = await project.signUp();
    await user.http.post(`${project.auth}/logout`);
    expect((await refresh(user.session.refresh_token)).status).toBe(401);
  });

  it("ends a session that was not refreshed within the project's limit", async () => {
    const brief = await plinth.createProject({ settings: { refresh_token_lifetime: 600 } });
    const client = brief.client(brief.anonKey, null);
    const { session } = await brief.signUp();
    plinth.clock.move(500);
    const kept = await client.post(`${brief.auth}/refresh`, { refresh_token: session.refresh_token });
    expect(kept.status).toBe(200);
    plinth.clock.move(601);
    const late = await client.post(`${brief.auth}/refresh`, {
      refresh_token: kept.body.session.refresh_token,
    });
    expect(late.status).toBe(401);
  });

  it('stores nothing that could be used as a token', async () => {
    const { session } = await project.signUp();
    await refresh(session.refresh_token);
    const dump = JSON.stringify(await project.sql('select s.* from auth.sessions s'));
    expect(dump).not.toContain(session.refresh_token);
    expect(dump).not.toContain(session.access_token);
  });
});

describe('GET /sessions and DELETE /sessions/<id>', () => {
  it("lists the user's live sessions with device, address and last use, and marks the current one", async () => {
    const user = await project.signUp();
    await guest.post(
      `${project.auth}/login`,
      { email: user.email, password: user.password },
      { headers: { 'user-agent': 'Mozilla/5.0 (Test Phone)' } },
    );
    const { status, body } = await user.http.get(`${project.auth}/sessions`);
    expect(status).toBe(200);
    expect(body.sessions).toHaveLength(2);
    const current = body.sessions.find((one) => one.current);
    const other = body.sessions.find((one) => !one.current);
    expect(current?.id).toBe(sessionId(user.session));
    expect(other).toMatchObject({ user_agent: 'Mozilla/5.0 (Test Phone)', ip: '127.0.0.1' });
    expect(Date.parse(other!.last_seen_at)).not.toBeNaN();
  });

  it("ignores headers about a client's address when no proxy is trusted", async () => {
    const user = await project.signUp();
    await guest.post(
      `${project.auth}/login`,
      { email: user.email, password: user.password },
      { headers: { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9' } },
    );
    const { sessions } = (await user.http.get(`${project.auth}/sessions`)).body;
    expect(sessions.map(({ ip }) => ip)).toEqual(['127.0.0.1', '127.0.0.1']);
  });

  it('ends another session of the user immediately', async () => {
    const user = await project.signUp();
    const other = (await guest.post(`${project.auth}/login`, { email: user.email, password: user.password }))
      .body.session;
    const answer = await user.http.delete(`${project.auth}/sessions/${sessionId(other)}`);
    expect([answer.status, answer.body]).toEqual([200, { message: expect.any(String) }]);
    expect(await userStatus(other)).toBe(401);
    expect(await userStatus(user.session)).toBe(200);
    expect((await user.http.delete(`${project.auth}/sessions/${sessionId(other)}`)).status).toBe(404);
  });

  it("answers 404 for another user's session, which stays active", async () => {
    const [user, victim] = [await project.signUp(), await project.signUp()];
    for (const id of [sessionId(victim.session), randomUUID(), 'nonsense', '%00']) {
      expect((await user.http.delete(`${project.auth}/sessions/${id}`)).status).toBe(404);
    }
    expect(await userStatus(victim.session)).toBe(200);
  });

  it('answers 401 to an ended session and to tokens without a session', async () => {
    const user = await project.signUp();
    await user.http.post(`${project.auth}/logout`);
    for (const client of [user.http, project.anon, project.asSubject(user.id)]) {
      expect((await client.get(`${project.auth}/sessions`)).status).toBe(401);
      expect((await client.delete(`${project.auth}/sessions/${randomUUID()}`)).status).toBe(401);
    }
  });
});
