/** Expiry of access tokens and audit entries. */
import { decode } from 'jsonwebtoken';
import { eventually } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const DAY = 86_400;

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

it('refuses an expired token after 30 seconds of leeway', async () => {
  const user = await project.signUp();
  const { exp } = decode(user.accessToken) as { exp: number };
  expect(exp).toBe(user.session.expires_at);
  plinth.clock.move(3_600 + 20);
  expect((await user.http.get(`${project.auth}/user`)).status).toBe(200);
  plinth.clock.move(20);
  const answer = await user.http.get(`${project.auth}/user`);
  expect([answer.status, answer.body.status_code]).toEqual([401, 401]);
});

it('accepts new keys, tokens and sessions if the clock of the machine is more than a minute slow', async () => {
  const other = await TestPlinth.start({ replicaOf: plinth });
  try {
    other.clock.move((plinth.clock.now() - other.clock.now()) / 1_000 - 90);
    const own = await plinth.createProject();
    const user = await own.signUp();
    for (const client of [own.anon, own.service, user.http])
      expect((await client.at(other.baseUrl).get('/rest/v1/none')).status).toBe(404);
    const me = await user.http.at(other.baseUrl).get(`${own.auth}/user`);
    const body = { refresh_token: user.session.refresh_token };
    const refreshed = await own.anon.at(other.baseUrl).post(`${own.auth}/refresh`, body);
    expect([me.status, refreshed.status]).toEqual([200, 200]);
  } finally {
    await other.stop();
  }
});

it('deletes audit entries after 90 days', async () => {
  const own = await plinth.createProject();
  const old = await own.signUp();
  plinth.clock.move(91 * DAY);
  await own.signUp('ada@example.com');
  await own
    .client(own.anonKey, null)
    .post(`${own.auth}/login`, { email: 'ada@example.com', password: 'correct horse' });
  const entries = async (query: string): Promise<number> => {
    const { body } = await own.service.get(`${own.auth}/admin/audit?${query}`);
    return (body.entries as unknown[]).length;
  };
  await eventually(async () => ((await entries(`user_id=${old.id}`)) === 0 ? true : null));
  expect(await entries('action=sign_in')).toBe(2);
});
