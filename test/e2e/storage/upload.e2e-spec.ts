/** Uploads: form, names, types, limits, refusals, overwriting (SPEC.md 4.1, DECISIONS.md 6). */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { expectBytesMatchRows, filesOnDisk } from '../../support/stored-objects';
import { TestProject } from '../../support/test-project';
import { postInPieces, rawExchange, sendEndlessly, upload } from '../../support/uploads';

const LIMIT = 2 * 1024 * 1024;

let plinth: TestPlinth;
let project: TestProject;
let user: ReturnType<TestProject['asSubject']>;
let storage: string;
beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { MAX_FILE_SIZE: String(LIMIT) } });
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
  storage = project.storage;
  await user.post(`${storage}/buckets`, { name: 'box' });
});
afterAll(() => plinth.stop());

const refused = (status: number, code: string): object => ({
  status,
  body: { data: null, error: { message: expect.any(String), code, status } },
});

describe('POST /buckets/<bucket_name>/upload', () => {
  it('stores the part named file and answers the file record', async () => {
    // The content begins with zeros, because random bytes could be the signature of a format; MP3 has one of two bytes.
    const content = Buffer.concat([Buffer.alloc(8), randomBytes(299_992)]);
    const answer = await upload(user, storage, 'box', content, { name: 'random.bin' });
    expect(answer.status).toBe(201);
    expect(answer.body.error).toBeNull();
    expect(Object.keys(answer.body.data)).toEqual([
      'id',
      'bucket_id',
      'bucket_slug',
      'filename',
      'content_type',
      'size',
      'sha256',
      'owner_id',
      'metadata',
      'created_at',
      'updated_at',
    ]);
    expect(answer.body.data).toMatchObject({
      bucket_slug: 'box',
      filename: 'random.bin',
      content_type: 'application/octet-stream',
      size: 300_000,
      sha256: createHash('sha256').update(content).digest('hex'),
      owner_id: user.userId,
      metadata: {},
    });
  });

  it('finds the bucket by name as well as by slug', async () => {
    await user.post(`${storage}/buckets`, { name: 'By Name!' });
    expect((await upload(user, storage, 'By Name!', 'x', { name: 'a' })).status).toBe(201);
    expect((await upload(user, storage, 'by-name', 'x', { name: 'b' })).status).toBe(201);
  });

  it('defaults the filename to the name of the uploaded file', async () => {
    const { body } = await upload(user, storage, 'box', 'x', { name: 'own name.txt' });
    expect(body.data.filename).toBe('own name.txt');
  });

  it.each([
    ['a field before the file', { before: { filename: 'given-1.txt' } }, 'given-1.txt'],
    ['a field after the file', { after: { filename: 'given-2.txt' } }, 'given-2.txt'],
    ['the query string', { query: { filename: 'given-3.txt' } }, 'given-3.txt'],
  ])('reads the filename from %s', async (_case, options, filename) => {
    const { body } = await upload(user, storage, 'box', 'x', { name: 'own.txt', ...options });
    expect(body.data.filename).toBe(filename);
  });

  it.each([
    ['a field before the file', { before: { contentType: 'text/csv' } }],
    ['a field after the file', { after: { contentType: 'text/csv' } }],
    ['the query string', { query: { contentType: 'text/csv' } }],
    ["the part's own header", { type: 'text/csv' }],
  ])('reads contentType from %s if the content does not determine it', async (where, options) => {
    const { body } = await upload(user, storage, 'box', 'a,b\n1,2\n', { name: `csv ${where}`, ...options });
    expect(body.data.content_type).toBe('text/csv');
  });

  it('detects the type from the content rather than from name or header', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    const lie = await upload(user, storage, 'box', png, {
      name: 'lie.txt',
      type: 'text/plain',
      query: { contentType: 'text/html' },
    });
    expect(lie.body.data.content_type).toBe('image/png');
    const html = await upload(user, storage, 'box', '<!doctype html><script>alert(1)</script>', {
      name: 'innocent.png',
      type: 'image/png',
    });
    expect(html.body.data.content_type).toBe('text/html');
    const noImage = await upload(user, storage, 'box', 'just words', {
      name: 'words.png',
      type: 'image/png',
    });
    expect(noImage.body.data.content_type).toBe('text/plain');
  });

  it('stores an empty file', async () => {
    const { status, body } = await upload(user, storage, 'box', '', { name: 'empty' });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ size: 0, sha256: createHash('sha256').digest('hex') });
    const download = await user.get(`${storage}/files/${body.data.id}/download`);
    expect([download.status, download.text, download.headers.get('content-length')]).toEqual([200, '', '0']);
  });

  it.each([1, 7, 64, 1_000])(
    'stores bytes that resemble the form’s end unchanged, in chunks of %i bytes',
    async (size) => {
      const content =
        '\r\n--\r\n--long-boundar\r\n--long-boundarx\r\r\n\r\n-long-boundary--\r\n'.repeat(4) +
        '\r\n--long-bound';
      const form = Buffer.from(
        `--long-boundary\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n${content}\r\n--long-boundary\r\n` +
          `Content-Disposition: form-data; name="filename"\r\n\r\nlike the end, by ${size}\r\n--long-boundary--\r\n`,
      );
      const answer = await postInPieces(
        `${plinth.baseUrl}${storage}/buckets/box/upload`,
        { ...user.headers, 'content-type': 'multipart/form-data; boundary=long-boundary' },
        form,
        size,
      );
      expect(answer.status).toBe(201);
      expect(answer.body.data).toMatchObject({
        filename: `like the end, by ${size}`,
        size: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
      });
    },
  );

  it('stores metadata', async () => {
    const { body } = await upload(user, storage, 'box', 'x', {
      name: 'm',
      after: { metadata: '{"a":{"b":[1]}}' },
    });
    expect(body.data.metadata).toEqual({ a: { b: [1] } });
    for (const metadata of ['[]', '5', '{', `{"a":"${'x'.repeat(20_000)}"}`]) {
      expect(await upload(user, storage, 'box', 'x', { name: 'n', after: { metadata } })).toMatchObject(
        refused(400, 'invalid_parameters'),
      );
    }
  });
});

