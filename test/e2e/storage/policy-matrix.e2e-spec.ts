/** Runs the policy matrix (policy-matrix.table.ts): policy x operation x role, each policy set applied to a real project. */
import { shareOf } from '../../support/extent';
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';
import {
  type Operation,
  OPERATION_IDS,
  POLICY_SETS,
  type PolicySet,
  type Role,
  ROLES,
} from './policy-matrix.table';

interface Scene {
  readonly project: TestProject;
  readonly clients: Record<Role, HttpClient>;
  /** Path of the bucket. */
  readonly bucket: string;
  readonly filename: string;
  readonly id: string;
  /** Path of the file. */
  readonly file: string;
}

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

let counter = 0;

/** A project with a bucket, a file in it whose owner is not the bucket's, and a second bucket like the first. */
async function prepare({ isPublic, isOwned, policies }: PolicySet): Promise<() => Promise<Scene>> {
  const project = await plinth.createProject({ plan: 'enterprise' });
  const [owner, bucketOwner, other] = [project.asSubject(), project.asSubject(), project.asSubject()];
  const clients = { anon: project.anon, owner, bucketOwner, other, service: project.service };
  const bearerOf = (client: HttpClient): string => client.headers.authorization?.slice(7) as string;
  // With the service-role key as apikey a row belongs to the bearer, regardless of policies.
  const founder = isOwned ? project.client(project.serviceKey, bearerOf(bucketOwner)) : project.service;
  const found = async (name: string): Promise<void> => {
    const { status } = await founder.post(`${project.storage}/buckets`, { name, is_public: isPublic });
    expect([201, 409]).toContain(status);
  };
  await found('shelf');
  if (policies) await project.sql(policies);
  return async () => {
    // Creates the bucket again, in case the previous test deleted it.
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

/** Reduces the response of a bulk operation to the one file: 404 if the file is not in it. */
const about = (answer: HttpAnswer, isThere: (data: never) => boolean): number =>
  answer.status === 200 && !isThere(answer.body.data as never) ? 404 : answer.status;

const OPERATIONS: Readonly<Record<Operation, (scene: Scene, client: HttpClient) => Promise<number>>> = {
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
};

it('has an operation for each storage route except signed URLs, which need no role', async () => {
  const { paths } = (await plinth.http.get('/openapi.json')).body as {
    paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
  };
  const routes = Object.values(paths).flatMap((methods) =>
    Object.values(methods).filter(({ tags }) => tags?.includes('storage')),
  );
  const expected = routes.map(({ operationId }) => operationId).filter((id) => id !== 'downloadSigned');
  expect(new Set(Object.values(OPERATION_IDS))).toEqual(new Set(expected));
});

describe.each(POLICY_SETS)('policies $title', (policySet) => {
  let scene: () => Promise<Scene>;
  beforeAll(async () => (scene = await prepare(policySet)));

  it.each(shareOf(Object.keys(OPERATION_IDS) as Operation[], POLICY_SETS.indexOf(policySet), 3))(
    'answer %s by role',
    async (operation) => {
      const actual: Record<string, number> = {};
      for (const role of ROLES) {
        const stage = await scene();
        actual[role] = await OPERATIONS[operation](stage, stage.clients[role]);
      }
      const expected = policySet.statuses[operation];
      expect(actual).toEqual(Object.fromEntries(ROLES.map((role, index) => [role, expected[index]])));
    },
  );
});
