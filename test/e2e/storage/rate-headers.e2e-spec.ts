/** Every storage response has the three rate headers (SPEC.md 8), on every route and for every type of failure. */
import { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { fillPath, Route, routesOf } from '../../support/routes';
import { TestProject } from '../../support/test-project';
import { rawExchange, upload } from '../../support/uploads';

const LIMIT = 10_000;
const METHODS_WITH_BODY = new Set(['POST', 'PATCH', 'PUT']);

let plinth: TestPlinth;
let project: TestProject;
let user: ReturnType<TestProject['asSubject']>;
let routes: Route[];
let fileId: string;

beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { MAX_FILE_SIZE: '100KiB' } });
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
  await user.post(`${project.storage}/buckets`, { name: 'box', is_public: true });
  fileId = (await upload(user, project.storage, 'box', 'x')).body.data.id;
  // storage-js.e2e-spec.ts tests the API of Supabase.
  routes = routesOf(plinth.app).filter(
    ({ path }) => path.startsWith('/p/:project_slug/storage') && !path.includes('/storage/v1'),
  );
});
afterAll(() => plinth.stop());

const pathOf = ({ path }: Route, slug = project.slug): string =>
  fillPath(path, { project_slug: slug, bucket_name: 'box', file_id: fileId });

/** Limit, remaining and reset as numbers; NaN for a missing header. */
const rateIn = (get: (name: string) => string | null | undefined): number[] =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => Number(get(name) ?? NaN));
const rate = ({ headers }: HttpAnswer): number[] => rateIn((name) => headers.get(name));
const rawRate = (text: string): number[] =>
  rateIn((name) => new RegExp(`^${name}: (\\d+)\\r$`, 'im').exec(text)?.[1]);
const rawStatus = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);

const COMPLETE = (limit = LIMIT): unknown[] => [limit, expect.any(Number), expect.any(Number)];

/** Every route with the same kind of request. */
async function onEveryRoute(
  send: (route: Route) => Promise<HttpAnswer>,
  statuses: readonly number[],
  limit = LIMIT,
  chosen: (route: Route) => boolean = () => true,
): Promise<void> {
  for (const route of routes.filter(chosen)) {
    const answer = await send(route);
    const what = `${route.method} ${route.path}`;
    expect([what, rate(answer).map((value) => (Number.isNaN(value) ? 'missing' : value))]).toEqual([
      what,
      COMPLETE(limit),
    ]);
    expect([what, statuses]).toEqual([what, expect.arrayContaining([answer.status])]);
  }
}

const head = (method: string, path: string, more: string[] = []): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    'Connection: close',
    `apikey: ${project.anonKey}`,
    `Authorization: ${user.headers.authorization}`,
    ...more,
    '\r\n',
  ].join('\r\n');

it('lists all routes', () => expect(routes.length).toBeGreaterThan(15));

