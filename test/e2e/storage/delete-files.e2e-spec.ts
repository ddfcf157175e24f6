/** Deleting files, one and many; records; renaming and moving (SPEC.md 4.1, DECISIONS.md 6). */
import { TestPlinth } from '../../support/plinth';
import { expectBytesMatchRows } from '../../support/stored-objects';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let user: ReturnType<TestProject['asSubject']>;
let storage: string;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
  storage = project.storage;
  await user.post(`${storage}/buckets`, { name: 'box' });
  await user.post(`${storage}/buckets`, { name: 'window', is_public: true });
});
afterAll(() => plinth.stop());

let counter = 0;
async function put(bucket = 'box', client = user as TestProject['anon'], content = 'x'): Promise<string> {
  const { status, body } = await upload(client, storage, bucket, content, { name: `file-${counter++}` });
  expect(status).toBe(201);
  return body.data.id;
}
describe('DELETE /files/<file_id>', () => {
  it('deletes row and bytes, and answers in the envelope', async () => {
    await put();
    const id = await put();
    const answer = await user.delete(`${storage}/files/${id}`);
    expect(answer).toMatchObject({ status: 200, body: { data: { id }, error: null } });
    expect((await user.get(`${storage}/files/${id}/download`)).status).toBe(404);
    expect((await user.delete(`${storage}/files/${id}`)).body.error.code).toBe('file_not_found');
    await expectBytesMatchRows(plinth, project);
  });

  it("answers 403 for a visible file of another user, 404 for a hidden one; the bucket's owner may delete", async () => {
    const other = project.asSubject();
    const [shown, hidden] = [await put('window'), await put()];
    expect((await other.delete(`${storage}/files/${shown}`)).body.error).toMatchObject({
      code: 'forbidden',
      status: 403,
    });
    expect((await project.anon.delete(`${storage}/files/${shown}`)).status).toBe(403);
    expect((await other.delete(`${storage}/files/${hidden}`)).status).toBe(404);
    const byService = await put('box', project.service);
    expect((await user.delete(`${storage}/files/${byService}`)).status).toBe(200);
  });

  it('frees the name', async () => {
    const first = await upload(user, storage, 'box', '1', { name: 'again' });
    await user.delete(`${storage}/files/${first.body.data.id}`);
    const second = await upload(user, storage, 'box', '2', { name: 'again' });
    expect(second.status).toBe(201);
    expect(second.body.data.id).not.toBe(first.body.data.id);
  });
});

describe('POST /files/bulk-delete', () => {
  it('deletes the existing files and lists the rest as not found', async () => {
    const [first, second] = [await put(), await put()];
    const unknown = '00000000-0000-4000-8000-000000000000';
    const answer = await user.post(`${storage}/files/bulk-delete`, {
      file_ids: [first, unknown, second, 'no-id', first],
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { deleted: [first, second], not_found: [unknown, 'no-id'] }, error: null },
    });
    expect((await user.get(`${storage}/files/${first}`)).status).toBe(404);
  });

  it('does not find files that the caller may not see', async () => {
    const id = await put();
    const { body } = await project.asSubject().post(`${storage}/files/bulk-delete`, { file_ids: [id] });
    expect(body.data).toEqual({ deleted: [], not_found: [id] });
    expect((await user.get(`${storage}/files/${id}`)).status).toBe(200);
  });

  it('is one transaction: one forbidden file means that none is deleted', async () => {
    const other = project.asSubject();
    await project.service.post(`${storage}/buckets`, { name: 'shared window', is_public: true });
    const [foreign, own] = [await put('shared-window'), await put('shared-window', other)];
    const answer = await other.post(`${storage}/files/bulk-delete`, { file_ids: [own, foreign] });
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    expect((await other.get(`${storage}/files/${own}/download`)).text).toBe('x');
  });

  it('accepts a thousand ids, and answers 400 for more, for none, and for malformed ids', async () => {
    const rows = await project.sql(`
      insert into storage.files (bucket_id, filename, content_type, size, sha256, owner_id, object_id)
      select id, 'one of many/' || n, 'text/plain', 1, repeat('0', 64), owner_id, gen_random_uuid()
      from storage.buckets, generate_series(1, 1000) n where slug = 'box' returning id`);
    const ids = rows.map(({ id }: { id: string }) => id);
    const all = await user.post(`${storage}/files/bulk-delete`, { file_ids: ids });
    expect([all.status, all.body.data]).toEqual([200, { deleted: ids, not_found: [] }]);
    expect((await user.get(`${storage}/buckets/box/files?prefix=one of many/`)).body.data).toEqual([]);
    for (const body of [
      {},
      { file_ids: 'x' },
      { file_ids: [1] },
      { file_ids: null },
      { file_ids: [...ids, 'x'] },
    ]) {
      const answer = await user.post(`${storage}/files/bulk-delete`, body);
      expect([answer.status, answer.body.error?.code]).toEqual([400, 'invalid_parameters']);
    }
    expect((await user.post(`${storage}/files/bulk-delete`, { file_ids: [] })).body.data).toEqual({
      deleted: [],
      not_found: [],
    });
  });
});

