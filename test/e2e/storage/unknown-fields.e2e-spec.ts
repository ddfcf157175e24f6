/** A body with an unknown member is refused, because its sender expects an effect. */
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let fileId: string;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  fileId = (await upload(project.service, project.storage, 'box', 'x', { name: 'file' })).body.data.id;
});
afterAll(() => plinth.stop());

/** Each with a body that is valid except for the unknown member. */
const ROUTES: [string, string, (id: string) => object][] = [
  ['POST', '/buckets', () => ({ name: 'Photos' })],
  ['PATCH', '/buckets/box', () => ({ description: 'changed' })],
  ['PATCH', '/files/:id', () => ({ filename: 'changed' })],
  ['POST', '/files/:id/copy', () => ({ filename: 'copy' })],
  ['POST', '/files/:id/signed-url', () => ({ expiry: '5m' })],
  ['POST', '/files/bulk-signed-urls', (id) => ({ file_ids: [id], expiry: '5m' })],
  ['POST', '/files/bulk-delete', (id) => ({ file_ids: [id] })],
];

describe.each(ROUTES)('%s %s', (method, path, good) => {
  const send = (more: object): ReturnType<TestProject['service']['send']> =>
    project.service.send(method, project.storage + path.replace(':id', fileId), {
      body: { ...good(fileId), ...more },
    });

  it.each(['public', 'isPublic', 'fileIds', 'expires_in', ''])(
    'names the refused member %j',
    async (name) => {
      const before = await project.sql('select filename, updated_at from storage.files order by filename');
      const { status, body } = await send({ [name]: true });
      expect([status, body]).toEqual([
        400,
        {
          data: null,
          error: {
            code: 'invalid_parameters',
            message: expect.stringMatching(new RegExp(`^${name} is unknown(; did you mean \\w+\\?)?$`)),
            status: 400,
          },
        },
      ]);
      expect(await project.sql('select filename, updated_at from storage.files order by filename')).toEqual(
        before,
      );
    },
  );

  it('accepts the same body without it', async () => expect((await send({})).status).toBeLessThan(300));
});

it('creates no bucket from a body with a misspelt member', async () => {
  const { service, storage } = project;
  const answer = await service.post(`${storage}/buckets`, { name: 'Public', public: true });
  expect([answer.status, answer.body.error.message]).toEqual([
    400,
    'public is unknown; did you mean is_public?',
  ]);
  expect((await service.get(`${storage}/buckets/Public`)).status).toBe(404);
});

it('allows any member inside metadata', async () => {
  const { service, storage } = project;
  const { body } = await upload(service, storage, 'box', 'x', { name: 'free' });
  const metadata = { public: true, constructor: { toString: 1 } };
  const changed = await service.patch(`${storage}/files/${body.data.id}`, { metadata });
  expect(changed.body.data.metadata).toEqual(metadata);
});
