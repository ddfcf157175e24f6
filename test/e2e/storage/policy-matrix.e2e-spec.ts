/** Who may do what with files: policy x role x operation x expected status, each policy applied for real. */
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

type Role = 'anon' | 'owner' | 'bucketOwner' | 'other' | 'service';

const ROLES: readonly Role[] = ['anon', 'owner', 'bucketOwner', 'other', 'service'];

interface Scene {
  readonly project: TestProject;
  readonly clients: Record<Role, HttpClient>;
  /** Address of the bucket. */
  readonly bucket: string;
  readonly filename: string;
  readonly id: string;
  /** Address of the file. */
  readonly file: string;
}

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

let counter = 0;

/** A project with a bucket, in it a file of somebody who is not the bucket's owner, and a second bucket like the first. */
async function prepare(
  isPublic: boolean,
  ownedBucket: boolean,
  policies: string,
): Promise<() => Promise<Scene>> {
  const project = await plinth.createProject({ plan: 'enterprise' });
  const [owner, bucketOwner, other] = [project.asSubject(), project.asSubject(), project.asSubject()];
  const clients = { anon: project.anon, owner, bucketOwner, other, service: project.service };
  const bearerOf = (client: HttpClient): string => client.headers.authorization?.slice(7) as string;
  // With the service-role key as apikey a row is the bearer's, whatever the policies say.
  const founder = ownedBucket ? project.client(project.serviceKey, bearerOf(bucketOwner)) : project.service;
  const found = async (name: string): Promise<void> => {
    const { status } = await founder.post(`${project.storage}/buckets`, { name, is_public: isPublic });
    expect([201, 409]).toContain(status);
  };
  await found('shelf');
  if (policies) await project.sql(policies);
  return async () => {
    // Again, where the last scene was about deleting it.
    await found('box');
    const filename = `${owner.userId}/file-${counter++}`;
    const { status, body } = await upload(
      project.client(project.serviceKey, bearerOf(owner)),
      project.storage,
      'box',
      'x',
      { after: { filename } },
    );
    expect([status, body.data.owner_id]).toEqual([201, owner.userId]);
    const { id } = body.data;
    const { storage } = project;
    return {
      project,
      clients,
      bucket: `${storage}/buckets/box`,
      filename,
      id,
      file: `${storage}/files/${id}`,
    };
  };
}

/** An answer about several files, as if it were about the one: 404 where the file is not in it. */
const about = (answer: HttpAnswer, isThere: (data: never) => boolean): number =>
  answer.status === 200 && !isThere(answer.body.data as never) ? 404 : answer.status;

const OPERATIONS = {
  'create bucket': async ({ project }, client) =>
    (await client.post(`${project.storage}/buckets`, { name: `bucket ${counter++}` })).status,
  'see bucket': async ({ bucket }, client) => (await client.get(bucket)).status,
  'find bucket in list': async ({ project }, client) =>
    about(await client.get(`${project.storage}/buckets`), (buckets: { slug: string }[]) =>
      buckets.some(({ slug }) => slug === 'box'),
    ),
  'change bucket': async ({ bucket }, client) => (await client.patch(bucket, { description: 'new' })).status,
  'delete bucket': async ({ bucket }, client) => (await client.delete(bucket)).status,
  list: async ({ bucket }, client) => (await client.get(`${bucket}/files`)).status,
  folders: async ({ bucket }, client) => (await client.get(`${bucket}/folders`)).status,
  'find in list': async ({ bucket, filename }, client) =>
    about(await client.get(`${bucket}/files?limit=1000`), (files: { filename: string }[]) =>
      files.some((file) => file.filename === filename),
    ),
  record: async ({ file }, client) => (await client.get(file)).status,
  download: async ({ file }, client) => (await client.get(`${file}/download`)).status,
  preview: async ({ file }, client) => (await client.get(`${file}/preview`)).status,
  sign: async ({ file }, client) => (await client.post(`${file}/signed-url`, { expiry: '5m' })).status,
  'bulk sign': async ({ project, id }, client) =>
    about(
      await client.post(`${project.storage}/files/bulk-signed-urls`, { file_ids: [id], expiry: '5m' }),
      ([link]: { url: string | null }[]) => link?.url !== null,
    ),
  upload: async ({ project }, client) =>
    (await upload(client, project.storage, 'box', 'y', { name: `new-${counter++}` })).status,
  rename: async ({ file }, client) => (await client.patch(file, { filename: `renamed-${counter++}` })).status,
  move: async ({ file }, client) => (await client.patch(file, { bucket_name: 'shelf' })).status,
  overwrite: async ({ project, filename }, client) =>
    (await upload(client, project.storage, 'box', 'z', { after: { filename, upsert: 'true' } })).status,
  revoke: async ({ file }, client) => (await client.delete(`${file}/signed-urls`)).status,
  copy: async ({ file }, client) =>
    (await client.post(`${file}/copy`, { filename: `copy-${counter++}` })).status,
  'copy elsewhere': async ({ file }, client) =>
    (await client.post(`${file}/copy`, { filename: `copy-${counter++}`, bucket_name: 'shelf' })).status,
  delete: async ({ file }, client) => (await client.delete(file)).status,
  'bulk delete': async ({ project, id }, client) =>
    about(
      await client.post(`${project.storage}/files/bulk-delete`, { file_ids: [id] }),
      ({ deleted }: { deleted: string[] }) => deleted.includes(id),
    ),
} satisfies Record<string, (scene: Scene, client: HttpClient) => Promise<number>>;
type Operation = keyof typeof OPERATIONS;

