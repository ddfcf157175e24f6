/** A project that is restored on another install with another master key is unchanged. */
import { createHash } from 'node:crypto';
import { backUp, restore } from '../../support/backups';
import { TestPlinth } from '../../support/plinth';
import { TestProject, TestUser } from '../../support/test-project';

const OTHER_KEY = { MASTER_KEY: 'another-master-key-0123456789-0123456789' };
const CONTENT = 'the bytes of a file '.repeat(100_000);

let plinth: TestPlinth;
let other: TestPlinth;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  other = await TestPlinth.start({ env: OTHER_KEY });
}, 60_000);
afterAll(async () => {
  await other.stop();
  await plinth.stop();
});

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

async function upload(project: TestProject, name: string, content: string): Promise<string> {
  const body = new FormData();
  body.append('file', new Blob([content]), name);
  const answer = await project.service.send('POST', `${project.storage}/buckets/box/upload`, { body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data.id as string;
}

async function fill(project: TestProject): Promise<{ user: TestUser; fileId: string; link: string }> {
  await project.sql(`
    create table notes (id int generated always as identity primary key, text text not null, owner uuid default auth.uid());
    create policy own on notes to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
    comment on table notes is 'a; comment';
    insert into notes (text) select repeat('x', n) from generate_series(1, 100) n;
    create table open (n int); alter table open disable row level security; insert into open values (1);`);
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  const user = await project.signUp();
  const fileId = await upload(project, 'kept.txt', CONTENT);
  await upload(project, 'small.txt', 'small');
  const signed = await project.service.post(`${project.storage}/files/${fileId}/signed-url`, {
    expiry: '1h',
  });
  const { pathname, search } = new URL(signed.body.data.url);
  return { user, fileId, link: pathname + search };
}

it('keeps ids, keys, rows, policies, sessions, files and signed addresses', async () => {
  const project = await plinth.createProject({ name: 'Moved', settings: { max_rows: 50 } });
  const { user, fileId, link } = await fill(project);
  const archive = await backUp(plinth, project.id);
  await plinth.admin.delete(`/admin/v1/projects/${project.id}`);

  const restored = await restore(other, archive, { query: '?keep_keys=true' });
  expect([restored.status, restored.body]).toEqual([
    201,
    expect.objectContaining({
      id: project.id,
      slug: project.slug,
      same_id: true,
      files: 2,
      missing_files: 0,
    }),
  ]);

  const keys = await other.admin.get(`/admin/v1/projects/${project.id}/keys`);
  expect(keys.body).toMatchObject({ anon_key: project.anonKey, jwt_secret: project.jwtSecret });
  const [anon, service] = [project.anon.at(other.baseUrl), project.service.at(other.baseUrl)];
  expect((await service.get('/rest/v1/notes?select=id')).body).toHaveLength(50);
  expect((await anon.get('/rest/v1/notes')).body).toEqual([]);
  expect((await anon.get('/rest/v1/open')).body).toEqual([{ n: 1 }]);
  const note = await user.http.at(other.baseUrl).post('/rest/v1/notes', { text: 'new' });
  expect([note.status, note.body[0]]).toEqual([201, expect.objectContaining({ id: 101, owner: user.id })]);
  const refreshed = await anon.post(`/v1/auth/${project.id}/refresh`, {
    refresh_token: user.session.refresh_token,
  });
  expect(refreshed.status).toBe(200);
  const login = await anon.post(`/v1/auth/${project.id}/login`, {
    email: user.email,
    password: user.password,
  });
  expect(login.status).toBe(200);
  const file = await service.get(`${project.storage}/files/${fileId}/download`);
  expect([file.status, sha(file.text)]).toEqual([200, sha(CONTENT)]);
  expect((await other.http.get(link)).status).toBe(200);
}, 60_000);
