/** Downloads: whole, ranges, conditional requests and HEAD, on the download, signed and preview URLs alike. */
import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const TEXT = Array.from({ length: 40_000 }, (_, n) => `${n} `).join('');
const SIZE = TEXT.length;
const ETAG = `"${createHash('sha256').update(TEXT).digest('hex')}"`;

const LONG_AGO = 'Thu, 01 Jan 1970 00:00:00 GMT';

let plinth: TestPlinth;
let project: TestProject;
let user: ReturnType<TestProject['asSubject']>;
let file: string;
/** The caller and the path for each kind of URL. */
const addresses: Record<string, { client: HttpClient; path: string }> = {};

beforeAll(async () => {
  plinth = await TestPlinth.start();
  plinth.clock.hold();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
  await user.post(`${project.storage}/buckets`, { name: 'box', is_public: true });
  const { body } = await upload(user, project.storage, 'box', TEXT, { name: 'numbers é.txt' });
  file = `${project.storage}/files/${body.data.id}`;
  const { url } = (await user.post(`${file}/signed-url`, { expiry: '1h' })).body.data;
  addresses.download = { client: user, path: `${file}/download` };
  addresses.signed = { client: plinth.http, path: url.replace('http://plinth.test', '') };
  addresses.preview = { client: plinth.http, path: `${file}/preview` };
});
afterAll(() => plinth.stop());

function ask(kind: string, headers: Record<string, string> = {}, method = 'GET'): Promise<HttpAnswer> {
  const { client, path } = addresses[kind] as { client: HttpClient; path: string };
  return client.send(method, path, { headers });
}