/** Statuses in the order of ROLES: anon, owner of the file, owner of the bucket, somebody else, service role. */
type Row = [Operation, [number, number, number, number, number]];

const SHIPPED_PRIVATE: Row[] = [
  ['create bucket', [403, 201, 201, 201, 201]],
  ['see bucket', [404, 404, 200, 404, 200]],
  ['find bucket in list', [404, 404, 200, 404, 200]],
  ['change bucket', [404, 404, 200, 404, 200]],
  ['delete bucket', [404, 404, 200, 404, 200]],
  ['list', [404, 404, 200, 404, 200]],
  ['folders', [404, 404, 200, 404, 200]],
  ['find in list', [404, 404, 200, 404, 200]],
  ['record', [404, 200, 200, 404, 200]],
  ['download', [404, 200, 200, 404, 200]],
  ['preview', [404, 404, 404, 404, 404]],
  ['sign', [404, 200, 200, 404, 200]],
  ['bulk sign', [404, 200, 200, 404, 200]],
  ['upload', [404, 404, 201, 404, 201]],
  ['rename', [404, 403, 200, 404, 200]],
  ['move', [404, 404, 200, 404, 200]],
  ['overwrite', [404, 404, 200, 404, 200]],
  ['revoke', [404, 403, 200, 404, 200]],
  ['copy', [404, 404, 201, 404, 201]],
  ['copy elsewhere', [404, 404, 201, 404, 201]],
  ['delete', [404, 200, 200, 404, 200]],
  ['bulk delete', [404, 200, 200, 404, 200]],
];

const SHIPPED_PUBLIC: Row[] = [
  ['create bucket', [403, 201, 201, 201, 201]],
  ['see bucket', [200, 200, 200, 200, 200]],
  ['find bucket in list', [200, 200, 200, 200, 200]],
  ['change bucket', [403, 403, 200, 403, 200]],
  ['delete bucket', [403, 403, 200, 403, 200]],
  ['list', [200, 200, 200, 200, 200]],
  ['folders', [200, 200, 200, 200, 200]],
  ['find in list', [200, 200, 200, 200, 200]],
  ['record', [200, 200, 200, 200, 200]],
  ['download', [200, 200, 200, 200, 200]],
  ['preview', [200, 200, 200, 200, 200]],
  ['sign', [200, 200, 200, 200, 200]],
  ['bulk sign', [200, 200, 200, 200, 200]],
  ['upload', [403, 403, 201, 403, 201]],
  ['rename', [403, 403, 200, 403, 200]],
  ['move', [403, 403, 200, 403, 200]],
  ['overwrite', [403, 403, 200, 403, 200]],
  ['revoke', [403, 403, 200, 403, 200]],
  ['copy', [403, 403, 201, 403, 201]],
  ['copy elsewhere', [403, 403, 201, 403, 201]],
  ['delete', [403, 200, 200, 403, 200]],
  ['bulk delete', [403, 200, 200, 403, 200]],
];

