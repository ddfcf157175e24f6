/** Rules for every path: error bodies of unknown paths, malformed requests, limits, cross-origin access. */
import { gzipSync } from 'node:zlib';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { rawExchange, sendEndlessly } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

/** Sends raw bytes, because fetch would correct them. */
const raw = (request: string): Promise<string> => rawExchange(plinth.baseUrl, request);

const MIB = 1024 * 1024;

const AUTH_BODY = { detail: expect.any(String), status_code: expect.any(Number) };
const STORAGE_BODY = {
  data: null,
  error: { message: expect.any(String), code: expect.any(String), status: expect.any(Number) },
};
const REST_BODY = {
  detail: {
    message: expect.any(String),
    sqlstate: expect.any(String),
    constraint: null,
    column: null,
  },
};

const AREAS: [string, (project: TestProject) => string, object][] = [
  ['auth', (one) => one.auth, AUTH_BODY],
  ['storage', (one) => one.storage, STORAGE_BODY],
  ['table REST', () => '/rest/v1', REST_BODY],
  ['table REST by slug', (one) => `/p/${one.slug}/rest/v1`, REST_BODY],
];

describe.each(AREAS)('%s', (_area, base, body) => {
  it('answers an unknown path in its own error body', async () => {
    const answer = await project.service.get(`${base(project)}/no/such/path/at/all`);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(answer.body).toMatchObject(body);
  });

  it('answers two Host lines with 400 in its own error body', async () => {
    const answer = await raw(
      `GET ${base(project)}/x HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nhOST: y\r\nConnection: close\r\napikey: ${project.anonKey}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject(body);
  });

  it('answers bad percent-encoding with a 4xx in its own error body', async () => {
    const answer = await raw(
      `GET ${base(project)}/%E0%A4%A HTTP/1.1\r\nHost: x\r\nConnection: close\r\napikey: ${project.anonKey}\r\n` +
        `Authorization: Bearer ${project.anonKey}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))).toMatchObject(body);
  });
});

