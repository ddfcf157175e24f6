/** Headers and paths that could bypass the guards, or that a proxy and Plinth could read as different requests. */
import { METHODS } from 'node:http';
import { shareOf } from '../../support/extent';
import { TestPlinth } from '../../support/plinth';
import { fillPath, guardedRoutesOf } from '../../support/routes';
import { TestProject, TestUser } from '../../support/test-project';
import { rawExchange } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let user: TestUser;
let second: TestUser;

beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { METRICS_TOKEN: 'metrics-token-0123456789' } });
  project = await plinth.createProject({ plan: 'enterprise' });
  await project.sql(`
    create function whoami() returns uuid language sql stable as $$ select auth.uid() $$;
    create table notes (id int);
    insert into notes values (1)`);
  user = await project.signUp();
  second = await project.signUp();
});
afterAll(() => plinth.stop());

const WHOAMI = 'GET /rest/v1/rpc/whoami HTTP/1.1';

/** @param head lines of the head, the request line first */
const raw = (head: string[], body = ''): Promise<string> =>
  rawExchange(plinth.baseUrl, `${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);

const statusesOf = (answer: string): number[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

/** Sends one request and returns status and body. */
async function ask(head: string[], body = ''): Promise<[number | undefined, string]> {
  const answer = await raw(head, body);
  return [statusesOf(answer)[0], answer.slice(answer.indexOf('\r\n\r\n') + 4)];
}

describe("a request's credential", () => {
  it.each<[string, () => string[]]>([
    ['two Authorization lines', () => [`apikey: ${project.anonKey}`, bearer(user), bearer(second)]],
    ['the same Authorization line twice', () => [`apikey: ${project.anonKey}`, bearer(user), bearer(user)]],
    [
      'two tokens in one line',
      () => [`apikey: ${project.anonKey}`, `${bearer(user)}, ${second.accessToken}`],
    ],
    ['two apikey lines', () => [`apikey: ${project.anonKey}`, `ApiKey: ${project.serviceKey}`, bearer(user)]],
    [
      'the same apikey line twice',
      () => [`apikey: ${project.anonKey}`, `apikey: ${project.anonKey}`, bearer(user)],
    ],
    ['an empty apikey line first', () => ['apikey:', `apikey: ${project.anonKey}`, bearer(user)]],
    ['a scheme in the apikey', () => [`apikey: Bearer ${project.anonKey}`, bearer(user)]],
    ['the header x-api-key', () => [`x-api-key: ${project.anonKey}`, bearer(user)]],
    [
      'a tab after the scheme',
      () => [`apikey: ${project.anonKey}`, `Authorization: Bearer\t${user.accessToken}`],
    ],
    ['no scheme', () => [`apikey: ${project.anonKey}`, `Authorization: ${user.accessToken}`]],
    [
      'the scheme twice',
      () => [`apikey: ${project.anonKey}`, `Authorization: Bearer Bearer ${user.accessToken}`],
    ],
    ['a letter beyond ASCII', () => [`apikey: ${project.anonKey}\xe9`, bearer(user)]],
    [
      'a no-break space',
      () => [`apikey: ${project.anonKey}`, `Authorization: Bearer\xa0${user.accessToken}`],
    ],
    ['60,000 letters', () => [`apikey: ${'a'.repeat(60_000)}`, bearer(user)]],
    ['the credentials in a trailer', () => ['Trailer: apikey, authorization']],
  ])('is refused with %s', async (_what, lines) => {
    const [status, body] = await ask([WHOAMI, 'Host: x', ...lines()]);
    expect([status, JSON.parse(body).detail.sqlstate]).toEqual([401, 'PL401']);
  });

  it.each<[string, () => string[]]>([
    [
      'the scheme in any case',
      () => [`APIKEY: ${project.anonKey}`, `authorization: bEARER ${user.accessToken}`],
    ],
    [
      'blanks around it',
      () => [`apikey: \t ${project.anonKey} \t`, `Authorization:   Bearer   ${user.accessToken}  `],
    ],
  ])('is accepted with %s', async (_what, lines) => {
    expect(await ask([WHOAMI, 'Host: x', ...lines()])).toEqual([200, JSON.stringify(user.id)]);
  });

  it.each([
    ['a NUL', (key: string) => `apikey: ${key}\0`],
    ['a blank before the colon', (key: string) => `apikey : ${key}`],
    ['a folded line', (key: string) => `apikey:\r\n ${key}`],
    ['a line that ends in CR alone', (key: string) => `X: a\rapikey: ${key}`],
    ['a line that ends in LF alone', (key: string) => `X: a\napikey: ${key}`],
  ])('is not read from a head with %s', async (_what, line) => {
    const [status] = await ask([WHOAMI, 'Host: x', line(project.anonKey), bearer(user)]);
    expect(status).toBe(400);
  });

  it('is ignored in a trailer', async () => {
    const trailer = `0\r\napikey: ${project.anonKey}\r\n${bearer(user)}\r\n\r\n`;
    const head = ['POST /rest/v1/rpc/whoami HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked'];
    expect((await ask(head, trailer))[0]).toBe(401);
  });

  it('is required of HTTP/1.0 requests, upgrades and every method', async () => {
    const heads = [
      ['GET /rest/v1/notes HTTP/1.0'],
      ['GET /rest/v1/notes HTTP/1.1', 'Host: x', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
      ['GET /rest/v1/notes HTTP/1.1', 'Host: x', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
      // Node.js 20.19 does not know this method.
      ...(METHODS.includes('QUERY') ? [['QUERY /rest/v1/notes HTTP/1.1', 'Host: x']] : []),
      ['PROPFIND /rest/v1/notes HTTP/1.1', 'Host: x'],
      ['TRACE /rest/v1/notes HTTP/1.1', 'Host: x'],
    ];
    for (const head of heads) expect([head[0], (await ask(head))[0]]).toEqual([head[0], 401]);
    // Plinth supports no upgrades and answers one as an ordinary request.
    const upgrade = ['GET /rest/v1/rpc/whoami HTTP/1.1', 'Host: x', 'Upgrade: websocket'];
    expect((await ask([...upgrade, `apikey: ${project.anonKey}`, bearer(user)]))[0]).toBe(200);
    expect(await raw(['CONNECT 127.0.0.1:5432 HTTP/1.1', 'Host: x'])).not.toMatch(/ 200 /);
  });
});

const bearer = ({ accessToken }: TestUser): string => `Authorization: Bearer ${accessToken}`;

describe("a request's header section", () => {
  const key = (): string[] => [
    `apikey: ${project.serviceKey}`,
    `Authorization: Bearer ${project.serviceKey}`,
  ];

  it('with more lines than Node keeps is refused; no line is dropped silently', async () => {
    const many = Array<string>(1_000).fill('a: b');
    const [status, body] = await ask([WHOAMI, 'Host: x', ...key(), ...many]);
    expect([status, JSON.parse(body).detail.sqlstate]).toEqual([431, 'PL431']);
    expect((await ask([WHOAMI, 'Host: x', ...key(), ...many.slice(10)]))[0]).toBe(200);
  });

  it('larger than 64 KiB is refused', async () => {
    expect((await ask([WHOAMI, 'Host: x', ...key(), `X: ${'a'.repeat(66_000)}`]))[0]).toBe(431);
  });

  it('cannot override the method or path of the request line', async () => {
    const overrides = [
      'X-HTTP-Method-Override: DELETE',
      'X-HTTP-Method: DELETE',
      'X-Method-Override: DELETE',
    ];
    const deletion = 'GET /rest/v1/notes?id=eq.1&_method=DELETE HTTP/1.1';
    expect((await ask([deletion, 'Host: x', ...key(), ...overrides]))[0]).toBe(400);
    const reading = 'GET /rest/v1/notes?id=eq.1 HTTP/1.1';
    expect(await ask([reading, 'Host: x', ...key(), ...overrides])).toEqual([200, '[{"id":1}]']);
    expect((await project.service.get('/rest/v1/notes')).body).toEqual([{ id: 1 }]);
    const addresses = ['X-Original-URL: /admin/v1/projects', 'X-Rewrite-URL: /admin/v1/projects'];
    const [, live] = await ask(['GET /health/live HTTP/1.1', 'Host: x', ...addresses]);
    expect(JSON.parse(live)).toEqual({ status: 'live' });
  });

  it('that names the credentials in Connection is answered as any other', async () => {
    const named = ['Connection: apikey, authorization', `apikey: ${project.anonKey}`, bearer(user)];
    expect((await ask([WHOAMI, 'Host: x', ...named]))[0]).toBe(200);
  });

  it.each(['evil.example', '', 'a b', 'evil.example:99999/x@y', '127.0.0.1:5432'])(
    'is answered the same with any Host: %j',
    async (host) => {
      expect((await ask([WHOAMI, `Host: ${host}`]))[0]).toBe(401);
      const answer = await raw([WHOAMI, `Host: ${host}`, `apikey: ${project.anonKey}`, bearer(user)]);
      expect(statusesOf(answer)).toEqual([200]);
      if (host !== '') expect(answer).not.toContain(host);
    },
  );
});

describe('a second request inside the body of the first', () => {
  const SECOND = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';

  it.each<[string, string[], string]>([
    ['both lengths', ['Content-Length: 4', 'Transfer-Encoding: chunked'], `0\r\n\r\n${SECOND}`],
    [
      'both lengths, the other way round',
      ['Transfer-Encoding: chunked', 'Content-Length: 4'],
      `0\r\n\r\n${SECOND}`,
    ],
    ['two lengths', ['Content-Length: 0', `Content-Length: ${SECOND.length}`], SECOND],
    ['a list of lengths', ['Content-Length: 0, 0'], SECOND],
    ['a signed length', ['Content-Length: +0'], SECOND],
    ['a negative length', ['Content-Length: -1'], SECOND],
    ['a hexadecimal length', ['Content-Length: 0x0'], SECOND],
    ['a blank before the colon', ['Content-Length : 0'], SECOND],
    ['two encodings', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], `0\r\n\r\n${SECOND}`],
    ['an invalid encoding', ['Transfer-Encoding: xchunked'], `0\r\n\r\n${SECOND}`],
    ['chunked before identity', ['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${SECOND}`],
    ['an extension of a chunk that ends in LF', ['Transfer-Encoding: chunked'], `0;a=\n\r\n${SECOND}`],
    ['a chunk size out of range', ['Transfer-Encoding: chunked'], `fffffffffffffffff\r\n${SECOND}`],
  ])('is not answered: %s', async (_what, lines, body) => {
    const head = ['POST /rest/v1/rpc/whoami HTTP/1.1', 'Host: x', ...lines].join('\r\n');
    const answer = await rawExchange(plinth.baseUrl, `${head}\r\n\r\n${body}`);
    expect(statusesOf(answer)).toEqual([400]);
  });

  it.each([
    ['/rest/v1/notes', (body: string): unknown => JSON.parse(body).detail.sqlstate, 'PL501'],
    ['/admin/v1/projects', (body: string): unknown => JSON.parse(body).error.code, 'not_implemented'],
    [
      '/p/none/storage/buckets',
      (body: string): unknown => JSON.parse(body).error.code,
      'storage_unavailable',
    ],
  ])('is not answered after a coding that is not implemented: %s', async (path, codeIn, code) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked`;
    const answer = await rawExchange(plinth.baseUrl, `${head}\r\n\r\n0\r\n\r\n${SECOND}`);
    expect(statusesOf(answer)).toEqual([501]);
    expect(codeIn(answer.slice(answer.indexOf('{')))).toBe(code);
  });

  it('is not answered after a GET with a body, nor after chunks in HTTP/1.0', async () => {
    const get = `GET /rest/v1/notes HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${SECOND.length}\r\n\r\n${SECOND}`;
    expect(statusesOf(await rawExchange(plinth.baseUrl, get))).toEqual([401]);
    const old = `POST /rest/v1/notes HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SECOND}`;
    expect(statusesOf(await rawExchange(plinth.baseUrl, old))).toEqual([400]);
  });
});

describe('a path', () => {
  /** Other spellings of a path, and paths that some servers would normalize to it. */
  function spellingsOf(path: string): string[] {
    const last = (between: string): string => path.replace(/\/([^/]*)$/, `${between}$1`);
    const escaped = (text: string): string =>
      text.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
    return [
      ...[
        `/${path}`,
        `${path}/`,
        `${path}//`,
        last('//'),
        last('/./'),
        last('/x/../'),
        last('\\'),
        last('%5c'),
      ],
      ...[`/x/..${path}`, `/.${path}`, `/%2e%2e${path}`, `/health/live/..%2f..${path}`, `/docs/..${path}`],
      ...[`/docs/%2e%2e${path}`, `//x${path}`, `/p${path}`, `/${project.slug}${path}`],
      ...[`${path};`, `${path};a=b`, last(';x/'), last('%2f'), path.replace(/(?!^)\//g, '%2f')],
      ...[`${path}%00`, `${path}%20`, `${path}%23`, `${path}%3f`, `${path}?`, `${path}??`, `${path}#x`],
      ...[`${path}.json`, `${path}.`, `${path}%2e`, `${path}%`, `${path}%ff`, last('/%0d%0a')],
      ...[path.toUpperCase(), path.split('/').map(escaped).join('/')],
      ...[`http://x${path}`, `http://x:80${path}`, `HTTPS://user:secret@x${path}`],
    ];
  }

  /** Each route is tested in every thirteenth of the 39 spellings. */
  const SPELLINGS_APART = 13;

  it('reaches no route without credentials, in any spelling', async () => {
    const passed: string[] = [];
    const guarded = guardedRoutesOf(plinth.app).filter(({ rule }) => rule !== 'public');
    for (const [turn, { method, path, rule }] of guarded.entries()) {
      // S3 answers 403 to requests without a signature.
      const refusals = [400, 401, 404, 405, ...(rule === 's3_key' ? [403] : [])];
      const filled = fillPath(path, { project_slug: project.slug, project_id: project.id });
      await Promise.all(
        shareOf(spellingsOf(filled), turn, SPELLINGS_APART).map(async (target) => {
          const [status] = await ask([`${method} ${target} HTTP/1.1`, 'Host: x', 'Content-Length: 0']);
          if (!refusals.includes(status as number)) passed.push(`${method} ${target}: ${status}`);
        }),
      );
    }
    expect(passed).toEqual([]);
  }, 120_000);

  it("of one project is refused with another project's key, in any spelling", async () => {
    const other = await plinth.createProject();
    const key = [`apikey: ${other.serviceKey}`, `Authorization: Bearer ${other.serviceKey}`];
    const passed: string[] = [];
    for (const path of [
      `/p/${project.slug}/rest/v1/notes`,
      `${project.storage}/buckets`,
      `${project.auth}/admin/users`,
    ]) {
      for (const target of spellingsOf(path)) {
        const [status] = await ask([`GET ${target} HTTP/1.1`, 'Host: x', ...key]);
        if (![400, 401, 404].includes(status as number)) passed.push(`${target}: ${status}`);
      }
    }
    expect(passed).toEqual([]);
  });

  it('in absolute form is answered like its path, with error bodies of the same area', async () => {
    const key = [`apikey: ${project.serviceKey}`, `Authorization: Bearer ${project.serviceKey}`];
    for (const path of [
      '/rest/v1/notes',
      `${project.storage}/buckets`,
      `${project.auth}/user`,
      '/health/live',
      '/rest/v1/notes?id=x',
    ]) {
      for (const lines of [[], key]) {
        const absolute = await ask([`GET http://evil.example${path} HTTP/1.1`, 'Host: x', ...lines]);
        expect([path, ...absolute]).toEqual([
          path,
          ...(await ask([`GET ${path} HTTP/1.1`, 'Host: x', ...lines])),
        ]);
      }
    }
    expect((await ask(['GET http://evil.example HTTP/1.1', 'Host: x']))[0]).toBe(200);
    expect((await ask(['GET http://evil.example?x HTTP/1.1', 'Host: x']))[0]).toBe(200);
  });
});