describe('GET /files/<file_id>', () => {
  it('answers the record', async () => {
    const id = await put();
    expect((await user.get(`${storage}/files/${id}`)).body).toMatchObject({
      data: { id, bucket_slug: 'box', size: 1 },
      error: null,
    });
    expect((await project.asSubject().get(`${storage}/files/${id}`)).body.error.code).toBe('file_not_found');
  });
});

describe('PATCH /files/<file_id>', () => {
  it('changes filename and metadata', async () => {
    const id = await put();
    const answer = await user.patch(`${storage}/files/${id}`, {
      filename: 'new/name.txt',
      metadata: { a: 1 },
      content_type: 'text/markdown',
    });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        data: { id, filename: 'new/name.txt', metadata: { a: 1 }, content_type: 'text/markdown' },
        error: null,
      },
    });
    expect((await user.get(`${storage}/files/${id}/download`)).text).toBe('x');
  });

  it('moves to another bucket', async () => {
    const id = await put();
    const { body } = await user.patch(`${storage}/files/${id}`, { bucket_name: 'window' });
    expect(body.data.bucket_slug).toBe('window');
    expect((await plinth.http.get(`${storage}/files/${id}/preview`)).status).toBe(200);
  });

  it('answers 409 when the name is taken, 400 for a bad one, 404 for an unknown bucket or file', async () => {
    const [first, second] = [await put(), await put()];
    const { filename } = (await user.get(`${storage}/files/${first}`)).body.data;
    expect((await user.patch(`${storage}/files/${second}`, { filename })).body.error).toMatchObject({
      code: 'file_already_exists',
      status: 409,
    });
    for (const bad of ['', '../x', 'a\0b', 'a\u0085b', 'ü'.repeat(513), 5, null]) {
      expect((await user.patch(`${storage}/files/${second}`, { filename: bad })).status).toBe(400);
      expect((await user.post(`${storage}/files/${second}/copy`, { filename: bad })).status).toBe(400);
    }
    expect((await user.patch(`${storage}/files/${second}`, { content_type: 'x\r\ny' })).status).toBe(400);
    expect((await user.patch(`${storage}/files/${second}`, { metadata: [] })).status).toBe(400);
    expect((await user.patch(`${storage}/files/${second}`, { metadata: null })).status).toBe(400);
    expect((await user.patch(`${storage}/files/${second}`, { bucket_name: 'nowhere' })).body.error.code).toBe(
      'bucket_not_found',
    );
    expect(
      (await project.asSubject().patch(`${storage}/files/${second}`, { filename: 'x' })).body.error.code,
    ).toBe('file_not_found');
  });

  it('does not move a file into a bucket where the caller may not upload', async () => {
    const other = project.asSubject();
    await other.post(`${storage}/buckets`, { name: 'other window', is_public: true });
    const id = await put();
    expect(
      (await user.patch(`${storage}/files/${id}`, { bucket_name: 'other-window' })).body.error,
    ).toMatchObject({ code: 'forbidden', status: 403 });
  });

  it('answers 413 and 415 for a file that the other bucket does not accept, as an upload does', async () => {
    const id = await put('box', user, 'words');
    const move = async (bucket: object): Promise<[number, string | undefined]> => {
      const name = `picky-${counter++}`;
      await user.post(`${storage}/buckets`, { name, ...bucket });
      const { status, body } = await user.patch(`${storage}/files/${id}`, { bucket_name: name });
      return [status, body.error?.code];
    };
    expect(await move({ file_size_limit: 4 })).toEqual([413, 'file_too_large']);
    expect(await move({ allowed_mime_types: ['image/*'] })).toEqual([415, 'unsupported_media_type']);
    expect((await user.get(`${storage}/files/${id}`)).body.data.bucket_slug).toBe('box');
    expect(await move({ file_size_limit: 5, allowed_mime_types: ['text/*'] })).toEqual([200, undefined]);
  });

  it('answers 415 for a type that the bucket does not accept, and keeps files older than the limits', async () => {
    await user.post(`${storage}/buckets`, { name: 'strict' });
    const id = await put('strict', user, 'words');
    await user.patch(`${storage}/buckets/strict`, { file_size_limit: 1, allowed_mime_types: ['text/csv'] });
    const change = async (update: object): Promise<number> =>
      (await user.patch(`${storage}/files/${id}`, update)).status;
    expect(await change({ content_type: 'text/plain', bucket_name: 'strict' })).toBe(200);
    expect(await change({ content_type: 'text/html' })).toBe(415);
    expect(await change({ content_type: 'text/html', bucket_name: 'strict' })).toBe(415);
    expect(await change({ filename: `kept-${counter++}`, bucket_name: 'strict' })).toBe(200);
    expect(await change({ content_type: 'text/csv' })).toBe(200);
    // A deleted bucket has no limits left.
    await user.delete(`${storage}/buckets/strict`);
    expect(await change({ content_type: 'text/html' })).toBe(200);
  });

  it('does not let any caller change the owner', async () => {
    const id = await put();
    const answer = await user.patch(`${storage}/files/${id}`, {
      owner_id: '00000000-0000-4000-8000-000000000001',
      filename: `own-${counter}`,
    });
    expect([answer.status, answer.body.error.message]).toEqual([400, 'owner_id is unknown']);
    expect((await user.get(`${storage}/files/${id}`)).body.data.owner_id).toBe(user.userId);
  });
});

