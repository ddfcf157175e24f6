/** Who may do what with files: policy x role x operation x expected status, each policy applied for real. */
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { rawExchange, upload } from '../../support/uploads';

type Role = 'anon' | 'owner' | 'bucketOwner' | 'other' | 'service';
type Operation =
  | 'see bucket'
  | 'list'
  | 'record'
  | 'download'
  | 'sign'
  | 'upload'
  | 'rename'
  | 'overwrite'
  | 'revoke'
  | 'copy'
  | 'delete'
  | 'bulk delete';

const ROLES: readonly Role[] = ['anon', 'owner', 'bucketOwner', 'other', 'service'];

interface Scene {
  readonly project: TestProject;
  readonly clients: Record<Role, HttpClient>;
  readonly bucket: string;
  readonly filename: string;
  readonly file: string;
}

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

let counter = 0;

/** A project with a bucket, and in it a file of somebody who is not the bucket's owner. */
async function prepare(
  isPublic: boolean,
  ownedBucket: boolean,
  policies: string,
): Promise<() => Promise<Scene>> {
  const project = await plinth.createProject({ plan: 'enterprise' });
  const [owner, bucketOwner, other] = [project.asSubject(), project.asSubject(), project.asSubject()];
  const clients = { anon: project.anon, owner, bucketOwner, other, service: project.service };
  await (ownedBucket ? bucketOwner : project.service).post(`${project.storage}/buckets`, {
    name: 'box',
    is_public: isPublic,
  });
  if (policies) await project.sql(policies);
  return async () => {
    const filename = `${owner.userId}/file-${counter++}`;
    const bearer = owner.headers.authorization?.slice(7) as string;
    // With the service-role key as apikey: the file is the bearer's, whatever the policies say.
    const { status, body } = await upload(
      project.client(project.serviceKey, bearer),
      project.storage,
      'box',
      'x',
      { after: { filename } },
    );
    expect([status, body.data.owner_id]).toEqual([201, owner.userId]);
    return { project, clients, bucket: 'box', filename, file: `${project.storage}/files/${body.data.id}` };
  };
}

const OPERATIONS: Record<Operation, (scene: Scene, client: HttpClient) => Promise<HttpAnswer>> = {
  'see bucket': ({ project, bucket }, client) => client.get(`${project.storage}/buckets/${bucket}`),
  list: ({ project, bucket }, client) => client.get(`${project.storage}/buckets/${bucket}/files`),
  record: ({ file }, client) => client.get(file),
  download: ({ file }, client) => client.get(`${file}/download`),
  sign: ({ file }, client) => client.post(`${file}/signed-url`, { expiry: '5m' }),
  upload: ({ project, bucket }, client) =>
    upload(client, project.storage, bucket, 'y', { name: `new-${counter++}` }),
  rename: ({ file }, client) => client.patch(file, { filename: `renamed-${counter++}` }),
  overwrite: ({ project, bucket, filename }, client) =>
    upload(client, project.storage, bucket, 'z', { after: { filename, upsert: 'true' } }),
  revoke: ({ file }, client) => client.delete(`${file}/signed-urls`),
  copy: ({ file }, client) => client.post(`${file}/copy`, { filename: `copy-${counter++}` }),
  delete: ({ file }, client) => client.delete(file),
  'bulk delete': ({ project, file }, client) =>
    client.post(`${project.storage}/files/bulk-delete`, { file_ids: [file.split('/').at(-1)] }),
};

/** Statuses in the order of ROLES: anon, owner of the file, owner of the bucket, somebody else, service role. */
type Row = [Operation, [number, number, number, number, number]];

const SHIPPED_PRIVATE: Row[] = [
  ['see bucket', [404, 404, 200, 404, 200]],
  ['list', [404, 404, 200, 404, 200]],
  ['record', [404, 200, 200, 404, 200]],
  ['download', [404, 200, 200, 404, 200]],
  ['sign', [404, 200, 200, 404, 200]],
  ['upload', [404, 404, 201, 404, 201]],
  ['rename', [404, 403, 200, 404, 200]],
  ['overwrite', [404, 404, 200, 404, 200]],
  ['revoke', [404, 403, 200, 404, 200]],
  ['copy', [404, 404, 201, 404, 201]],
  ['delete', [404, 200, 200, 404, 200]],
  // What the caller may not see is not found, and no refusal.
  ['bulk delete', [200, 200, 200, 200, 200]],
];

const SHIPPED_PUBLIC: Row[] = [
  ['see bucket', [200, 200, 200, 200, 200]],
  ['list', [200, 200, 200, 200, 200]],
  ['record', [200, 200, 200, 200, 200]],
  ['download', [200, 200, 200, 200, 200]],
  ['sign', [200, 200, 200, 200, 200]],
  ['upload', [403, 403, 201, 403, 201]],
  ['rename', [403, 403, 200, 403, 200]],
  ['overwrite', [403, 403, 200, 403, 200]],
  ['revoke', [403, 403, 200, 403, 200]],
  ['copy', [403, 403, 201, 403, 201]],
  ['delete', [403, 200, 200, 403, 200]],
  ['bulk delete', [403, 200, 200, 403, 200]],
];

/** A project bucket has no owner: everybody who is signed in uploads, and manages own files. */
const SHIPPED_PROJECT: Row[] = [
  ['see bucket', [404, 200, 200, 200, 200]],
  ['list', [404, 200, 200, 200, 200]],
  ['record', [404, 200, 404, 404, 200]],
  ['download', [404, 200, 404, 404, 200]],
  ['sign', [404, 200, 404, 404, 200]],
  ['upload', [404, 201, 201, 201, 201]],
  ['rename', [404, 200, 404, 404, 200]],
  ['overwrite', [404, 200, 403, 403, 200]],
  ['revoke', [404, 200, 404, 404, 200]],
  ['copy', [404, 201, 404, 404, 201]],
  ['delete', [404, 200, 404, 404, 200]],
  ['bulk delete', [200, 200, 200, 200, 200]],
];

