/** Previews: public buckets only, without headers, and no active content in the origin (SPEC.md 3.3 and 4.1). */
import { ObjectStore } from '../../../src/storage/providers/object-store';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let user: ReturnType<TestProject['asSubject']>;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
  await user.post(`${project.storage}/buckets`, { name: 'public', is_public: true });
  await user.post(`${project.storage}/buckets`, { name: 'private' });
});
afterAll(() => plinth.stop());

async function put(
  bucket: string,
  content: string | Uint8Array,
  options: { type?: string } = {},
): Promise<string> {
  const name = `file-${Math.random()}`;
  const { status, body } = await upload(user, project.storage, bucket, content, { name, ...options });
  expect(status).toBe(201);
  return `${project.storage}/files/${body.data.id}/preview`;
}

it('shows a file of a public bucket without credentials', async () => {
  const answer = await plinth.http.get(await put('public', 'hello'));
  expect([answer.status, answer.text]).toEqual([200, 'hello']);
});

it('sends as an attachment a file that became HTML after its row was read', async () => {
  const path = await put('public', 'hello', { type: 'text/plain' });
  const { filename } = (await user.get(path.replace('/preview', ''))).body.data;
  const store = plinth.app.get(ObjectStore);
  const read = store.read.bind(store);
  const reads = jest.spyOn(store, 'read').mockImplementationOnce(async (address, range) => {
    const html = { name: filename, type: 'text/html', query: { upsert: 'true' } };
    expect((await upload(user, project.storage, 'public', '<h1>hello</h1>', html)).status).toBe(200);
    await store.remove([address]);
    return read(address, range);
  });
  const { text, headers } = await plinth.http.get(path);
  expect([text, reads.mock.calls.length]).toEqual(['<h1>hello</h1>', 2]);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('content-disposition')).toMatch(/^attachment/);
  reads.mockRestore();
});

it('answers 404 for a file of a private bucket, even with its owner’s credentials', async () => {
  const path = await put('private', 'hello');
  expect((await plinth.http.get(path)).body).toMatchObject({
    data: null,
    error: { code: 'file_not_found', status: 404 },
  });
  expect((await user.get(path)).status).toBe(404);
  expect((await project.service.get(path)).status).toBe(404);
});

it('ends immediately when the bucket is made private, and works when it is made public', async () => {
  await user.post(`${project.storage}/buckets`, { name: 'changing' });
  const path = await put('changing', 'hello');
  expect((await plinth.http.get(path)).status).toBe(404);
  await user.patch(`${project.storage}/buckets/changing`, { is_public: true });
  expect((await plinth.http.get(path)).status).toBe(200);
  await user.patch(`${project.storage}/buckets/changing`, { is_public: false });
  expect((await plinth.http.get(path)).status).toBe(404);
});

it('answers 404 for an unknown file, and project_not_found for an unknown slug', async () => {
  const id = '00000000-0000-4000-8000-000000000000';
  expect((await plinth.http.get(`${project.storage}/files/${id}/preview`)).body.error.code).toBe(
    'file_not_found',
  );
  expect((await plinth.http.get(`/p/no-such-project/storage/files/${id}/preview`)).body.error.code).toBe(
    'project_not_found',
  );
});

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(64)]);
it.each([
  ['an image', PNG, undefined, 'inline', 'image/png'],
  ['plain text', 'words', undefined, 'inline', 'text/plain; charset=utf-8'],
  ['JSON', '{"a":1}', 'application/json', 'inline', 'application/json'],
  ['HTML', '<!doctype html><script>alert(1)</script>', undefined, 'attachment', 'text/html; charset=utf-8'],
  [
    'HTML declared as an image',
    '<script>alert(1)</script>',
    'image/png',
    'attachment',
    'text/html; charset=utf-8',
  ],
  [
    'HTML after a long comment',
    `<!--${'x'.repeat(3_000)}--><script>alert(1)</script>`,
    undefined,
    'attachment',
    'text/html; charset=utf-8',
  ],
  [
    'SVG',
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    undefined,
    'attachment',
    'image/svg+xml',
  ],
  [
    'XHTML',
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>',
    undefined,
    'attachment',
    'application/xhtml+xml',
  ],
  ['XML', '<?xml version="1.0"?><a/>', undefined, 'attachment', 'application/xml'],
  ['an XML dialect', 'no markup here', 'application/atom+xml', 'attachment', 'application/atom+xml'],
  ['PDF', '%PDF-1.7\n', undefined, 'attachment', 'application/pdf'],
  ['a GIF that is also a script', 'GIF89a=1;alert(1)', 'text/javascript', 'inline', 'image/gif'],
])('shows %s without letting it run', async (_case, content, type, disposition, contentType) => {
  // Not checked, because the check of documented responses would parse a JSON file.
  const client = plinth.http.unchecked();
  const { headers } = await client.get(await put('public', content, type === undefined ? {} : { type }));
  expect(headers.get('content-disposition')).toMatch(new RegExp(`^${disposition};`));
  expect(headers.get('content-type')).toBe(contentType);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toContain('sandbox');
});

it("shows PDF files in the browser if the project's settings allow it", async () => {
  const path = await put('public', '%PDF-1.7\n', {});
  const disposition = async (): Promise<string | null> =>
    (await plinth.http.get(path)).headers.get('content-disposition');
  expect(await disposition()).toMatch(/^attachment;/);
  await plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { preview_pdf_inline: true } });
  expect(await disposition()).toMatch(/^inline;/);
});