it('stores a content type trimmed, with its type in lower case', async () => {
  const id = await put();
  for (const [given, stored] of [
    [' TEXT/HTML ', 'text/html'],
    ['Text/CSV;Charset=UTF-16', 'text/csv;Charset=UTF-16'],
  ]) {
    const { body } = await user.patch(`${storage}/files/${id}`, { content_type: given });
    expect(body.data.content_type).toBe(stored);
    const { headers } = await user.get(`${storage}/files/${id}/download`);
    expect(headers.get('content-type')?.startsWith(stored as string)).toBe(true);
  }
  const refused = await user.patch(`${storage}/files/${id}`, { content_type: 'text' });
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    'content_type must be a MIME type such as image/png',
  ]);
});

describe('POST /files/<file_id>/copy', () => {
  it('makes an independent file, in the same bucket or another', async () => {
    const id = await put('box', user, 'to be copied');
    const described = { content_type: 'text/markdown', metadata: { a: 1 } };
    const { sha256 } = (await user.patch(`${storage}/files/${id}`, described)).body.data;
    const near = await user.post(`${storage}/files/${id}/copy`, { filename: `copy-${counter++}` });
    expect(near).toMatchObject({
      status: 201,
      body: {
        data: { bucket_slug: 'box', size: 12, sha256, owner_id: user.userId, ...described },
        error: null,
      },
    });
    expect(near.body.data.id).not.toBe(id);
    const far = await user.post(`${storage}/files/${id}/copy`, {
      filename: `copy-${counter++}`,
      bucket_name: 'window',
    });
    expect(far.body.data.bucket_slug).toBe('window');
    await user.delete(`${storage}/files/${id}`);
    for (const { body } of [near, far]) {
      expect((await user.get(`${storage}/files/${body.data.id}/download`)).text).toBe('to be copied');
    }
  });

  it('answers 409 for a taken name, 404, 403 and 400 as an upload does, and 415 for a type refused there', async () => {
    const id = await put();
    const copy = async (body: object, client = user as TestProject['anon']): Promise<number> =>
      (await client.post(`${storage}/files/${id}/copy`, body)).status;
    const { filename } = (await user.get(`${storage}/files/${id}`)).body.data;
    expect(await copy({ filename })).toBe(409);
    expect(await copy({ filename: '../x' })).toBe(400);
    expect(await copy({})).toBe(400);
    expect(await copy({ filename: 'x', bucket_name: 'nowhere' })).toBe(404);
    expect(await copy({ filename: 'x' }, project.asSubject())).toBe(404);
    await user.post(`${storage}/buckets`, { name: 'pictures', allowed_mime_types: ['image/*'] });
    expect(await copy({ filename: 'x', bucket_name: 'pictures' })).toBe(415);
    await project.asSubject().post(`${storage}/buckets`, { name: 'foreign window', is_public: true });
    expect(await copy({ filename: 'x', bucket_name: 'foreign window' })).toBe(403);
  });
});
