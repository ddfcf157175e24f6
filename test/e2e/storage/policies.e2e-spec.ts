/** A project's own policies: the values that they can use, the time of their evaluation, and their failures. */
import { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { rawExchange, upload } from '../../support/uploads';

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

const DROP_ALL = `do $$ declare p record; begin
  for p in select policyname, tablename from pg_policies where schemaname = 'storage' and policyname !~ 'service role' loop
    execute format('drop policy %I on storage.%I', p.policyname, p.tablename);
  end loop; end $$;`;

describe('a policy that uses the filename', () => {
  const OWN_FOLDER = `${DROP_ALL} create policy see on storage.buckets for select using (true);
    create policy read on storage.files for select using (true);
    create policy folder on storage.files for insert to authenticated
      with check (split_part(filename, '/', 1) = (select auth.uid())::text);`;

  let project: TestProject;
  let user: ReturnType<TestProject['asSubject']>;
  beforeAll(async () => {
    project = await plinth.createProject({ plan: 'enterprise' });
    user = project.asSubject();
    await project.service.post(`${project.storage}/buckets`, { name: 'box' });
    await project.sql(OWN_FOLDER);
  });

  it('sees the name of the upload, from query, field or file', async () => {
    const mine = `${user.userId}/mine-`;
    const box = (options: object): Promise<HttpAnswer> => upload(user, project.storage, 'box', 'x', options);
    expect((await box({ query: { filename: `${mine}1` } })).status).toBe(201);
    expect((await box({ before: { filename: `${mine}2` } })).status).toBe(201);
    expect((await box({ name: `${mine}3` })).status).toBe(201);
    expect((await box({ name: 'elsewhere.txt' })).body.error).toMatchObject({
      code: 'forbidden',
      status: 403,
    });
    expect((await box({ query: { filename: 'elsewhere/x' }, name: `${mine}4` })).status).toBe(403);
    expect((await box({ name: `${mine}5`, after: { filename: 'elsewhere/late' } })).status).toBe(403);
    expect((await user.get(`${project.storage}/buckets/box/files?search=elsewhere`)).body.data).toEqual([]);
  });

  it("refuses before the file's bytes are read", async () => {
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="no.txt"\r\n\r\nfirst bytes';
    const answer = await rawExchange(
      plinth.baseUrl,
      `POST ${project.storage}/buckets/box/upload HTTP/1.1\r\nHost: x\r\napikey: ${project.anonKey}\r\n` +
        `Authorization: ${user.headers.authorization}\r\nContent-Type: multipart/form-data; boundary=b\r\n` +
        `Content-Length: 1000000\r\n\r\n${head}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  });
});

it('the check of the right to upload leaves no row and no dead row', async () => {
  const project = await plinth.createProject();
  const user = project.asSubject();
  await user.post(`${project.storage}/buckets`, { name: 'box', is_public: true });
  for (let n = 0; n < 5; n += 1)
    await upload(user, project.storage, 'box', '', { query: { filename: '..' } });
  for (let n = 0; n < 5; n += 1) await upload(project.asSubject(), project.storage, 'box', 'x');
  for (let n = 0; n < 5; n += 1)
    await user.send('POST', `${project.storage}/buckets/box/upload`, { body: '{}' });
  const [{ bytes }] = await project.sql("select pg_relation_size('storage.files') as bytes");
  expect(Number(bytes)).toBe(0);
});

it('answers with a status and without SQL text when a policy raises an error', async () => {
  const project = await plinth.createProject();
  await project.sql(`${DROP_ALL} create policy broken on storage.files for select using (1 / 0 = 1);
    create policy see on storage.buckets for select using (true);`);
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  await upload(project.service, project.storage, 'box', 'x');
  const { status, body } = await project.asSubject().get(`${project.storage}/buckets/box/files`);
  expect([status, body.error.code, body.error.status]).toEqual([400, 'invalid_parameters', 400]);
});

it("a policy that takes longer than the project's statement_timeout is cancelled", async () => {
  const project = await plinth.createProject({ settings: { statement_timeout: 200 } });
  await project.sql(
    `create policy slow on storage.buckets for select to anon using ((select pg_sleep(20)) is not null)`,
  );
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  const { status, body } = await project.anon.get(`${project.storage}/buckets`);
  expect([status, body.error]).toEqual([
    500,
    { message: expect.any(String), code: 'storage_unavailable', status: 500 },
  ]);
});