describe('names', () => {
  it.each([
    'a/b/c.txt',
    'naïve “quotes”.md',
    '日本語/ファイル.pdf',
    '🦆.txt',
    `it's "quoted" & <b>.txt`,
    "'; drop table storage.files; --",
    '%2e%2e%2f',
    'back\\slash',
    'c:\\windows\\win.ini',
    '-rf',
    'CON',
    ' spaces ',
    'x'.repeat(1_024),
  ])('accepts %j and returns it unchanged', async (filename) => {
    const { status, body } = await upload(user, storage, 'box', 'x', { after: { filename } });
    expect([status, body.data?.filename]).toEqual([201, filename]);
    expect((await user.get(`${storage}/files/${body.data.id}`)).body.data.filename).toBe(filename);
    expect((await user.get(`${storage}/files/${body.data.id}/download`)).text).toBe('x');
  });

  it('that are not UTF-8 are 400, in the query, a field and the part', async () => {
    const send = (path: string, parts: string): Promise<HttpAnswer> =>
      user.send('POST', `${storage}/buckets/box/upload${path}`, {
        body: Buffer.from(`${parts}--b--\r\n`, 'latin1'),
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      });
    const file = (name: string): string =>
      `--b\r\nContent-Disposition: form-data; name="file"; ${name}\r\n\r\nx\r\n`;
    const field = (name: string, value: string): string =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    for (const [path, parts] of [
      ['?filename=caf%E9', file('filename="a"')],
      ['?filename=%C0%AFetc', file('filename="a"')],
      ['?metadata=%7B%22a%22%3A%22%E9%22%7D', file('filename="a"')],
      ['', file('filename="caf\xe9"')],
      ['', file('filename="\xed\xa0\x80"')],
      ['', file("filename*=UTF-8''caf%E9")],
      ['', field('filename', 'caf\xe9') + file('filename="a"')],
      ['', file('filename="a"') + field('filename', 'caf\xe9')],
      ['', field('metadata', '{"a":"\xe9"}') + file('filename="a"')],
    ] as const)
      expect(await send(path, parts)).toMatchObject(refused(400, 'invalid_parameters'));
    const named = await send('?filename=named', file('filename="caf\xe9"'));
    expect([named.status, named.body.data?.filename]).toEqual([201, 'named']);
    for (const [path, parts] of [
      ['?filename=1%EF%BF%BD', file('filename="a"')],
      ['', file('filename="2\xef\xbf\xbd"')],
      ['', file("filename*=UTF-8''3%EF%BF%BD")],
      ['', file('filename="a"') + field('filename', '4\xef\xbf\xbd')],
    ] as const)
      expect((await send(path, parts)).body.data?.filename).toMatch(/^\d\ufffd$/);
  });

  it('reads a name with quotes and any script from the part itself', async () => {
    const name = 'dir/Ünï "cödé" 日本.txt';
    expect((await upload(user, storage, 'box', 'x', { name })).body.data.filename).toBe(name);
  });

  it.each([
    ['..', '..'],
    ['a segment ..', '../../etc/passwd'],
    ['a segment .. at the end', 'a/..'],
    ['a segment .', 'a/./b'],
    ['NUL', 'a\0b'],
    ['a control character', 'a\u0007b'],
    ['DEL', 'a\u007fb'],
    ['1,025 bytes', 'x'.repeat(1_025)],
  ])('answers 400 for %s', async (_case, filename) => {
    const invalid = refused(400, 'invalid_parameters');
    expect(await upload(user, storage, 'box', 'x', { query: { filename } })).toMatchObject(invalid);
    expect(await upload(user, storage, 'box', 'x', { before: { filename } })).toMatchObject(invalid);
    expect(await upload(user, storage, 'box', 'x', { after: { filename } })).toMatchObject(invalid);
    expect(await upload(user, storage, 'box', 'x', { name: filename })).toMatchObject(invalid);
  });

  it('do not become paths: objects have random names in a folder per project', async () => {
    await upload(user, storage, 'box', 'x', { after: { filename: 'FINDME' } });
    const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
    expect(filesOnDisk(plinth).filter((name) => !uuid.test(name))).toEqual(['.plinth-files']);
    expect(readdirSync(join(plinth.dataDir, 'files'))).toEqual(['.plinth-files', project.id]);
  });
});