describe('on every route', () => {
  it('401: no credentials, a forged key, a forged bearer', async () => {
    // Previews need no credentials; a signed URL without its signature is refused as well.
    const isPrivate = ({ path }: Route): boolean => !path.endsWith('/preview');
    for (const client of [
      plinth.http,
      project.client('forged', 'forged'),
      project.client(project.anonKey, 'forged'),
    ])
      await onEveryRoute((route) => client.send(route.method, pathOf(route)), [401], LIMIT, isPrivate);
  });

  it('404: an unknown project, which has no rate: limit 0, remaining 0', async () => {
    await onEveryRoute((route) => user.send(route.method, pathOf(route, 'no-such-project')), [404], 0);
  });

  it('400 or 404: a path that is not percent-encoded UTF-8, with valid credentials', async () => {
    for (const route of routes) {
      const broken = `${pathOf(route).replace(/storage$/, 'storage/')}%ff`;
      const text = await rawExchange(plinth.baseUrl, head(route.method, broken));
      expect([route.path, rawStatus(text), rawRate(text)]).toEqual([
        route.path,
        expect.any(Number),
        COMPLETE(),
      ]);
      expect([400, 401, 404]).toContain(rawStatus(text));
    }
    const path = `${project.storage}/%ff`;
    const answer = await rawExchange(plinth.baseUrl, head('GET', path));
    expect([rawStatus(answer), rawRate(answer)]).toEqual([400, COMPLETE()]);
    const stranger = await rawExchange(
      plinth.baseUrl,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect([rawStatus(stranger), rawRate(stranger)]).toEqual([401, COMPLETE()]);
  });

  it('4xx: an invalid query string', async () => {
    const faults = '?limit=x&limit=y&offset=-1&sortBy=%00&download=a&download=b&upsert=maybe&expires=x';
    await onEveryRoute(
      (route) => user.unchecked().send(route.method, pathOf(route) + faults),
      // Routes without parameters ignore them.
      [200, 201, 400, 401, 404],
      LIMIT,
      ({ method }) => method !== 'DELETE',
    );
  });

  it('4xx: bodies that are malformed, of another type, too large', async () => {
    const withBody = ({ method, path }: Route): boolean =>
      METHODS_WITH_BODY.has(method) && !path.includes('*') && path !== '/p/:project_slug/storage';
    const send =
      (body: string | Buffer, type: string) =>
      (route: Route): Promise<HttpAnswer> =>
        user.send(route.method, pathOf(route), { body, headers: { 'content-type': type } });
    await onEveryRoute(send('{', 'application/json'), [400], LIMIT, withBody);
    await onEveryRoute(send('null', 'application/json'), [400], LIMIT, withBody);
    await onEveryRoute(send('{"name":{}}', 'application/json'), [200, 400], LIMIT, withBody);
    await onEveryRoute(send('x', 'text/plain'), [400, 415], LIMIT, withBody);
    await onEveryRoute(send(Buffer.alloc(2_000_000, ' '), 'application/json'), [400, 413], LIMIT, withBody);
    await onEveryRoute(send('--b', 'multipart/form-data; boundary=b'), [400, 415], LIMIT, withBody);
  });

  it('404: every method on an unknown path', async () => {
    for (const method of ['PUT', 'DELETE', 'POST', 'OPTIONS', 'HEAD']) {
      const answer = await user.send(method, `${project.storage}/no/such/address`);
      expect([method, answer.status, rate(answer)]).toEqual([method, 404, COMPLETE()]);
    }
  });

  it('200: preflights', async () => {
    for (const route of routes) {
      const answer = await plinth.http.send('OPTIONS', pathOf(route), {
        headers: { origin: 'http://elsewhere.test', 'access-control-request-method': 'POST' },
      });
      expect([route.path, answer.status, rate(answer)]).toEqual([route.path, 200, COMPLETE()]);
    }
  });

  it('429', async () => {
    const busy = await plinth.createProject({ settings: { storage_requests_per_minute: 1 } });
    await busy.service.get(`${busy.storage}/buckets`);
    await onEveryRoute(
      (route) => busy.service.send(route.method, pathOf(route, busy.slug)),
      [429],
      1,
      ({ path }) => !/\/(signed|preview)$/.test(path),
    );
  });

  it('500: a database that has lost its tables', async () => {
    const broken = await plinth.createProject({ plan: 'enterprise' });
    await broken.sql('alter table storage.files rename to lost; alter table storage.buckets rename to gone');
    const bodyOf = (path: string): object => {
      if (path.endsWith('/bulk-signed-urls')) return { file_ids: [fileId], expiry: '5m' };
      if (path.endsWith('/bulk-delete')) return { file_ids: [fileId] };
      if (path.endsWith('/signed-url')) return { expiry: '5m' };
      return path.includes('/files') ? { filename: 'x' } : { name: 'x' };
    };
    await onEveryRoute(
      (route) =>
        broken.service.send(
          route.method,
          pathOf(route, broken.slug),
          METHODS_WITH_BODY.has(route.method) ? { body: bodyOf(route.path) } : {},
        ),
      [500],
      LIMIT,
      ({ path }) => !path.includes('*') && path !== '/p/:project_slug/storage' && !path.endsWith('/signed'),
    );
  });
});

describe('on statuses of some routes only', () => {
  it.each<[number, string, () => Promise<HttpAnswer>]>([
    [403, 'a policy', () => project.anon.post(`${project.storage}/buckets`, { name: 'x' })],
    [404, 'a bucket', () => user.get(`${project.storage}/buckets/nowhere`)],
    [404, 'a file', () => user.get(`${project.storage}/files/nonsense/download`)],
    [409, 'a taken bucket', () => user.post(`${project.storage}/buckets`, { name: 'box' })],
    [409, 'a taken file', () => upload(user, project.storage, 'box', 'x')],
    [413, 'a large file', () => upload(user, project.storage, 'box', Buffer.alloc(200_000), { name: 'l' })],
    [
      416,
      'a range beyond the end',
      () => user.get(`${project.storage}/files/${fileId}/download`, { headers: { range: 'bytes=9-' } }),
    ],
  ])('%d: %s', async (status, _what, send) => {
    const answer = await send();
    expect([answer.status, rate(answer)]).toEqual([status, COMPLETE()]);
  });

  it('415: a type that the bucket does not accept', async () => {
    await user.post(`${project.storage}/buckets`, { name: 'images', allowed_mime_types: ['image/*'] });
    const answer = await upload(user, project.storage, 'images', 'words');
    expect([answer.status, rate(answer)]).toEqual([415, COMPLETE()]);
  });

  it('400: an upload that ends early or is not a form', async () => {
    const path = `${project.storage}/buckets/box/upload`;
    const type = 'Content-Type: multipart/form-data; boundary=b';
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="cut"\r\n\r\nbytes';
    for (const [length, body] of [
      [part.length, part],
      [4, 'junk'],
      [0, ''],
    ] as const) {
      const text = await rawExchange(
        plinth.baseUrl,
        head('POST', path, [type, `Content-Length: ${length}`]) + body,
      );
      expect([rawStatus(text), rawRate(text)]).toEqual([400, COMPLETE()]);
    }
  });

  it('400 or 401 on signed and preview URLs: the signature is checked first', async () => {
    const file = `${project.storage}/files/${fileId}`;
    const { url } = (await user.post(`${file}/signed-url`, { expiry: '5m' })).body.data;
    const signed = (url as string).replace('http://plinth.test', '');
    const long = 'x'.repeat(2_000);
    for (const [status, path] of [
      [400, `${signed}&download=a&download=b`],
      [400, `${signed}&download=${long}`],
      [401, `${file}/signed?download=a&download=b`],
      [401, `${file}/signed?download=${long}`],
      [401, `${signed}&expires=1`],
      [400, `${file}/preview?download=a&download=b`],
      [400, `${file}/preview?download=${long}`],
      [401, `${file}/download?download=a&download=b`],
    ] as const) {
      const answer = await plinth.http.get(path);
      expect([path, answer.status, rate(answer)]).toEqual([path, status, COMPLETE()]);
    }
  });
});