const DROP_ALL = `do $$ declare p record; begin
  for p in select policyname, tablename from pg_policies where schemaname = 'storage' and policyname !~ 'service role' loop
    execute format('drop policy %I on storage.%I', p.policyname, p.tablename);
  end loop; end $$;`;

const NOTHING: Row[] = (Object.keys(OPERATIONS) as Operation[]).map((operation) => {
  const hidden = operation === 'bulk delete' ? 200 : 404;
  const done = operation === 'upload' || operation === 'copy' ? 201 : 200;
  return [operation, [hidden, hidden, hidden, hidden, done]];
});

const READ_ONLY: Row[] = [
  ['list', [200, 200, 200, 200, 200]],
  ['download', [200, 200, 200, 200, 200]],
  ['upload', [403, 403, 403, 403, 201]],
  ['rename', [403, 403, 403, 403, 200]],
  ['copy', [403, 403, 403, 403, 201]],
  ['delete', [403, 403, 403, 403, 200]],
  ['bulk delete', [403, 403, 403, 403, 200]],
];

const ANYTHING: Row[] = [
  ['list', [200, 200, 200, 200, 200]],
  ['upload', [201, 201, 201, 201, 201]],
  ['rename', [200, 200, 200, 200, 200]],
  ['overwrite', [200, 200, 200, 200, 200]],
  ['revoke', [200, 200, 200, 200, 200]],
  ['copy', [201, 201, 201, 201, 201]],
  ['delete', [200, 200, 200, 200, 200]],
  ['bulk delete', [200, 200, 200, 200, 200]],
];

const everybody = (command: string): string =>
  ['buckets', 'files']
    .map((table) => `create policy "everybody ${command}" on storage.${table} for ${command} using (true);`)
    .join('');

const VARIANTS: [string, { isPublic: boolean; ownedBucket: boolean; policies: string }, Row[]][] = [
  ['as shipped, in a private bucket', { isPublic: false, ownedBucket: true, policies: '' }, SHIPPED_PRIVATE],
  ['as shipped, in a public bucket', { isPublic: true, ownedBucket: true, policies: '' }, SHIPPED_PUBLIC],
  ['as shipped, in a project bucket', { isPublic: false, ownedBucket: false, policies: '' }, SHIPPED_PROJECT],
  ['dropped by the project', { isPublic: true, ownedBucket: true, policies: DROP_ALL }, NOTHING],
  [
    'replaced: everybody reads',
    { isPublic: false, ownedBucket: true, policies: DROP_ALL + everybody('select') },
    READ_ONLY,
  ],
  [
    'replaced: everybody does everything',
    { isPublic: false, ownedBucket: true, policies: DROP_ALL + everybody('all') },
    ANYTHING,
  ],
];

describe.each(VARIANTS)('policies %s', (_variant, { isPublic, ownedBucket, policies }, rows) => {
  let scene: () => Promise<Scene>;
  beforeAll(async () => (scene = await prepare(isPublic, ownedBucket, policies)));

  it.each(rows)('answer %s by role', async (operation, expected) => {
    const actual: Record<string, number> = {};
    for (const role of ROLES) {
      const stage = await scene();
      actual[role] = (await OPERATIONS[operation](stage, stage.clients[role])).status;
    }
    expect(actual).toEqual(Object.fromEntries(ROLES.map((role, index) => [role, expected[index]])));
  });
});

describe('a policy that looks at the filename', () => {
  const OWN_FOLDER = `${DROP_ALL} create policy see on storage.buckets for select using (true);
    create policy read on storage.files for select using (true);
    create policy folder on storage.files for insert to authenticated
      with check (split_part(filename, '/', 1) = (select auth.uid())::text);`;

  it('is asked with the name that the upload has, from address, field or file', async () => {
    const { project, clients } = await (await prepare(false, false, OWN_FOLDER))();
    const user = clients.other as HttpClient & { userId: string };
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

  it('refuses before the bytes of the file are read', async () => {
    const { project, clients } = await (await prepare(false, false, OWN_FOLDER))();
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="no.txt"\r\n\r\nfirst bytes';
    const answer = await rawExchange(
      plinth.baseUrl,
      `POST ${project.storage}/buckets/box/upload HTTP/1.1\r\nHost: x\r\napikey: ${project.anonKey}\r\n` +
        `Authorization: ${clients.other.headers.authorization}\r\nContent-Type: multipart/form-data; boundary=b\r\n` +
        `Content-Length: 1000000\r\n\r\n${head}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  });
});

it('the right to upload is tried without a trace: no row, no dead row', async () => {
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

it('a function of the project that fails in a policy answers with a status, not with SQL', async () => {
  const project = await plinth.createProject();
  await project.sql(`${DROP_ALL} create policy broken on storage.files for select using (1 / 0 = 1);
    create policy see on storage.buckets for select using (true);`);
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  await upload(project.service, project.storage, 'box', 'x');
  const { status, body } = await project.asSubject().get(`${project.storage}/buckets/box/files`);
  expect([status, body.error.code, body.error.status]).toEqual([400, 'invalid_parameters', 400]);
});

it("a policy that takes longer than the project's statement_timeout is broken off", async () => {
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