describe('an upload to a taken name', () => {
  it('answers 409 file_already_exists and keeps the first file', async () => {
    const first = await upload(user, storage, 'box', 'first', { name: 'once.txt' });
    expect(await upload(user, storage, 'box', 'second', { name: 'once.txt' })).toMatchObject(
      refused(409, 'file_already_exists'),
    );
    expect((await user.get(`${storage}/files/${first.body.data.id}/download`)).text).toBe('first');
  });

  it('is refused also if it is concurrent: one of several uploads to one name gets 201, and the others leave no bytes', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        upload(user, storage, 'box', `content ${n}`, { name: 'parallel.txt' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(11).fill(409)]);
    await expectBytesMatchRows(plinth, project);
  });

  it('is overwritten with upsert=true: it keeps the id and replaces the bytes', async () => {
    const first = await upload(user, storage, 'box', 'first', { name: 'twice.txt' });
    const second = await upload(user, storage, 'box', '<html>second', {
      name: 'twice.txt',
      query: { upsert: 'true' },
    });
    expect(second.status).toBe(200);
    expect(second.body.data).toMatchObject({ id: first.body.data.id, size: 12, content_type: 'text/html' });
    expect((await user.get(`${storage}/files/${first.body.data.id}/download`)).text).toBe('<html>second');
    await expectBytesMatchRows(plinth, project);
  });

  it('is consistent after concurrent overwrites: bytes, hash and size of one upload', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        upload(user, storage, 'box', `${n} `.repeat(50_000 + n), {
          name: 'contended.txt',
          after: { upsert: 'true' },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(11).fill(200), 201]);
    const id = answers[0]?.body.data.id;
    const { body } = await user.get(`${storage}/files/${id}`);
    const { text } = await user.get(`${storage}/files/${id}/download`);
    expect(text).toHaveLength(body.data.size);
    expect(createHash('sha256').update(text).digest('hex')).toBe(body.data.sha256);
  });

  it('is never read half-written while it is overwritten', async () => {
    const { body } = await upload(user, storage, 'box', 'a'.repeat(200_000), { name: 'moving.txt' });
    let writing = true;
    const writer = (async () => {
      for (const letter of 'bcdefgh') {
        await upload(user, storage, 'box', letter.repeat(200_000), {
          name: 'moving.txt',
          query: { upsert: 'true' },
        });
      }
      writing = false;
    })();
    while (writing) {
      const { status, text } = await user.get(`${storage}/files/${body.data.id}/download`);
      expect([status, text.length, new Set(text).size]).toEqual([200, 200_000, 1]);
    }
    await writer;
  });

  it('answers 400 for upsert that is neither true nor false', async () => {
    expect((await upload(user, storage, 'box', 'x', { name: 'u', query: { upsert: 'maybe' } })).status).toBe(
      400,
    );
    expect((await upload(user, storage, 'box', 'x', { name: 'u', after: { upsert: 'maybe' } })).status).toBe(
      400,
    );
  });
});

