/** Hostile input is refused with an error message from storage, never with one from the database, and never with status 500. */
import { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { rawExchange, upload } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let user: ReturnType<TestProject['asSubject']>;
let storage: string;
let file: string;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
  storage = project.storage;
  await user.post(`${storage}/buckets`, { name: 'box', is_public: true });
  file = `${storage}/files/${(await upload(user, storage, 'box', 'abc', { name: 'first' })).body.data.id}`;
});
afterAll(() => plinth.stop());

/** Words of messages by PostgreSQL and Node. */
const FOREIGN =
  /byte sequence|time zone|encoding|unicode|escape|syntax|relation|operator|invalid input|out of range|stack/i;

function expectRefused(answer: HttpAnswer, status = 400): void {
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([status, expect.not.stringMatching(FOREIGN)]);
  expect(answer.body).toMatchObject({ data: null, error: { status } });
}

const NUL = '%00';
const DEEP = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;

describe('NUL and half surrogate pairs', () => {
  it.each([
    ['GET', '/buckets/a%00b'],
    ['PATCH', '/buckets/a%00b'],
    ['DELETE', '/buckets/a%00b'],
    ['GET', '/buckets/a%00b/files'],
    ['GET', '/buckets/a%00b/folders'],
    ['POST', '/buckets/a%00b/upload'],
    ['GET', `/buckets/box/files?search=${NUL}`],
    ['GET', `/buckets/box/files?prefix=${NUL}`],
    ['GET', `/buckets/box/files?cursor=${NUL}`],
    ['GET', `/buckets/box/files?sortBy=${NUL}`],
    ['GET', `/buckets/box/folders?prefix=${NUL}`],
    ['GET', `/buckets/box/folders?after=${NUL}/`],
  ])('%s %s is 400', async (method, path) => expectRefused(await user.send(method, storage + path)));

  it.each(['\\u0000', '\\ud800', 'a\\udc00b'])('%s in a body is 400', async (text) => {
    const bodies: [string, string, string][] = [
      ['POST', `${storage}/buckets`, `{"name":"x${text}"}`],
      ['POST', `${storage}/buckets`, `{"name":"x","description":"${text}"}`],
      ['PATCH', `${storage}/buckets/box`, `{"description":"${text}"}`],
      ['PATCH', `${storage}/buckets/box`, `{"cache_control":"${text}"}`],
      ['PATCH', file, `{"filename":"${text}"}`],
      ['PATCH', file, `{"bucket_name":"${text}"}`],
      ['PATCH', file, `{"content_type":"${text}"}`],
      ['PATCH', file, `{"metadata":{"a":["${text}"]}}`],
      ['PATCH', file, `{"metadata":{"${text}":1}}`],
      ['POST', `${file}/copy`, `{"filename":"${text}"}`],
      ['POST', `${file}/copy`, `{"filename":"x","bucket_name":"${text}"}`],
      ['POST', `${storage}/files/bulk-delete`, `{"file_ids":["${text}"]}`],
      ['POST', `${storage}/files/bulk-signed-urls`, `{"expiry":"5m","file_ids":["${text}"]}`],
      ['POST', `${file}/signed-url`, `{"expiry":"${text}"}`],
    ];
    for (const [method, path, body] of bodies) expectRefused(await user.send(method, path, { body }));
    for (const metadata of [`{"a":"${text}"}`, `{"${text}":1}`])
      expectRefused(await upload(user, storage, 'box', 'x', { name: 'm', before: { metadata } }));
  });
});

