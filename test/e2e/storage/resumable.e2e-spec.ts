/** Resumable uploads (TUS 1.0), by raw requests and by an unmodified tus-js-client. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { Upload } from 'tus-js-client';
import { ObjectStore } from '../../../src/storage/providers/object-store';
import { StorageSweep } from '../../../src/storage/sweep/storage-sweep.service';
import { eventually, until } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

const MIB = 1024 * 1024;

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [project, other] = await Promise.all([
    plinth.createProject({ plan: 'enterprise' }),
    plinth.createProject({ plan: 'enterprise' }),
  ]);
  await Promise.all([project, other].map((one) => makeBucket(one, { name: 'box' })));
  await makeBucket(project, { name: 'small', file_size_limit: 1_000, allowed_mime_types: ['text/plain'] });
});
afterAll(() => plinth.stop());

type Headers = Record<string, string>;
type Body = string | Buffer<ArrayBuffer>;
const asService = (of = project): Headers => ({
  apikey: of.serviceKey,
  authorization: `Bearer ${of.serviceKey}`,
});
const asUser = (sub: string): Headers => ({
  apikey: project.anonKey,
  authorization: `Bearer ${project.token({ sub, role: 'authenticated' })}`,
});
const urlOf = (of = project): string => `${plinth.baseUrl}/p/${of.slug}/storage/v1/upload/resumable`;
const makeBucket = (of: TestProject, body: object): Promise<Response> =>
  fetch(`${plinth.baseUrl}/p/${of.slug}/storage/v1/bucket`, {
    method: 'POST',
    headers: { ...asService(of), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const metadataOf = (pairs: Headers): string =>
  Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join();
const named = (name: string, bucket = 'box'): Headers => ({
  'upload-metadata': metadataOf({ bucketName: bucket, objectName: name, contentType: 'text/plain' }),
});

const send = (method: string, url: string, headers: Headers, body?: Body): Promise<Response> =>
  fetch(url, { method, headers: { 'tus-resumable': '1.0.0', ...asService(), ...headers }, body });
const begin = (headers: Headers, body?: Body): Promise<Response> => send('POST', urlOf(), headers, body);
const place = (response: Response): string => new URL(response.headers.get('location') ?? '', urlOf()).href;
const append = (url: string, offset: number, body: Body, headers: Headers = {}): Promise<Response> =>
  send(
    'PATCH',
    url,
    { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset), ...headers },
    body,
  );
const offset = async (url: string, headers: Headers = {}): Promise<number> =>
  Number((await send('HEAD', url, headers)).headers.get('upload-offset'));
const download = async (name: string, of = project): Promise<Buffer> => {
  const path = `${plinth.baseUrl}/p/${of.slug}/storage/v1/object/authenticated/box/${name}`;
  const response = await fetch(path, { headers: asService(of) });
  return response.ok ? Buffer.from(await response.arrayBuffer()) : Buffer.alloc(0);
};
const digest = (bytes: Buffer): string => createHash('sha1').update(bytes).digest('base64');

/** A request whose `length` bytes its caller sends. */
function beginPatch(url: string, from: number, length: number): ClientRequest {
  const headers = {
    ...asService(),
    'tus-resumable': '1.0.0',
    'content-type': 'application/offset+octet-stream',
    'upload-offset': String(from),
    'content-length': length,
  };
  return httpRequest(url, { method: 'PATCH', headers }).on('error', () => undefined);
}

/** The status of the response, or 409 if the connection ends without a response. */
const statusOf = (request: ClientRequest): Promise<unknown> =>
  new Promise((resolve) => {
    request
      .on('response', (response) => resolve(response.resume().statusCode))
      .on('error', () => resolve(409));
  });

/** Sends the first bytes of a request of `length` bytes, and breaks the connection off. */
function breakOff(url: string, length: number, bytes: Buffer): Promise<void> {
  const request = beginPatch(url, 0, length);
  return new Promise((resolve) => {
    request.on('close', resolve);
    request.write(bytes, () => setImmediate(() => request.destroy()));
  });
}