describe('limits of an upload', () => {
  it('answers 413 file_too_large one byte above the install’s limit, and accepts a file of exactly that size', async () => {
    expect((await upload(user, storage, 'box', Buffer.alloc(LIMIT), { name: 'exact' })).status).toBe(201);
    expect(await upload(user, storage, 'box', Buffer.alloc(LIMIT + 1), { name: 'over' })).toMatchObject(
      refused(413, 'file_too_large'),
    );
  });

  it("answers 413 above the bucket's own limit", async () => {
    await user.post(`${storage}/buckets`, { name: 'tiny', file_size_limit: 10 });
    expect((await upload(user, storage, 'tiny', '0123456789', { name: 'ten' })).status).toBe(201);
    expect(await upload(user, storage, 'tiny', '0123456789x', { name: 'eleven' })).toMatchObject(
      refused(413, 'file_too_large'),
    );
  });

  it("answers 413 above the project's limit", async () => {
    const small = await plinth.createProject({ settings: { max_file_size: 5 } });
    const other = small.asSubject();
    await other.post(`${small.storage}/buckets`, { name: 'box' });
    expect((await upload(other, small.storage, 'box', '12345', { name: 'a' })).status).toBe(201);
    expect((await upload(other, small.storage, 'box', '123456', { name: 'b' })).status).toBe(413);
  });

  it('answers 413 while the client still sends, and the client receives it', async () => {
    const answer = await upload(user, storage, 'box', Buffer.alloc(40 * 1024 * 1024), { name: 'huge' });
    expect(answer).toMatchObject(refused(413, 'file_too_large'));
  });

  it('keeps no bytes of a file that is too large', async () => {
    await upload(user, storage, 'box', Buffer.alloc(LIMIT + 100_000), { name: 'too much' });
    await expectBytesMatchRows(plinth, project);
  });

  it('answers 413 by Content-Length alone, without reading the body', async () => {
    const answer = await rawExchange(
      plinth.baseUrl,
      `POST ${storage}/buckets/box/upload HTTP/1.1\r\nHost: x\r\napikey: ${project.anonKey}\r\n` +
        `Authorization: ${user.headers.authorization}\r\nContent-Type: multipart/form-data; boundary=b\r\n` +
        `Expect: 100-continue\r\nContent-Length: ${LIMIT * 10}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('answers 415 unsupported_media_type for a type that the bucket does not accept', async () => {
    await user.post(`${storage}/buckets`, {
      name: 'images',
      allowed_mime_types: ['image/*', 'application/pdf'],
    });
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)]);
    expect((await upload(user, storage, 'images', png, { name: 'a.png' })).status).toBe(201);
    expect((await upload(user, storage, 'images', '%PDF-1.7\n', { name: 'a.pdf' })).status).toBe(201);
    const html = await upload(user, storage, 'images', '<!doctype html>', {
      name: 'fake.png',
      type: 'image/png',
    });
    expect(html).toMatchObject(refused(415, 'unsupported_media_type'));
    const words = await upload(user, storage, 'images', 'words', {
      name: 'b.png',
      query: { contentType: 'image/png' },
    });
    expect(words).toMatchObject(refused(415, 'unsupported_media_type'));
  });

  it('accepts a type given by a later field', async () => {
    await user.post(`${storage}/buckets`, { name: 'tables', allowed_mime_types: ['text/csv'] });
    const answer = await upload(user, storage, 'tables', 'a,b', {
      name: 'a.csv',
      after: { contentType: 'text/csv' },
    });
    expect(answer.status).toBe(201);
  });
});

describe('an upload up to 1 MiB right after another', () => {
  let bucket = '';
  let count = 0;
  const send = (content = 'text'): Promise<HttpAnswer> =>
    upload(user, storage, bucket, content, { name: `${(count += 1)}.txt`, type: 'text/plain' });
  const patch = (body: object): Promise<HttpAnswer> => user.patch(`${storage}/buckets/${bucket}`, body);
  beforeEach(async () => {
    bucket = `busy-${(count += 1)}`;
    await user.post(`${storage}/buckets`, { name: bucket });
    expect((await send()).status).toBe(201);
  });

  it.each<[string, () => Promise<unknown>, number, string]>([
    ['a size limit', () => patch({ file_size_limit: 3 }), 413, 'file_too_large'],
    ['allowed types', () => patch({ allowed_mime_types: ['image/*'] }), 415, 'unsupported_media_type'],
    ['a quota', () => patch({ quota_files: 1 }), 413, 'quota_exceeded'],
    ['another name', () => patch({ name: `renamed-${bucket}` }), 404, 'bucket_not_found'],
    ['its deletion', () => user.delete(`${storage}/buckets/${bucket}`), 404, 'bucket_not_found'],
    [
      'another owner',
      () => project.sql(`update storage.buckets set owner_id = gen_random_uuid() where slug = '${bucket}'`),
      404,
      'bucket_not_found',
    ],
    [
      'another owner, and public',
      () =>
        project.sql(
          `update storage.buckets set owner_id = gen_random_uuid(), is_public = true where slug = '${bucket}'`,
        ),
      403,
      'forbidden',
    ],
  ])('obeys %s of the bucket', async (_name, change, status, code) => {
    await change();
    expect(await send('x'.repeat(1024 * 1024))).toMatchObject(refused(status, code));
    await expectBytesMatchRows(plinth, project);
  });

  it('succeeds if it meets the limits of the bucket, and uses the bucket that now has the name', async () => {
    await patch({ file_size_limit: 1_000, allowed_mime_types: ['text/plain'] });
    expect((await send()).status).toBe(201);
    await patch({ file_size_limit: null, allowed_mime_types: null });
    expect((await send()).status).toBe(201);
    await user.delete(`${storage}/buckets/${bucket}`);
    const { body } = await user.post(`${storage}/buckets`, { name: bucket });
    expect((await send()).body.data.bucket_id).toBe(body.data.id);
  });
});

describe('many concurrent small uploads of a caller', () => {
  const names = Array.from({ length: 24 }, (_, n) => `${n}.txt`);
  let bucket = '';
  const send = (name: string): Promise<HttpAnswer> =>
    upload(user, storage, bucket, `text ${name}`, { name, type: 'text/plain' });
  const sendAll = (): Promise<HttpAnswer[]> => Promise.all(names.map(send));
  beforeEach(async () => {
    bucket = `crowd-${randomBytes(4).toString('hex')}`;
    await user.post(`${storage}/buckets`, { name: bucket });
    expect((await send('first')).status).toBe(201);
  });
  /** Delays each statement that inserts files, so that the next uploads arrive. */
  const slowly = (): Promise<unknown> =>
    project.sql(`
      create function public.linger() returns trigger language plpgsql as $$ begin perform pg_sleep(0.2); return null; end $$;
      create trigger linger before insert on storage.files for each statement execute function public.linger()`);

  it('share statements, and each get their own record', async () => {
    await slowly();
    try {
      const answers = await sendAll();
      expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
      expect(answers.map(({ body }) => body.data.filename)).toEqual(names);
      for (const [n, { body }] of answers.entries())
        expect((await user.get(`${storage}/files/${body.data.id}/download`)).text).toBe(`text ${names[n]}`);
      const [{ statements }] = await project.sql(
        `select count(distinct f.xmin::text)::int as statements from storage.files f
          join storage.buckets b on b.id = f.bucket_id where b.slug = '${bucket}'`,
      );
      expect(statements).toBeLessThan(names.length);
    } finally {
      await project.sql('drop function public.linger cascade');
    }
  });

  it('fail individually if a name is taken, a trigger of the project refuses a row, or a quota is reached', async () => {
    for (const name of names.slice(0, 3)) expect((await send(name)).status).toBe(201);
    await project.sql(`
      create function public.refuse() returns trigger language plpgsql as $$ begin
        if new.filename in ('5.txt', '9.txt') then raise check_violation; end if; return new; end $$;
      create trigger refuse before insert on storage.files for each row execute function public.refuse()`);
    try {
      const statuses = (await sendAll()).map(({ status }) => status);
      expect(statuses).toEqual(names.map((_name, n) => (n < 3 ? 409 : n === 5 || n === 9 ? 400 : 201)));
      await user.patch(`${storage}/buckets/${bucket}`, { quota_files: 30 });
      const more = await Promise.all(names.map((name) => send(`more ${name}`)));
      // The bucket has 23 files: the first file, and all but two of the names.
      expect(more.filter(({ status }) => status === 201)).toHaveLength(7);
      expect(more.filter(({ status }) => status === 413)).toHaveLength(17);
      await expectBytesMatchRows(plinth, project);
    } finally {
      await project.sql('drop function public.refuse cascade');
    }
  });
});

describe('refusals', () => {
  it('answers 404 bucket_not_found for an unknown bucket', async () => {
    expect(await upload(user, storage, 'nowhere', 'x')).toMatchObject(refused(404, 'bucket_not_found'));
  });

  it("answers 403 for another user's public bucket, 404 for a private one, 403 to the anon key", async () => {
    const other = project.asSubject();
    await other.post(`${storage}/buckets`, { name: 'open', is_public: true });
    await other.post(`${storage}/buckets`, { name: 'closed' });
    expect(await upload(user, storage, 'open', 'x')).toMatchObject(refused(403, 'forbidden'));
    expect(await upload(user, storage, 'closed', 'x')).toMatchObject(refused(404, 'bucket_not_found'));
    expect(await upload(project.anon, storage, 'open', 'x')).toMatchObject(refused(403, 'forbidden'));
  });

  it.each([
    ['401', () => ({ auth: 'Bearer x', bucket: 'box' })],
    ['404', () => ({ auth: user.headers.authorization, bucket: 'nowhere' })],
    ['403', () => ({ auth: `Bearer ${project.anonKey}`, bucket: 'shop-window' })],
  ])('are sent before the body is read: %s', async (status, facts) => {
    await user.post(`${storage}/buckets`, { name: 'shop window', is_public: true });
    const { auth, bucket } = facts();
    const answer = await rawExchange(
      plinth.baseUrl,
      `POST ${storage}/buckets/${bucket}/upload HTTP/1.1\r\nHost: x\r\napikey: ${project.anonKey}\r\nAuthorization: ${auth}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\nExpect: 100-continue\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).not.toContain('100 Continue');
  });

  it('send 100 Continue once the upload is allowed', async () => {
    const body =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="expected.txt"\r\n\r\nhello\r\n--b--\r\n';
    const head =
      `POST ${storage}/buckets/box/upload HTTP/1.1\r\nHost: x\r\napikey: ${project.anonKey}\r\n` +
      `Authorization: ${user.headers.authorization}\r\nContent-Type: multipart/form-data; boundary=b\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
    const answer = await rawExchange(plinth.baseUrl, head + body);
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  });
});

describe('broken forms', () => {
  const post = (type: string, body: string): Promise<{ status: number; body: unknown }> =>
    user.send('POST', `${storage}/buckets/box/upload`, { body, headers: { 'content-type': type } });
  const part = (head: string, content = 'x'): string =>
    `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;

  it.each([
    ['no multipart body', 'application/json', '{}'],
    ['no boundary', 'multipart/form-data', part('name="file"; filename="a"')],
    ['an empty body', 'multipart/form-data; boundary=b', ''],
    ['no part', 'multipart/form-data; boundary=b', '--b--\r\n'],
    ['no part named file', 'multipart/form-data; boundary=b', `${part('name="filename"')}--b--\r\n`],
    [
      'a part of another name',
      'multipart/form-data; boundary=b',
      `${part('name="upload"; filename="a"')}--b--\r\n`,
    ],
    [
      'a part named file that holds no file',
      'multipart/form-data; boundary=b',
      `${part('name="file"')}--b--\r\n`,
    ],
    [
      'two files',
      'multipart/form-data; boundary=b',
      `${part('name="file"; filename="a"')}${part('name="file"; filename="b"')}--b--\r\n`,
    ],
    ['an empty filename', 'multipart/form-data; boundary=b', `${part('name="file"; filename=""')}--b--\r\n`],
    ['no closing boundary', 'multipart/form-data; boundary=b', part('name="file"; filename="cut"')],
    [
      'a part header without end',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a',
    ],
    [
      'a malformed contentType',
      'multipart/form-data; boundary=b',
      `${part('name="contentType"', 'nonsense')}${part('name="file"; filename="a"')}--b--\r\n`,
    ],
    [
      'a file with a line that begins like the boundary',
      'multipart/form-data; boundary=b',
      `${part('name="file"; filename="a"', 'one\r\n--bc\r\ntwo')}--b--\r\n`,
    ],
    [
      'the same with a quoted boundary',
      'multipart/form-data; boundary="b"',
      `${part('name="file"; filename="a"', `${'one'.repeat(50_000)}\r\n--bc\r\ntwo`)}--b--\r\n`,
    ],
    [
      'the same with the boundary after another parameter',
      'multipart/form-data; charset=UTF-8; boundary=b',
      `${part('name="file"; filename="a"', 'one\r\n--bc\r\ntwo')}--b--\r\n`,
    ],
    [
      'the same with blanks around the boundary',
      'multipart/form-data ;  boundary=b ',
      `${part('name="file"; filename="a"', 'one\r\n--bc\r\ntwo')}--b--\r\n`,
    ],
    [
      'two boundaries',
      'multipart/form-data; boundary=b; boundary=c',
      `${part('name="file"; filename="a"')}--b--\r\n`,
    ],
    [
      'blanks after a boundary, before a field',
      'multipart/form-data; boundary=b',
      `${part('name="file"; filename="a"')}${part('name="upsert"', 'true').replace('--b', '--b ')}--b--\r\n`,
    ],
    [
      'a field in an unknown charset',
      'multipart/form-data; boundary=b',
      `${part('name="file"; filename="a"')}${part('name="filename"\r\nContent-Type: text/plain; charset=nobodys', 'b')}--b--\r\n`,
    ],
    [
      'a field given twice, before and after the file',
      'multipart/form-data; boundary=b',
      `${part('name="upsert"', 'false')}${part('name="file"; filename="a"')}${part('name="upsert"', 'true')}--b--\r\n`,
    ],
    [
      'far too many fields',
      'multipart/form-data; boundary=b',
      `${part('name="x"').repeat(50)}${part('name="file"; filename="a"')}--b--\r\n`,
    ],
    [
      'a field far too long',
      'multipart/form-data; boundary=b',
      `${part('name="x"', 'y'.repeat(100_000))}${part('name="file"; filename="a"')}--b--\r\n`,
    ],
  ])('answers 400 for %s', async (_case, type, body) => {
    expect(await post(type, body)).toMatchObject(refused(400, 'invalid_parameters'));
    await expectBytesMatchRows(plinth, project);
  });

  it.each([
    'multipart/form-data; charset=UTF-8; boundary=b',
    'multipart/form-data; boundary=b; charset=UTF-8',
    'multipart/form-data ;  boundary=b ;',
    'Multipart/Form-Data; Boundary="b"',
  ])('the boundary is found in %s', async (type) => {
    const content = 'one\r\n--a\r\ntwo';
    const { status, body } = await user.send('POST', `${storage}/buckets/box/upload?upsert=true`, {
      body: `${part('name="file"; filename="spelled"', content)}--b--\r\n`,
      headers: { 'content-type': type },
    });
    expect([Math.floor(status / 100), body.data?.size]).toEqual([2, content.length]);
  });

  it('keeps no bytes when the client disconnects half-way', async () => {
    const head =
      `POST ${storage}/buckets/box/upload HTTP/1.1\r\nHost: x\r\napikey: ${project.anonKey}\r\n` +
      `Authorization: ${user.headers.authorization}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n`;
    await rawExchange(
      plinth.baseUrl,
      `${head}--b\r\nContent-Disposition: form-data; name="file"; filename="left"\r\n\r\nhalf`,
      { end: true },
    );
    await expectBytesMatchRows(plinth, project);
    const { body } = await user.get(`${storage}/buckets/box/files?search=left`);
    expect(body.data).toEqual([]);
  });
});

describe('a body without an end', () => {
  const MIB = 1024 * 1024;
  const part = (name: string): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"; filename="endless"\r\n\r\n`;

  it.each([
    [401, 'an invalid bearer', () => ({ auth: 'Bearer x', begin: part('file') })],
    [404, 'an unknown bucket', () => ({ bucket: 'nowhere', begin: part('file') })],
    [413, 'a file without end', () => ({ begin: part('file') })],
    [400, 'a part of another name', () => ({ begin: part('other') })],
    [400, 'the malformed head of a part', () => ({ begin: '--b\r\nX\x01: y\r\n\r\n' })],
    [400, 'text before the first part', () => ({ begin: '' })],
    [400, 'text after the last part', () => ({ begin: `${part('file')}x\r\n--b--\r\n` })],
    [400, 'a part that is neither field nor file', () => ({ begin: '--b\r\nX: y\r\n\r\n' })],
  ])('is answered %i without reading the rest: %s', async (status, _case, facts) => {
    const { auth, bucket, begin }: { auth?: string; bucket?: string; begin: string } = facts();
    const head =
      `POST ${storage}/buckets/${bucket ?? 'box'}/upload HTTP/1.1\r\nHost: x\r\napikey: ${project.anonKey}\r\n` +
      `Authorization: ${auth ?? user.headers.authorization}\r\nContent-Type: multipart/form-data; boundary=b\r\n`;
    const { answer, sent } = await sendEndlessly(plinth.baseUrl, head, begin, 96 * MIB);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*"error":\\{`));
    // Bytes read after the response, and bytes in the kernels' buffers.
    expect(sent).toBeLessThan(64 * MIB);
  });
});

describe('a provider that is down', () => {
  it('answers 500 storage_unavailable, leaves no partial state, and recovers without a restart', async () => {
    const lonely = await plinth.createProject({ plan: 'enterprise' });
    await lonely.service.post(`${lonely.storage}/buckets`, { name: 'box' });
    const put = (name: string): Promise<HttpAnswer> =>
      upload(lonely.service, lonely.storage, 'box', 'x', { name });
    expect((await put('before')).status).toBe(201);
    const root = join(plinth.dataDir, 'files', lonely.id);
    renameSync(root, `${root}-away`);
    writeFileSync(root, 'in the way');
    expect(await put('during')).toMatchObject(refused(500, 'storage_unavailable'));
    rmSync(root);
    renameSync(`${root}-away`, root);
    expect((await put('after')).status).toBe(201);
    const { body } = await lonely.service.get(`${lonely.storage}/buckets/box/files?sortBy=filename`);
    expect(body.data.map(({ filename }: { filename: string }) => filename)).toEqual(['after', 'before']);
  });

  it('recovers even when its directory was emptied', async () => {
    const lonely = await plinth.createProject({ plan: 'enterprise' });
    await lonely.service.post(`${lonely.storage}/buckets`, { name: 'box' });
    expect((await upload(lonely.service, lonely.storage, 'box', 'x', { name: 'a' })).status).toBe(201);
    rmSync(join(plinth.dataDir, 'files', lonely.id), { recursive: true });
    const again = await upload(lonely.service, lonely.storage, 'box', 'x', { name: 'b' });
    expect(again.status).toBe(201);
    expect((await lonely.service.get(`${lonely.storage}/files/${again.body.data.id}/download`)).text).toBe(
      'x',
    );
  });
});