describe.each(['download', 'signed', 'preview'])('the %s URL', (kind) => {
  it('sends the file content with its type, length, tag and date', async () => {
    const answer = await ask(kind);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(TEXT);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.headers.get('content-length')).toBe(String(SIZE));
    expect(answer.headers.get('etag')).toBe(ETAG);
    expect(answer.headers.get('accept-ranges')).toBe('bytes');
    expect(Date.parse(answer.headers.get('last-modified') as string)).toBeLessThanOrEqual(Date.now());
  });

  it('names the file for saving (RFC 6266)', async () => {
    const expected = `filename="numbers e.txt"; filename*=UTF-8''numbers%20%C3%A9.txt`;
    expect((await ask(kind)).headers.get('content-disposition')).toBe(
      `${kind === 'preview' ? 'inline' : 'attachment'}; ${expected}`,
    );
  });

  it('answers HEAD with the headers alone', async () => {
    const answer = await ask(kind, {}, 'HEAD');
    expect([answer.status, answer.text, answer.headers.get('content-length')]).toEqual([
      200,
      '',
      String(SIZE),
    ]);
    const part = await ask(kind, { range: 'bytes=0-9' }, 'HEAD');
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 0-9/${SIZE}`]);
  });

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=5-14', 5, 14],
    ['bytes=100-', 100, SIZE - 1],
    ['bytes=-7', SIZE - 7, SIZE - 1],
    [`bytes=${SIZE - 1}-${SIZE + 100}`, SIZE - 1, SIZE - 1],
  ])('answers 206 for Range: %s', async (range, start, end) => {
    const answer = await ask(kind, { range });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(`bytes ${start}-${end}/${SIZE}`);
    expect(answer.headers.get('content-length')).toBe(String(end - start + 1));
    expect(answer.text).toBe(TEXT.slice(start, end + 1));
  });

  it('answers several ranges as multipart/byteranges', async () => {
    const answer = await ask(kind, { range: 'bytes=0-4,100-199,-3' });
    expect(answer.status).toBe(206);
    const [, boundary] =
      /^multipart\/byteranges; boundary=(\w+)$/.exec(answer.headers.get('content-type') ?? '') ?? [];
    expect(answer.headers.get('content-length')).toBe(String(answer.text.length));
    const part = (range: string, text: string): string =>
      `\r\n--${boundary}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes ${range}/${SIZE}\r\n\r\n${text}`;
    expect(answer.text).toBe(
      `${part('0-4', TEXT.slice(0, 5))}${part('100-199', TEXT.slice(100, 200))}${part(`${SIZE - 3}-${SIZE - 1}`, TEXT.slice(-3))}\r\n--${boundary}--\r\n`,
    );
  });

  it('answers 416 with the size for a range beyond the end', async () => {
    const answer = await ask(kind, { range: `bytes=${SIZE}-` });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe(`bytes */${SIZE}`);
    expect(answer.body.error).toMatchObject({ code: 'range_not_satisfiable', status: 416 });
  });

  it('answers 304 without a body for If-None-Match', async () => {
    for (const tag of [ETAG, `W/${ETAG}`, `"x", ${ETAG}`, '*']) {
      const answer = await ask(kind, { 'if-none-match': tag });
      expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', ETAG]);
    }
    expect((await ask(kind, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('evaluates If-Range: a part if the content is the same, otherwise the whole file', async () => {
    expect((await ask(kind, { range: 'bytes=0-4', 'if-range': ETAG })).status).toBe(206);
    expect((await ask(kind, { range: 'bytes=0-4', 'if-range': '"other"' })).status).toBe(200);
  });

  it('answers 304 for If-Modified-Since its Last-Modified, and gives If-None-Match precedence', async () => {
    const date = (await ask(kind)).headers.get('last-modified') as string;
    expect((await ask(kind, { 'if-modified-since': date })).status).toBe(304);
    expect((await ask(kind, { 'if-modified-since': LONG_AGO })).status).toBe(200);
    expect((await ask(kind, { 'if-modified-since': date, 'if-none-match': '"other"' })).status).toBe(200);
  });

  it.each(['GET', 'HEAD'])(
    '%s answers 412 precondition_failed if If-Match or If-Unmodified-Since does not match',
    async (method) => {
      const date = (await ask(kind)).headers.get('last-modified') as string;
      const status = async (headers: Record<string, string>): Promise<number> =>
        (await ask(kind, headers, method)).status;
      for (const tag of [ETAG, `"x", ${ETAG}`, '*']) expect(await status({ 'if-match': tag })).toBe(200);
      for (const tag of [`W/${ETAG}`, '"x", "y"']) expect(await status({ 'if-match': tag })).toBe(412);
      expect(await status({ 'if-unmodified-since': date })).toBe(200);
      expect(await status({ 'if-unmodified-since': LONG_AGO })).toBe(412);
      expect(await status({ 'if-unmodified-since': '1970-01-01' })).toBe(200);
      // Precedence: entity tags before dates, If-Match before If-None-Match, and both before ranges.
      expect(await status({ 'if-match': ETAG, 'if-unmodified-since': LONG_AGO })).toBe(200);
      expect(await status({ 'if-match': '"x"', 'if-none-match': ETAG })).toBe(412);
      expect(await status({ 'if-match': ETAG, 'if-none-match': ETAG })).toBe(304);
      expect(await status({ 'if-match': '"x"', range: `bytes=${SIZE}-` })).toBe(412);
      expect(await status({ 'if-match': ETAG, range: 'bytes=0-4' })).toBe(206);
    },
  );

  it("answers 412 in storage's error body", async () => {
    const answer = await ask(kind, { 'if-match': '"x"' });
    expect(answer.body).toEqual({
      data: null,
      error: { message: expect.any(String), code: 'precondition_failed', status: 412 },
    });
  });

  it('accepts a date in If-Range only if it equals Last-Modified and that second is over', async () => {
    const date = (await ask(kind)).headers.get('last-modified') as string;
    const status = async (ifRange: string): Promise<number> =>
      (await ask(kind, { range: 'bytes=0-4', 'if-range': ifRange })).status;
    const sinceThen = plinth.clock.now() - Date.parse(date);
    // Tests the middle of the second in which the file was written, and then the next second.
    plinth.clock.move((500 - sinceThen) / 1000);
    const within = await status(date);
    plinth.clock.move(1);
    const after = [await status(date), await status(new Date(Date.parse(date) + 1000).toUTCString())];
    plinth.clock.move((sinceThen - 1_500) / 1000);
    expect([within, ...after]).toEqual([200, 206, 200]);
  });

  it('uses the filename given in ?download=', async () => {
    const { client, path } = addresses[kind] as { client: HttpClient; path: string };
    const name = encodeURIComponent('a"b\r\nc é.txt');
    const { status, headers } = await client.get(`${path}${path.includes('?') ? '&' : '?'}download=${name}`);
    expect([status, headers.get('content-disposition')]).toEqual([
      200,
      `attachment; filename="a_b__c e.txt"; filename*=UTF-8''a%22b%0D%0Ac%20%C3%A9.txt`,
    ]);
  });

  it.each(['download', 'download='])('saves the file under its own name for ?%s', async (query) => {
    const { client, path } = addresses[kind] as { client: HttpClient; path: string };
    const own = (await ask(kind)).headers.get('content-disposition')?.replace(/^\w+/, 'attachment');
    const { headers } = await client.get(`${path}${path.includes('?') ? '&' : '?'}${query}`);
    expect(headers.get('content-disposition')).toBe(own);
  });

  it('cannot run scripts in the origin', async () => {
    const { headers } = await ask(kind);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
  });
});

it('answers 404 file_not_found for an unknown file, a hidden file and a malformed id', async () => {
  const unknown = `${project.storage}/files/00000000-0000-4000-8000-000000000000`;
  for (const path of [
    `${unknown}/download`,
    unknown,
    `${project.storage}/files/nonsense/download`,
    `${project.storage}/files/%00/download`,
  ]) {
    expect(await user.get(path)).toMatchObject({
      status: 404,
      body: { data: null, error: { code: 'file_not_found', status: 404 } },
    });
  }
  await user.post(`${project.storage}/buckets`, { name: 'private' });
  const { body } = await upload(user, project.storage, 'private', 'x');
  expect((await project.asSubject().get(`${project.storage}/files/${body.data.id}/download`)).status).toBe(
    404,
  );
});

it('answers 500 storage_unavailable when the bytes are missing, and recovers when they return', async () => {
  const lonely = await plinth.createProject({ plan: 'enterprise' });
  await lonely.service.post(`${lonely.storage}/buckets`, { name: 'box' });
  const { body } = await upload(lonely.service, lonely.storage, 'box', 'x', { name: 'a' });
  const root = join(plinth.dataDir, 'files', lonely.id);
  const download = (): Promise<HttpAnswer> =>
    lonely.service.get(`${lonely.storage}/files/${body.data.id}/download`);
  renameSync(root, `${root}-away`);
  expect(await download()).toMatchObject({
    status: 500,
    body: { data: null, error: { message: expect.any(String), code: 'storage_unavailable', status: 500 } },
  });
  renameSync(`${root}-away`, root);
  expect((await download()).text).toBe('x');
});

it('streams: a client that disconnects half-way affects no other', async () => {
  const { body } = await upload(user, project.storage, 'box', Buffer.alloc(20 * 1024 * 1024, 'z'), {
    name: 'large',
  });
  const path = `${project.storage}/files/${body.data.id}/download`;
  for (let n = 0; n < 5; n += 1) await leaveEarly(path);
  const whole = await user.get(path);
  expect(whole.text.length).toBe(20 * 1024 * 1024);
});

/** Sends a request, reads the first bytes of the response, and disconnects. */
function leaveEarly(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(plinth.baseUrl + path, { headers: user.headers }, (response) => {
      response.once('data', () => request.destroy());
      response.once('close', resolve);
    });
    request.once('error', reject);
  });
}