describe('metadata', () => {
  it.each([
    ['a field', { before: { metadata: DEEP } }],
    ['the address', { query: { metadata: DEEP } }],
  ])('that is nested deeply is 400 in %s', async (_case, options) =>
    expectRefused(await upload(user, storage, 'box', 'x', { name: 'deep', ...options })),
  );

  it('must stay an object within the limits of depth and size when it is changed', async () => {
    expectRefused(await user.patch(file, `{"metadata":${DEEP}}`));
    for (const metadata of [{ a: 'x'.repeat(20_000) }, [], 5, 'x', null])
      expectRefused(await user.patch(file, { metadata }));
    const kept = { a: { b: 'ü' } };
    expect((await user.patch(file, { metadata: kept })).body.data.metadata).toEqual(kept);
  });

  it('keeps names such as __proto__ when uploaded and changed', async () => {
    const metadata = '{"a":[{"constructor":{"b":1}}],"toString":3,"__proto__":{"a":1},"constructor":2}';
    const { body } = await upload(user, storage, 'box', 'x', { name: 'proto', before: { metadata } });
    expect(JSON.stringify(body.data.metadata)).toBe(metadata);
    const changed = await user.patch(file, `{"metadata":${metadata}}`);
    expect(JSON.stringify(changed.body.data.metadata)).toBe(metadata);
  });

  it('is bounded by its printed size in the database, where a number may have hundreds of digits', async () => {
    const many = (number: string, count: number): string => `{"a":[${Array(count).fill(number).join()}]}`;
    for (const number of ['1e300', '-1e-300']) {
      const metadata = many(number, 100);
      expectRefused(await upload(user, storage, 'box', 'x', { name: 'digits', before: { metadata } }));
      expectRefused(await user.patch(file, `{"metadata":${metadata}}`));
      expect((await user.patch(file, `{"metadata":${many(number, 20)}}`)).status).toBe(200);
    }
  });

  it('with a number beyond a double is 400, never null', async () => {
    for (const metadata of ['{"a":1e400}', '{"a":[-1e999]}']) {
      expectRefused(await upload(user, storage, 'box', 'x', { name: 'huge', before: { metadata } }));
      expectRefused(await user.patch(file, `{"metadata":${metadata}}`));
    }
  });
});

describe('numbers, choices and lists', () => {
  it.each([
    'limit=-1',
    'limit=1001',
    'limit=1e3',
    'limit=0x10',
    'limit=%20',
    'limit=',
    'limit=1&limit=2',
    'limit[]=1',
    'limit=٣',
    'limit=99999999999999999999',
    'offset=-1',
    'offset=1.5',
    'offset=9999999999999999',
    'offset=NaN',
    'offset=Infinity',
    'sortBy=id',
    'sortBy=created_at;drop',
    'sortBy=CREATED_AT',
    'sortBy=__proto__',
    'sortBy=size&sortBy=size',
    'sortDir=ASC',
    'sortDir=sideways',
    'delimiter=x',
    'cursor=x',
    'cursor=W10',
    `cursor=${Buffer.from('["__proto__","asc","1","00000000-0000-0000-0000-000000000000"]').toString('base64url')}`,
    `cursor=${Buffer.from('["size","asc","999999999999999999999","00000000-0000-0000-0000-000000000000"]').toString('base64url')}`,
    `cursor=${Buffer.from('["created_at","asc","2026-99-99T00:00:00Z","00000000-0000-0000-0000-000000000000"]').toString('base64url')}`,
    `cursor=${Buffer.from('["created_at","asc","2026-02-30T00:00:00Z","00000000-0000-0000-0000-000000000000"]').toString('base64url')}`,
    `cursor=${Buffer.from('["created_at","asc","0000-01-01T00:00:00Z","00000000-0000-0000-0000-000000000000"]').toString('base64url')}`,
    `cursor=${Buffer.from('["created_at","asc","2026-01-01T00:00:00+23:59","00000000-0000-0000-0000-000000000000"]').toString('base64url')}`,
    `search=${'x'.repeat(2_000)}`,
    'search=a&search=b',
  ])('a list by %s is 400, or ignores the parameter', async (query) => {
    const answer = await user.unchecked().get(`${storage}/buckets/box/files?${query}`);
    if (query === 'limit[]=1') expect(answer.status).toBe(200);
    else expectRefused(answer);
  });

  it.each([
    ['limit=-1', 'limit must not be less than 0'],
    ['limit=1001', 'limit must not be greater than 1000'],
    ['limit=many', 'limit must be an integer number'],
    ['offset=-1', 'offset must not be less than 0'],
    ['offset=9999999999999999', 'offset must not be greater than 9007199254740991'],
  ])('a list by %s gets the message: %s', async (query, message) => {
    const { body } = await user.get(`${storage}/buckets/box/files?${query}`);
    expect(body.error.message).toBe(message);
  });

  it('a list far beyond the end is empty', async () => {
    const { status, body } = await user.get(`${storage}/buckets/box/files?offset=999999999999999`);
    expect([status, body.data]).toEqual([200, []]);
  });

  it.each(['5M', '5m ', ' 5m', '0', '-5m', '5', 5, true, {}, ['5m'], '__proto__', 'constructor', '٥m'])(
    'the expiry %j is 400',
    async (expiry) => expectRefused(await user.post(`${file}/signed-url`, { expiry })),
  );

  it('a search is plain text, with no wildcards', async () => {
    for (const search of ['%', '_', '\\', "'", '%%%', '.*', '\\\\%'])
      expect(
        (await user.get(`${storage}/buckets/box/files?search=${encodeURIComponent(search)}`)).body.data,
      ).toEqual([]);
  });
});