describe('an unsupported method on a known path', () => {
  const id = '00000000-0000-4000-8000-000000000000';

  it.each<[string, (one: TestProject) => string, string, object]>([
    ['GET', (one) => `${one.auth}/login`, 'POST', AUTH_BODY],
    ['PUT', (one) => `${one.auth}/user`, 'GET, HEAD, PATCH', AUTH_BODY],
    ['DELETE', (one) => `${one.auth}/reset`, 'GET, HEAD, POST', AUTH_BODY],
    ['PUT', (one) => `${one.storage}/buckets`, 'GET, HEAD, POST', STORAGE_BODY],
    ['POST', (one) => `${one.storage}/buckets/b`, 'DELETE, GET, HEAD, PATCH', STORAGE_BODY],
    ['GET', (one) => `${one.storage}/files/${id}/signed-url`, 'POST', STORAGE_BODY],
    ['POST', (one) => `${one.storage}/files/${id}/signed?expires=1`, 'GET, HEAD', STORAGE_BODY],
    ['PUT', () => '/admin/v1/projects', 'GET, HEAD, POST', { error: { status: 405 } }],
    ['POST', () => '/health/live', 'GET, HEAD', { error: { code: 'method_not_allowed' } }],
    ['OPTIONS', (one) => `${one.storage}/buckets`, 'GET, HEAD, POST', STORAGE_BODY],
    ['POST', (one) => `/p/${one.slug}/openapi.json`, 'GET, HEAD', { error: { status: 405 } }],
  ])("%s is 405 in the area's error body, with Allow (%#)", async (method, path, allow, body) => {
    const answer = await project.service.send(method, path(project));
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    expect(answer.body).toMatchObject(body);
  });

  it('is refused for its credentials first and does not reveal whether a project exists', async () => {
    const path = `${project.storage}/buckets`;
    expect((await plinth.http.send('PUT', path)).status).toBe(401);
    expect((await project.service.send('PUT', path.replace(project.slug, 'nobody'))).status).toBe(404);
  });

  it.each(['*', '//health/live', '/health/%', '/health/%ff', '?x', '/p/%2e%2e/storage', 'x'])(
    'does not cause a server error for the request target %s',
    async (target) => {
      const answer = await raw(`PUT ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect((await plinth.http.get('/health/live')).status).toBe(200);
    },
  );

  it('is 404 on an unknown path', async () => {
    for (const path of [
      `${project.storage}/files/${id}`,
      `${project.storage}/nothing`,
      `${project.auth}/nothing`,
    ]) {
      const answer = await project.service.get(path);
      expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 404, null]);
    }
  });
});

describe('bodies', () => {
  it('answers malformed JSON with 400', async () => {
    await project.sql('create table notes (id int)');
    const auth = await project.anon.post(`${project.auth}/signup`, '{"email":');
    expect(auth).toMatchObject({ status: 400, body: AUTH_BODY });
    const storage = await project.service.post(`${project.storage}/buckets`, '{"name":');
    expect(storage).toMatchObject({ status: 400, body: STORAGE_BODY });
    const rest = await project.service.post('/rest/v1/notes', '{"id":');
    expect(rest).toMatchObject({ status: 400, body: REST_BODY });
  });

  it('answers null with 400 where an object is required', async () => {
    const bucket = await project.service.post(`${project.storage}/buckets`, { name: 'for null' });
    const path = `${project.storage}/buckets/${bucket.body.data.slug}`;
    expect(await project.service.patch(path, 'null')).toMatchObject({ status: 400, body: STORAGE_BODY });
    const { http } = await project.signUp();
    expect(await http.patch(`${project.auth}/user`, 'null')).toMatchObject({
      status: 400,
      body: AUTH_BODY,
    });
  });

  it('answers deeply nested JSON with 400', async () => {
    const data = `{"data":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`;
    const user = await project.signUp();
    expect(await user.http.patch(`${project.auth}/user`, data)).toMatchObject({
      status: 400,
      body: AUTH_BODY,
    });
  });

  it.each([
    ['a NUL', '\\u0000'],
    ['half a surrogate pair', '\\ud83d'],
  ])('answers 400 to text with %s, which PostgreSQL cannot store', async (_what, escape) => {
    const bodies: [string, string][] = [
      [`${project.auth}/signup`, `{"email":"ada@example.com","password":"secret","name":"a${escape}"}`],
      [`${project.auth}/signup`, `{"email":"ada@example.com","password":"secret","data":{"a${escape}":1}}`],
      [`${project.storage}/buckets`, `{"name":"notes","description":"a${escape}"}`],
      ['/admin/v1/projects', `{"name":"a${escape}"}`],
    ];
    for (const [path, body] of bodies) {
      const client = path.startsWith('/admin') ? plinth.admin : project.service;
      const answer = await client.post(path, body);
      expect([path, answer.status]).toEqual([path, 400]);
      expect(answer.text).toContain('holds a NUL or half a surrogate pair');
    }
  });

  it.each<[string, (one: TestProject) => string, string, object]>([
    ['auth', ({ auth }) => `${auth}/signup`, 'application/json', AUTH_BODY],
    ['storage', ({ storage }) => `${storage}/buckets`, 'application/json', STORAGE_BODY],
    [
      'an upload',
      ({ storage }) => `${storage}/buckets/box/upload`,
      'multipart/form-data; boundary=x',
      STORAGE_BODY,
    ],
    ['table REST', () => '/rest/v1/anything', 'application/json', REST_BODY],
  ])(
    'answers a compressed body with 415 and names the supported encoding: %s',
    async (_, path, type, body) => {
      await project.service.post(`${project.storage}/buckets`, { name: 'box' });
      const send = (coding: string, bytes: Buffer) =>
        project.service.post(path(project), bytes, {
          headers: { 'content-type': type, 'content-encoding': coding },
        });
      const answer = await send('gzip', gzipSync('{"name":"x"}'));
      expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity']);
      expect(answer.body).toMatchObject(body);
      expect(answer.text).toContain('gzip');
      expect((await send('identity', Buffer.from('{"name":"x"}'))).status).not.toBe(415);
      const { apikey, authorization } = project.service.headers;
      const unmeasured = await raw(
        `POST ${path(project)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\napikey: ${apikey}\r\nAuthorization: ${authorization}\r\n` +
          `Content-Type: ${type}\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`,
      );
      expect(unmeasured).toMatch(/^HTTP\/1\.1 415 /);
    },
  );

  it('answers an oversized JSON body with 413', async () => {
    const big = JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(2_000_000) });
    expect(await project.anon.post(`${project.auth}/signup`, big)).toMatchObject({
      status: 413,
      body: AUTH_BODY,
    });
  });

  it('sends no 100 Continue when the credentials are refused', async () => {
    const answer = await raw(
      'POST /rest/v1/notes HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('sends 100 Continue for a body that streams, such as a backup', async () => {
    const answer = await raw(
      `POST /admin/v1/restore HTTP/1.1\r\nHost: x\r\nAuthorization: ${plinth.admin.headers.authorization}\r\n` +
        'Backup-Passphrase: correct-horse-battery\r\nContent-Type: application/gzip\r\nConnection: close\r\n' +
        'Expect: 100-continue\r\nContent-Length: 10\r\n\r\nno archive',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
  });
});

it('does not match other spellings of a path', async () => {
  for (const path of [project.auth.replace('/v1/auth', '/V1/Auth'), '/REST/v1/notes', '/Health/live']) {
    expect((await project.service.get(path)).status).toBe(404);
  }
});

describe('addresses with a project', () => {
  it.each(['%00', 'a%00b', '%F0%9F%98%80', 'a%2Fb', 'x'.repeat(1000)])('answer %s with 404', async (name) => {
    const answer = await project.service.get(`/p/${name}/storage/buckets`);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'project_not_found']);
    const rest = await project.service.get(`/p/${name}/rest/v1/x`);
    expect([rest.status, rest.body.detail.sqlstate, rest.body.code]).toEqual([404, 'PL404', 'PL404']);
    for (const path of ['', '/keys', '/tables', '/database', '/storage/check']) {
      const url = `/admin/v1/projects/${name}${path}`;
      expect([url, (await plinth.admin.get(url)).status]).toEqual([url, 404]);
    }
    expect((await plinth.admin.patch(`/admin/v1/projects/${name}`, { name: 'x' })).status).toBe(404);
    expect((await plinth.admin.delete(`/admin/v1/projects/${name}`)).status).toBe(404);
  });
});

describe('cross-origin access', () => {
  it('answers a preflight for the headers that clients send', async () => {
    const answer = await plinth.http.send('OPTIONS', '/rest/v1/notes', {
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'apikey,authorization,content-type,prefer',
      },
    });
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-methods')).toBe(
      'GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD',
    );
    expect(answer.headers.get('access-control-allow-headers')).toBe(
      'Authorization, apikey, authorization, content-type, prefer, Accept, Accept-Language, Content-Language',
    );
    expect(answer.headers.get('access-control-max-age')).toBe('86400');
  });

  it('allows every origin to read responses and errors, without credentials', async () => {
    const answer = await plinth.http.get('/rest/v1/notes', {
      headers: { origin: 'https://app.example.com' },
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });
});

describe('internal errors', () => {
  it('answers an internal error with 500 in the error body of each area, without details', async () => {
    const broken = await plinth.createProject();
    const user = await broken.signUp();
    await broken.sql('drop table storage.files cascade; alter table auth.users rename to gone');
    const answers = {
      auth: await broken.anon.post(`${broken.auth}/login`, { email: user.email, password: user.password }),
      storage: await broken.service.get(`${broken.storage}/files/00000000-0000-4000-8000-000000000000`),
    };
    expect(answers.auth).toMatchObject({ status: 500, body: AUTH_BODY });
    expect(answers.storage).toMatchObject({ status: 500, body: STORAGE_BODY });
    await broken.sql(
      `create function public.broken() returns int language plpgsql as $$ begin raise sqlstate 'XX000' using message = 'secret'; end $$`,
    );
    const rest = await broken.service.post('/rest/v1/rpc/broken', {});
    expect(rest).toMatchObject({ status: 500, body: REST_BODY });
    const told = [answers.auth.text, answers.storage.text, rest.text].join();
    for (const inside of ['auth.users', 'storage.files', 'relation', 'secret', 'node_modules']) {
      expect(told).not.toContain(inside);
    }
  });
});

it.each([
  [401, 'table REST without credentials', '/rest/v1/todos', ''],
  [413, 'a body that table REST may not have', '/rest/v1/todos', 'credentials'],
  [401, 'sign-up without a key', 'signup', ''],
  [413, 'a body that auth may not have', 'signup', 'credentials'],
  [401, 'administration without the key', '/admin/v1/projects', ''],
  [404, 'an unknown path', '/nowhere', ''],
  [400, 'a second Host line', '/rest/v1/todos', 'Host: y\r\n'],
])('answers %i and stops reading: %s', async (status, _case, path, given) => {
  const { apikey, authorization } = project.service.headers;
  const target = path.startsWith('/') ? path : `${project.auth}/${path}`;
  const lines = given === 'credentials' ? `apikey: ${apikey}\r\nAuthorization: ${authorization}\r\n` : given;
  const head = `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${lines}`;
  const { answer, sent } = await sendEndlessly(plinth.baseUrl, head, '"', 128 * MIB);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  // Bytes read after the response, and bytes in the kernels' buffers.
  expect(sent).toBeLessThan(64 * MIB);
});