/** A project bucket has no owner: everybody who is signed in uploads, and manages own files. */
const SHIPPED_PROJECT: Row[] = [
  ['create bucket', [403, 201, 201, 201, 201]],
  ['see bucket', [404, 200, 200, 200, 200]],
  ['find bucket in list', [404, 200, 200, 200, 200]],
  ['change bucket', [404, 403, 403, 403, 200]],
  ['delete bucket', [404, 403, 403, 403, 200]],
  ['list', [404, 200, 200, 200, 200]],
  ['folders', [404, 200, 200, 200, 200]],
  ['find in list', [404, 200, 404, 404, 200]],
  ['record', [404, 200, 404, 404, 200]],
  ['download', [404, 200, 404, 404, 200]],
  ['preview', [404, 404, 404, 404, 404]],
  ['sign', [404, 200, 404, 404, 200]],
  ['bulk sign', [404, 200, 404, 404, 200]],
  ['upload', [404, 201, 201, 201, 201]],
  ['rename', [404, 200, 404, 404, 200]],
  ['move', [404, 200, 404, 404, 200]],
  ['overwrite', [404, 200, 403, 403, 200]],
  ['revoke', [404, 200, 404, 404, 200]],
  ['copy', [404, 201, 404, 404, 201]],
  ['copy elsewhere', [404, 201, 404, 404, 201]],
  ['delete', [404, 200, 404, 404, 200]],
  ['bulk delete', [404, 200, 404, 404, 200]],
];

const DROP_ALL = `do $$ declare p record; begin
  for p in select policyname, tablename from pg_policies where schemaname = 'storage' and policyname !~ 'service role' loop
    execute format('drop policy %I on storage.%I', p.policyname, p.tablename);
  end loop; end $$;`;

const NOTHING: Row[] = (Object.keys(OPERATIONS) as Operation[]).map((operation) => {
  // There is nothing to be seen, but a bucket that may not be made; and a preview is anon's, whoever asks.
  const refused = operation === 'create bucket' ? 403 : 404;
  const made = ['create bucket', 'upload', 'copy', 'copy elsewhere'].includes(operation) ? 201 : 200;
  return [operation, [refused, refused, refused, refused, operation === 'preview' ? 404 : made]];
});

const READ_ONLY: Row[] = [
  ['create bucket', [403, 403, 403, 403, 201]],
  ['see bucket', [200, 200, 200, 200, 200]],
  ['find bucket in list', [200, 200, 200, 200, 200]],
  ['change bucket', [403, 403, 403, 403, 200]],
  ['delete bucket', [403, 403, 403, 403, 200]],
  ['list', [200, 200, 200, 200, 200]],
  ['folders', [200, 200, 200, 200, 200]],
  ['find in list', [200, 200, 200, 200, 200]],
  ['record', [200, 200, 200, 200, 200]],
  ['download', [200, 200, 200, 200, 200]],
  ['preview', [404, 404, 404, 404, 404]],
  ['sign', [200, 200, 200, 200, 200]],
  ['bulk sign', [200, 200, 200, 200, 200]],
  ['upload', [403, 403, 403, 403, 201]],
  ['rename', [403, 403, 403, 403, 200]],
  ['move', [403, 403, 403, 403, 200]],
  ['overwrite', [403, 403, 403, 403, 200]],
  ['revoke', [403, 403, 403, 403, 200]],
  ['copy', [403, 403, 403, 403, 201]],
  ['copy elsewhere', [403, 403, 403, 403, 201]],
  ['delete', [403, 403, 403, 403, 200]],
  ['bulk delete', [403, 403, 403, 403, 200]],
];

const ANYTHING: Row[] = (Object.keys(OPERATIONS) as Operation[]).map((operation) => {
  const made = ['create bucket', 'upload', 'copy', 'copy elsewhere'].includes(operation) ? 201 : 200;
  // Policies open a private bucket to everybody, and to previews not at all.
  const status = operation === 'preview' ? 404 : made;
  return [operation, [status, status, status, status, status]];
});

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
      actual[role] = await OPERATIONS[operation](stage, stage.clients[role]);
    }
    expect(actual).toEqual(Object.fromEntries(ROLES.map((role, index) => [role, expected[index]])));
  });
});