describe("rows written by the owner's SQL", () => {
  it.each(['text/plain\r\nX-Evil: 1', 'tëxt/plain', '', 'text', 'text/html;\0'.replace('\0', '\u0001')])(
    'with the content type %j are sent as bytes',
    async (type) => {
      const { body } = await upload(user, storage, 'box', 'abc', { name: `typed-${Math.random()}` });
      await project.sql(
        `update storage.files set content_type = E'${type.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}' where id = '${body.data.id}'`,
      );
      for (const kind of ['download', 'preview']) {
        const answer = await user.get(`${storage}/files/${body.data.id}/${kind}`);
        expect([answer.status, answer.headers.get('content-type'), answer.headers.get('x-evil')]).toEqual([
          200,
          'application/octet-stream',
          null,
        ]);
      }
    },
  );

  it('with control characters in the name, or an invalid Cache-Control, are sent', async () => {
    const { body } = await upload(user, storage, 'box', 'abc', { name: 'named' });
    await project.sql(`update storage.files set filename = E'a\\r\\nX-Evil: 1"' where id = '${body.data.id}';
      update storage.buckets set cache_control = E'no-store\\r\\nX-Evil: 1'`);
    const { status, headers } = await user.get(`${storage}/files/${body.data.id}/download`);
    expect([status, headers.get('x-evil'), headers.get('cache-control')]).toEqual([
      200,
      null,
      'private, no-cache',
    ]);
    await project.sql('update storage.buckets set cache_control = null');
  });
});

describe('headers', () => {
  const request = (...lines: string[]): Promise<string> =>
    rawExchange(
      plinth.baseUrl,
      [
        `GET ${file}/download HTTP/1.1`,
        'Host: x',
        'Connection: close',
        `apikey: ${project.anonKey}`,
        `Authorization: ${user.headers.authorization}`,
        ...lines,
        '\r\n',
      ].join('\r\n'),
    );

  it.each<[string, string[], RegExp]>([
    ['two apikeys', [`apikey: ${'x'.repeat(20)}`], /^HTTP\/1\.1 401 /],
    ['two Authorizations', ['Authorization: Bearer forged'], /^HTTP\/1\.1 401 /],
    ['two Ranges count as the first', ['Range: bytes=0-0', 'Range: bytes=1-1'], /^HTTP\/1\.1 (200|206) /],
    ['two If-None-Match', ['If-None-Match: "x"', 'If-None-Match: *'], /^HTTP\/1\.1 (200|304) /],
    ['a Range of a thousand parts', [`Range: bytes=${Array(1_000).fill('0-0').join()}`], /^HTTP\/1\.1 200 /],
    ['a Range of huge numbers', [`Range: bytes=${'9'.repeat(400)}-`], /^HTTP\/1\.1 416 /],
    ['a reversed Range', ['Range: bytes=2-1'], /^HTTP\/1\.1 200 /],
    ['an invalid If-Range', ['Range: bytes=0-0', 'If-Range: \u00e9'], /^HTTP\/1\.1 200 /],
    ['a very long date', [`If-Modified-Since: ${'9'.repeat(5_000)}`], /^HTTP\/1\.1 200 /],
    ['a header of 100 KB', [`X-Long: ${'x'.repeat(100_000)}`], /^HTTP\/1\.1 431 /],
    ['an unknown Expect', ['Expect: the-best'], /^HTTP\/1\.1 200 [^]*X-RateLimit-Limit: /],
    ['two Content-Lengths', ['Content-Length: 0', 'Content-Length: 1'], /^HTTP\/1\.1 400 /],
    ['both length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked'], /^HTTP\/1\.1 400 /],
  ])('%s', async (_case, lines, expected) => expect(await request(...lines)).toMatch(expected));
});