describe('an upload', () => {
  it('is described by OPTIONS', async () => {
    const response = await fetch(urlOf(), { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('tus-version')).toBe('1.0.0');
    expect(response.headers.get('tus-extension')).toContain('creation-with-upload');
  });

  it('begins, continues at its offset, and becomes a file with the last byte', async () => {
    const name = randomUUID();
    const begun = await begin({ ...named(name), 'upload-length': '10' });
    expect(begun.status).toBe(201);
    expect(Date.parse(begun.headers.get('upload-expires') ?? '')).toBeGreaterThan(Date.now());
    const url = place(begun);
    expect((await append(url, 0, 'hello')).headers.get('upload-offset')).toBe('5');
    const state = await send('HEAD', url, {});
    expect([state.status, state.headers.get('upload-length'), state.headers.get('cache-control')]).toEqual([
      200,
      '10',
      'no-store',
    ]);
    expect(state.headers.get('upload-metadata')).toBe(named(name)['upload-metadata']);
    expect(await download(name)).toHaveLength(0);
    expect((await append(url, 5, 'world')).status).toBe(204);
    expect(String(await download(name))).toBe('helloworld');
    // The response to the last bytes may have been lost.
    expect(await offset(url)).toBe(10);
    expect((await append(url, 10, '')).status).toBe(409);
  });

  it('accepts the first bytes in the creating request, and no bytes for an empty file', async () => {
    const [name, empty] = [randomUUID(), randomUUID()];
    const body = { 'content-type': 'application/offset+octet-stream' };
    const begun = await begin({ ...named(name), ...body, 'upload-length': '5' }, 'hello');
    expect([begun.status, begun.headers.get('upload-offset')]).toEqual([201, '5']);
    expect(String(await download(name))).toBe('hello');
    expect((await begin({ ...named(empty), 'upload-length': '0' })).status).toBe(201);
    const list = await fetch(`${plinth.baseUrl}/p/${project.slug}/storage/v1/object/info/box/${empty}`, {
      headers: asService(),
    });
    expect(list.status).toBe(200);
  });

  it('keeps what arrived before the connection broke', async () => {
    const [name, bytes] = [randomUUID(), randomBytes(20 * MIB)];
    const url = place(await begin({ ...named(name), 'upload-length': String(bytes.length) }));
    await breakOff(url, bytes.length, bytes.subarray(0, 17 * MIB));
    await eventually(async () => expect(await offset(url)).toBeGreaterThan(0));
    let at = await offset(url);
    // The broken request may still be storing its bytes.
    await eventually(async () => {
      at = await offset(url);
      expect((await append(url, at, bytes.subarray(at))).status).toBe(204);
    });
    expect(digest(await download(name))).toBe(digest(bytes));
  });

  it('stores bytes once when two clients send them', async () => {
    const name = randomUUID();
    const url = place(await begin({ ...named(name), 'upload-length': '6' }));
    const answers = await Promise.all(['abc', 'xyz', '123'].map((body) => append(url, 0, body)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409, 409]);
    expect((await append(url, 3, 'end')).status).toBe(204);
    expect(await download(name)).toHaveLength(6);
  });

  it('is a single growing object that becomes the file if its requests are sequential', async () => {
    const [name, content] = [randomUUID(), randomBytes(9 * MIB + 5)];
    const url = place(await begin({ ...named(name), 'upload-length': String(content.length) }));
    const objects = async (): Promise<string[]> =>
      (
        await project.sql(
          `select object_id from storage.resumable_parts where upload_id = '${url.slice(-36)}'`,
        )
      ).map(({ object_id }: { object_id: string }) => object_id);
    expect((await append(url, 0, content.subarray(0, MIB))).status).toBe(204);
    const [object] = await objects();
    // Refused bytes do not remain in the object.
    const wrong = { 'upload-checksum': `sha1 ${digest(Buffer.from('other'))}` };
    expect((await append(url, MIB, randomBytes(2 * MIB), wrong)).status).toBe(460);
    expect((await append(url, MIB, content.subarray(MIB, MIB + 1))).status).toBe(204);
    expect(await objects()).toEqual([object]);
    expect((await append(url, MIB + 1, content.subarray(MIB + 1))).status).toBe(204);
    expect((await download(name)).equals(content)).toBe(true);
    const [file] = await project.sql(
      `select object_id, sha256 from storage.files where filename = '${name}'`,
    );
    expect(file).toEqual({ object_id: object, sha256: createHash('sha256').update(content).digest('hex') });
    expect(await objects()).toEqual([]);
  });

  it('refuses the bytes of a request that another request has overtaken', async () => {
    const [name, content] = [randomUUID(), randomBytes(20 * MIB)];
    const url = place(await begin({ ...named(name), 'upload-length': String(content.length) }));
    const slow = beginPatch(url, 0, content.length);
    const status = statusOf(slow);
    slow.write(content.subarray(0, 10 * MIB));
    await until(async () => (await offset(url)) === 8 * MIB);
    // The upload does not have bytes of the other client, as it would if both wrote the same object.
    expect((await append(url, 8 * MIB, content.subarray(8 * MIB, 9 * MIB))).status).toBe(204);
    slow.end(Buffer.alloc(10 * MIB));
    expect(await status).toBe(409);
    expect(await offset(url)).toBe(9 * MIB);
    expect((await append(url, 9 * MIB, content.subarray(9 * MIB))).status).toBe(204);
    expect((await download(name)).equals(content)).toBe(true);
  });

  it('never lets two requests write the same object, even if the overtaking request sends no bytes', async () => {
    const [name, content] = [randomUUID(), randomBytes(20 * MIB)];
    const url = place(await begin({ ...named(name), 'upload-length': String(content.length) }));
    const writer = async (): Promise<unknown> =>
      (await project.sql(`select writer from storage.resumable_uploads where id = '${url.slice(-36)}'`))[0]
        ?.writer;
    const overtaken = beginPatch(url, 0, content.length);
    const status = statusOf(overtaken);
    overtaken.write(content.subarray(0, 10 * MIB));
    await until(async () => (await offset(url)) === 8 * MIB);
    expect((await append(url, 8 * MIB, '')).status).toBe(204);
    const before = await writer();
    const last = beginPatch(url, 8 * MIB, 12 * MIB);
    const completed = statusOf(last);
    last.write(content.subarray(8 * MIB, 8 * MIB + 1));
    await until(async () => (await writer()) !== before);
    expect(await offset(url)).toBe(8 * MIB);
    overtaken.end(Buffer.alloc(10 * MIB));
    expect(await status).toBe(409);
    last.end(content.subarray(8 * MIB + 1));
    expect(await completed).toBe(204);
    expect((await download(name)).equals(content)).toBe(true);
  });

  it('refuses bytes that do not match their checksum, and keeps none of them', async () => {
    const url = place(await begin({ ...named(randomUUID()), 'upload-length': '5' }));
    const wrong = { 'upload-checksum': `sha1 ${digest(Buffer.from('other'))}` };
    const refused = await append(url, 0, 'hello', wrong);
    expect(refused.status).toBe(460);
    expect(await refused.json()).toMatchObject({ error: 'checksum_mismatch' });
    expect(await offset(url)).toBe(0);
    const right = { 'upload-checksum': `sha1 ${digest(Buffer.from('hello'))}` };
    expect((await append(url, 0, 'hello', right)).status).toBe(204);
    expect((await append(url, 0, 'x', { 'upload-checksum': 'crc32 AAAA' })).status).toBe(400);
  });

  it('joins partial uploads in the given order', async () => {
    const name = randomUUID();
    const partial = async (text: string): Promise<string> => {
      const begun = await begin({ 'upload-length': String(text.length), 'upload-concat': 'partial' });
      const url = place(begun);
      expect((await append(url, 0, text)).status).toBe(204);
      return url;
    };
    const urls = [await partial('one '), await partial('two '), await partial('three')];
    const twice = await begin({ ...named(name), 'upload-concat': `final;${urls[0]} ${urls[0]}` });
    expect(twice.status).toBe(400);
    const final = await begin({ ...named(name), 'upload-concat': `final;${urls.join(' ')}` });
    expect(final.status).toBe(201);
    expect(String(await download(name))).toBe('one two three');
    expect((await send('HEAD', String(urls[0]), {})).status).toBe(404);
  });

  it('continues at another process', async () => {
    const replica = await TestPlinth.start({ replicaOf: plinth });
    try {
      const name = randomUUID();
      const url = place(await begin({ ...named(name), 'upload-length': '6' }));
      await append(url, 0, 'abc');
      const there = url.replace(plinth.baseUrl, replica.baseUrl);
      expect(await offset(there)).toBe(3);
      expect((await append(there, 3, 'def')).status).toBe(204);
      expect(String(await download(name))).toBe('abcdef');
    } finally {
      await replica.stop();
    }
  });

  it('ends when its client requests it', async () => {
    const url = place(await begin({ ...named(randomUUID()), 'upload-length': '5' }));
    await append(url, 0, 'abc');
    expect((await send('DELETE', url, {})).status).toBe(204);
    expect((await send('HEAD', url, {})).status).toBe(404);
  });

  it('survives a sweep, expires, and is swept with its bytes', async () => {
    const url = place(await begin({ ...named(randomUUID()), 'upload-length': '5' }));
    await append(url, 0, 'abc');
    const count = async (): Promise<number> => {
      const rows = await project.sql(`select count(*)::int as n from storage.resumable_parts`);
      return Number(rows[0]?.n);
    };
    const parts = await count();
    await sweep();
    expect(await count()).toBe(parts);
    await project.sql(`update storage.resumable_uploads set expires_at = now() - interval '1 second'`);
    expect((await send('HEAD', url, {})).status).toBe(404);
    expect((await append(url, 3, 'de')).status).toBe(404);
    await sweep();
    expect(await count()).toBe(0);
  });
});

async function sweep(): Promise<void> {
  const found = await plinth.app.get(StorageSweep).sweepAll();
  return found;
}

describe('the rules of an upload', () => {
  it('are checked when it begins', async () => {
    const status = async (headers: Headers): Promise<number> => (await begin(headers)).status;
    expect(await status({ ...named('x', 'none'), 'upload-length': '1' })).toBe(404);
    expect(await status({ ...named('x', 'small'), 'upload-length': '1001' })).toBe(413);
    expect(await status({ ...named('../x'), 'upload-length': '1' })).toBe(400);
    expect(await status({ ...named('a\0b'), 'upload-length': '1' })).toBe(400);
    expect(await status({ 'upload-metadata': 'bucketName', 'upload-length': '1' })).toBe(400);
    expect(await status({ 'upload-metadata': 'a b,,', 'upload-length': '1' })).toBe(400);
    expect(await status(named('x'))).toBe(400);
    expect(await status({ ...named('x'), 'upload-length': '-1' })).toBe(400);
    expect(await status({ ...named('x'), 'upload-length': '1', 'tus-resumable': '0.2.2' })).toBe(412);
    const picture = metadataOf({ bucketName: 'small', objectName: 'x', contentType: 'image/png' });
    expect(await status({ 'upload-metadata': picture, 'upload-length': '1' })).toBe(415);
  });

  it("are the caller's policies, at the beginning and at the end", async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const headers = { ...named(one), 'upload-length': '3' };
    await project.sql(`create policy mine on storage.files as restrictive for insert to authenticated
      with check (filename = auth.uid()::text)`);
    expect((await begin({ ...headers, ...asUser(two) })).status).toBe(403);
    const begun = await begin({ ...headers, ...asUser(one) });
    expect(begun.status).toBe(201);
    const url = place(begun);
    // The upload is invisible to others.
    expect((await append(url, 0, 'abc', asUser(two))).status).toBe(404);
    expect((await send('DELETE', url, asUser(two))).status).toBe(404);
    expect((await send('HEAD', `${urlOf(other)}/${url.split('/').at(-1)}`, asService(other))).status).toBe(
      404,
    );
    await project.sql(`alter policy mine on storage.files with check (false)`);
    expect((await append(url, 0, 'abc', asUser(one))).status).toBe(403);
    expect(await download(one)).toHaveLength(0);
    await project.sql(`drop policy mine on storage.files`);
    // Nothing was lost, and a HEAD request completes the upload.
    expect(await offset(url, asUser(one))).toBe(3);
    expect(String(await download(one))).toBe('abc');
  });

  it('separate the uploads of subjects that are not users of the project', async () => {
    await project.sql(
      `create policy all_files on storage.files as permissive for insert to authenticated with check (true)`,
    );
    const [ada, bob] = [asUser('ada'), asUser('bob')];
    const url = place(await begin({ ...named(randomUUID()), 'upload-length': '3', ...ada }));
    expect((await send('HEAD', url, bob)).status).toBe(404);
    expect((await send('DELETE', url, bob)).status).toBe(404);
    expect((await send('HEAD', url, ada)).status).toBe(200);
  });

  it('apply the policies to partial uploads too', async () => {
    const anybody = { apikey: other.anonKey, authorization: `Bearer ${other.anonKey}` };
    const status = async (headers: Headers): Promise<number> =>
      (
        await send('POST', urlOf(other), {
          ...anybody,
          'upload-concat': 'partial',
          'upload-length': '3',
          ...headers,
        })
      ).status;
    expect(await status({})).toBe(400);
    // The status is the same for any upload to a bucket that the caller may not see.
    expect(await status(named('a'))).toBe(404);
  });

  it('leave capacity for uploads of other owners', async () => {
    await project.sql(
      'create policy uploads on storage.files as permissive for insert to authenticated with check (true)',
    );
    const [ada, bob] = [asUser('ada-of-many'), asUser('bob-of-few')];
    const status = async (who: Headers): Promise<number> =>
      (await begin({ ...named(randomUUID()), 'upload-length': '3', ...who })).status;
    for (let left = 250; left > 0; left -= 25)
      await Promise.all(Array.from({ length: 25 }, () => status(ada)));
    expect([await status(ada), await status(bob)]).toEqual([429, 201]);
  });

  it('keep unfinished uploads within the quota of the project', async () => {
    const small = await plinth.createProject({ plan: 'enterprise' });
    await makeBucket(small, { name: 'box' });
    const path = `/admin/v1/projects/${small.id}`;
    expect((await plinth.admin.patch(path, { settings: { storage_quota_bytes: 1_000 } })).status).toBe(200);
    const status = async (headers: Headers): Promise<number> =>
      (await send('POST', urlOf(small), { ...asService(small), ...headers })).status;
    expect(await status({ ...named('a'), 'upload-length': '900' })).toBe(201);
    expect(await status({ ...named('b'), 'upload-length': '900' })).toBe(429);
    expect(await status({ 'upload-concat': 'partial', 'upload-length': '900' })).toBe(429);
    expect(await status({ ...named('b'), 'upload-length': '100' })).toBe(201);
    expect(await status({ 'upload-concat': 'partial', 'upload-length': '999999999999999' })).toBe(413);
  });

  it('refuse false offsets and lengths', async () => {
    const url = place(await begin({ ...named(randomUUID()), 'upload-length': '4' }));
    expect((await append(url, 2, 'ab')).status).toBe(409);
    expect((await append(url, 0, 'abcde')).status).toBe(413);
    const chunked = new Blob(['abcde']).stream();
    const answer = await fetch(url, {
      method: 'PATCH',
      headers: {
        ...asService(),
        'tus-resumable': '1.0.0',
        'content-type': 'application/offset+octet-stream',
        'upload-offset': '0',
      },
      body: chunked,
      duplex: 'half',
    });
    expect(answer.status).toBe(413);
    expect(await offset(url)).toBe(0);
    expect((await append(url, 0, 'ab', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await send('HEAD', `${urlOf()}/../x`, {})).status).toBe(404);
    expect((await send('HEAD', `${urlOf()}/%00`, {})).status).toBe(404);
  });

  it('refuse to join uploads of others, of another project, or uploads that are not partial', async () => {
    await project.sql(
      'create policy joins on storage.files as permissive for insert to authenticated with check (true)',
    );
    const [ada, bob] = [asUser(randomUUID()), asUser(randomUUID())];
    const partial = async (who: Headers, of = project): Promise<string> => {
      const headers = { ...named(randomUUID()), ...who, 'upload-concat': 'partial', 'upload-length': '3' };
      const begun = await send('POST', urlOf(of), headers);
      expect(begun.status).toBe(201);
      const url = place(begun);
      expect((await append(url, 0, 'abc', who)).status).toBe(204);
      return url;
    };
    const join = async (who: Headers, ...urls: string[]): Promise<number> =>
      (await begin({ ...named(randomUUID()), ...who, 'upload-concat': `final;${urls.join(' ')}` })).status;
    const [own, foreign, elsewhere] = [
      await partial(ada),
      await partial(bob),
      await partial(asService(other), other),
    ];
    const plain = place(await begin({ ...named(randomUUID()), ...ada, 'upload-length': '3' }));
    expect(await join(ada, own, foreign)).toBe(404);
    expect(await join(ada, own, elsewhere)).toBe(404);
    expect(await join(asService(), elsewhere)).toBe(404);
    expect(await join(ada, own, plain)).toBe(400);
    expect(await join(ada, own, `${urlOf()}/../../${own.split('/').at(-1)}`)).toBe(400);
    expect(await join(ada, ...Array.from({ length: 101 }, () => `${urlOf()}/${randomUUID()}`))).toBe(400);
    // The uploads are unchanged.
    expect([await offset(own, ada), await offset(foreign, bob)]).toEqual([3, 3]);
    const answers = await Promise.all([join(ada, own), join(ada, own), join(ada, own)]);
    expect(answers.toSorted()).toEqual([201, 404, 404]);
    // The other requests left no upload behind.
    const [left] = await project.sql(
      `select count(*)::int as uploads from storage.resumable_uploads where concat like 'final%' and completed_at is null`,
    );
    expect(left).toEqual({ uploads: 0 });
  });

  it('count joined parts once, and do not create a file from an empty part', async () => {
    const small = await plinth.createProject({ plan: 'enterprise' });
    await makeBucket(small, { name: 'box' });
    await plinth.admin.patch(`/admin/v1/projects/${small.id}`, { settings: { storage_quota_bytes: 1_000 } });
    const as = asService(small);
    const partial = (size: number): Promise<Response> =>
      send(
        'POST',
        urlOf(small),
        {
          ...as,
          ...named('part'),
          'upload-concat': 'partial',
          'upload-length': String(size),
          'content-type': 'application/offset+octet-stream',
        },
        'x'.repeat(size),
      );
    const urls = (await Promise.all([600, 0, 300].map(partial))).map(place);
    const info = (name: string): Promise<Response> =>
      fetch(`${plinth.baseUrl}/p/${small.slug}/storage/v1/object/info/box/${name}`, { headers: as });
    expect((await info('part')).ok).toBe(false);
    const joined = await send('POST', urlOf(small), {
      ...as,
      ...named('whole'),
      'upload-concat': `final;${urls.join(' ')}`,
    });
    expect(joined.status).toBe(201);
    expect(await (await info('whole')).json()).toMatchObject({ size: 900 });
  });

  it('change nothing for a caller who may only read', async () => {
    const [name, sub] = [randomUUID(), randomUUID()];
    const url = place(await begin({ ...named(name), ...asUser(sub), 'upload-length': '3' }));
    await project.sql(
      'create policy nothing on storage.files as restrictive for insert to authenticated with check (false)',
    );
    expect((await append(url, 0, 'abc', asUser(sub))).status).toBe(403);
    await project.sql('drop policy nothing on storage.files');
    const reader = {
      apikey: project.anonKey,
      authorization: `Bearer ${project.token({ sub, role: 'authenticated', read_only: true })}`,
    };
    expect(await offset(url, reader)).toBe(3);
    expect((await append(url, 3, '', reader)).status).toBe(403);
    expect((await send('DELETE', url, reader)).status).toBe(403);
    expect(await download(name)).toHaveLength(0);
    expect(await offset(url, asUser(sub))).toBe(3);
    expect(String(await download(name))).toBe('abc');
  });

  it('refuse metadata of 1 MB, in a header and in a body', async () => {
    const long = 'x'.repeat(1_000_000);
    expect((await begin({ 'upload-metadata': `a ${long}`, 'upload-length': '1' })).status).toBe(431);
    const many = Array.from({ length: 51 }, (_, index) => `k${index} eA==`).join();
    expect((await begin({ 'upload-metadata': many, 'upload-length': '1' })).status).toBe(400);
    const large = Buffer.from(JSON.stringify({ a: 'x'.repeat(20_000) })).toString('base64');
    expect([400, 431]).toContain(
      (
        await begin({
          ...named('x'),
          'upload-metadata': `${named('x')['upload-metadata']},metadata ${large}`,
          'upload-length': '1',
        })
      ).status,
    );
    const form = new FormData();
    form.append('metadata', JSON.stringify({ long }));
    form.append('', new Blob(['x']), 'x');
    const path = `${plinth.baseUrl}/p/${project.slug}/storage/v1/object/box/${randomUUID()}`;
    expect([400, 413]).toContain(
      (await fetch(path, { method: 'POST', headers: asService(), body: form })).status,
    );
  });

  it('replace a file only when asked to', async () => {
    const name = randomUUID();
    const body = { ...named(name), 'content-type': 'application/offset+octet-stream', 'upload-length': '3' };
    expect((await begin(body, 'one')).status).toBe(201);
    expect((await begin(body, 'two')).status).toBe(409);
    expect((await begin({ ...body, 'x-upsert': 'true' }, 'new')).status).toBe(201);
    expect(String(await download(name))).toBe('new');
  });
});

describe('rows that the owner of the project changes are refused or served, and do not exceed the limits', () => {
  let own: TestProject;
  beforeAll(async () => {
    own = await plinth.createProject({ plan: 'enterprise' });
    await makeBucket(own, { name: 'box' });
    await plinth.admin.patch(`/admin/v1/projects/${own.id}`, { settings: { max_file_size: 1_000 } });
    await own.sql(`alter table storage.resumable_uploads drop constraint if exists resumable_uploads_check,
      drop constraint if exists resumable_uploads_length_check`);
  });

  it.each([
    ['upload_metadata', "E'a\\r\\nX-Evil: 1'"],
    ['upload_metadata', "'ä'"],
    [
      'upload_metadata',
      `'bucketName ' || encode('box', 'base64') || ',objectName ' || encode('../../x', 'base64')`,
    ],
    ['upload_metadata', `repeat('x', 5000000)`],
    ['concat', "E'final;\\r\\nX-Evil: 1'"],
    ['concat', "'partial'"],
    ['role', "'postgres'"],
    ['subject', `repeat('x', 5000000)`],
    ['length', '9007199254740993'],
    ['length', '9000000000000000'],
    ['received', '-1'],
    ['expires_at', "'infinity'"],
    ['object_id', 'gen_random_uuid()'],
    ['joining_until', "'infinity'"],
  ])('when %s is %s', async (column, value) => {
    const as = asService(own);
    const url = place(await send('POST', urlOf(own), { ...as, ...named('file'), 'upload-length': '6' }));
    expect((await append(url, 0, 'abc', as)).status).toBe(204);
    await own.sql(`delete from storage.resumable_uploads where id <> '${url.split('/').at(-1)}';
      update storage.resumable_uploads set ${column} = ${value}`);
    const head = await send('HEAD', url, as);
    expect(head.headers.get('x-evil')).toBeNull();
    const answers = [head, await append(url, 3, 'def', as), await append(url, 6, 'x'.repeat(2_000), as)];
    for (const { status } of answers) expect([200, 204, 400, 404, 409, 413, 423, 500]).toContain(status);
    const [stored] = await own.sql(
      'select coalesce(sum(size), 0)::int as bytes from storage.resumable_parts',
    );
    expect(Number(stored?.bytes)).toBeLessThanOrEqual(6);
    expect([200, 204, 404, 500]).toContain((await send('DELETE', url, as)).status);
    // Other uploads are not affected.
    expect((await begin({ ...named(randomUUID()), 'upload-length': '0' })).status).toBe(201);
  });
});

describe('rows of parts that the owner of the project changes cannot write to a file, and leave nothing open', () => {
  let own: TestProject;
  const objects = { file: '', foreign: '' };
  beforeAll(async () => {
    own = await plinth.createProject({ plan: 'enterprise' });
    await makeBucket(own, { name: 'box' });
    await own.sql(`alter table storage.resumable_uploads drop constraint if exists resumable_uploads_check;
      alter table storage.resumable_parts drop constraint if exists resumable_parts_object_id_key`);
    for (const [kind, of] of [
      ['file', own],
      ['foreign', other],
    ] as const) {
      const body = { 'content-type': 'application/offset+octet-stream', 'upload-length': '9' };
      const begun = await send(
        'POST',
        urlOf(of),
        { ...asService(of), ...named('victim'), ...body },
        'published',
      );
      expect(begun.status).toBe(201);
      const [row] = await of.sql(`select object_id from storage.files where filename = 'victim'`);
      objects[kind] = String(row?.object_id);
    }
  });
  const openFiles = (): string[] =>
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${fd}`);
        return path.includes(own.id) ? [path] : [];
      } catch {
        return [];
      }
    });
  const largest = async (): Promise<number> => {
    let size = 0;
    for await (const batch of plinth.app.get(ObjectStore).objects(own.id))
      size = Math.max(size, ...batch.map((object) => object.size));
    return size;
  };

  it.each([
    ["a file's object", "object_id = '<file>'", '', 3, [200, 204, 404, 500]],
    [
      "a file's object, all of it",
      "object_id = '<file>', size = 9",
      'received = 9, length = 12',
      9,
      [204, 404, 409, 500],
    ],
    [
      "a file's object, as the whole upload",
      "object_id = '<file>', size = 9",
      'received = 9, length = 9',
      9,
      [409, 413, 500],
    ],
    ["another project's object", "object_id = '<foreign>'", '', 3, [404]],
    ['no object', 'object_id = gen_random_uuid()', '', 3, [404]],
    ['more bytes than there are', 'size = 500', 'received = 500, length = 503', 500, [404]],
    ['a terabyte', 'size = 1000000000000', '', 3, [400, 404, 409, 500]],
    ['more than a file can have', 'size = 9007199254740991', '', 3, [400, 404, 409, 500]],
    ['fewer bytes than were received', 'size = 1', '', 3, [404, 409, 500]],
  ])('when a part has %s', async (_what, part, upload, at, allowed) => {
    const as = asService(own);
    const url = place(
      await send('POST', urlOf(own), { ...as, ...named(randomUUID()), 'upload-length': '6' }),
    );
    expect((await append(url, 0, 'abc', as)).status).toBe(204);
    const id = url.slice(-36);
    const set = part.replace('<file>', objects.file).replace('<foreign>', objects.foreign);
    await own.sql(`update storage.resumable_parts set ${set} where upload_id = '${id}'`);
    if (upload) await own.sql(`update storage.resumable_uploads set ${upload} where id = '${id}'`);
    const { status } = await append(url, at, 'def', as);
    expect(allowed).toContain(status);
    // The upload no longer exists.
    if (status === 404) expect((await send('HEAD', url, as)).status).toBe(404);
    expect([200, 204, 400, 404, 409, 500]).toContain((await send('HEAD', url, as)).status);
    await send('DELETE', url, as);
    expect(String(await download('victim', own))).toBe('published');
    expect(String(await download('victim', other))).toBe('published');
    expect(await largest()).toBeLessThanOrEqual(12);
    await until(() => openFiles().length === 0);
  });
});

describe('tus-js-client', () => {
  const upload = (bytes: Buffer, name: string, options: object = {}): Promise<Upload> =>
    new Promise((resolve, reject) => {
      const started: Upload = new Upload(bytes, {
        endpoint: urlOf(),
        headers: asService(),
        metadata: { bucketName: 'box', objectName: name, contentType: 'application/octet-stream' },
        retryDelays: [0, 100, 200],
        onError: reject,
        onSuccess: () => resolve(started),
        ...options,
      });
      started.start();
    });

  it.each([
    ['in one request', {}],
    ['in chunks', { chunkSize: 2 * MIB }],
    ['with the first chunk in the creating request', { chunkSize: 2 * MIB, uploadDataDuringCreation: true }],
    ['in parallel', { parallelUploads: 3 }],
  ])('uploads %s', async (_how, options) => {
    const [name, bytes] = [randomUUID(), randomBytes(9 * MIB)];
    await upload(bytes, name, options);
    expect(digest(await download(name))).toBe(digest(bytes));
  });

  it('continues after an abort', async () => {
    const [name, bytes] = [randomUUID(), randomBytes(9 * MIB)];
    let url: string | null = null;
    await new Promise<void>((resolve, reject) => {
      const first: Upload = new Upload(bytes, {
        endpoint: urlOf(),
        headers: asService(),
        chunkSize: MIB,
        metadata: { bucketName: 'box', objectName: name },
        onError: reject,
        onChunkComplete: () => {
          url = first.url;
          void first.abort().then(resolve);
        },
      });
      first.start();
    });
    await upload(bytes, name, { uploadUrl: url });
    expect(digest(await download(name))).toBe(digest(bytes));
  });
});
