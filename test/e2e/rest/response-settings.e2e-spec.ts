/** Responses set by SQL: response.status, response.headers and RAISE with a status text. */
import { mkdtempSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpClient } from '../../support/http-client';
import { hasNginx, TestNginx } from '../../support/nginx';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ settings: { auto_rls: false } });
  await project.sql(`
    create function with_status(status text) returns text language sql as $$
      select set_config('response.status', status, true); select 'x' $$;
    create function refuses(detail text) returns void language plpgsql as $$
      begin raise sqlstate 'PGRST' using message = '{"code": "busy", "message": "busy"}', detail = detail; end $$;
    create table pages (id int primary key, text text);
    insert into pages select n, repeat('x', 3000) from generate_series(1, 1500) n;
    create function before_all() returns void language plpgsql as $$ begin
      perform set_config('response.headers', '[{"Cache-Control": "max-age=60"}, {"vary": "X-Shelf"}]', true);
      if current_setting('request.headers')::json ->> 'x-status' is not null then
        perform set_config('response.status', current_setting('request.headers')::json ->> 'x-status', true);
      end if; end $$;
  `);
});
afterAll(() => plinth.stop());

describe('response.status', () => {
  it.each(['418', ' 299 '])('%j is accepted', async (status) => {
    const answer = await project.anon.post('/rest/v1/rpc/with_status', { status });
    expect([answer.status, answer.body]).toEqual([Number(status), 'x']);
  });

  it('of a response without a body keeps its length', async () => {
    await project.sql(`create function gone() returns void language sql as $$
      select set_config('response.status', '205', true) $$`);
    const answer = await project.anon.post('/rest/v1/rpc/gone', {});
    expect([answer.status, answer.headers.get('content-length'), answer.text]).toEqual([205, '0', '']);
  });

  it('204 removes the rows and their length', async () => {
    const answer = await project.anon.post('/rest/v1/rpc/with_status', { status: '204' });
    expect([answer.status, answer.headers.get('content-length'), answer.text]).toEqual([204, null, '']);
  });

  it.each(['0xC8', '2e2', '200.0', '99', '1000', '600', 'bad', '+200', '１２３'])(
    '%j is refused',
    async (status) => {
      const answer = await project.anon.post('/rest/v1/rpc/with_status', { status });
      expect([answer.status, answer.body.code]).toEqual([500, 'PGRST112']);
    },
  );
});

describe('response.headers', () => {
  it('set for the whole session do not reach the next request on the connection', async () => {
    await project.sql(`create function lasting() returns void language sql as $$
      select set_config('response.headers', '[{"Set-Cookie": "a=1"}]', false),
        set_config('response.status', '299', false) $$;
      create function silent() returns void language sql as $$ select $$`);
    const cookies = async (path: string) => {
      const { status, headers } = await project.anon.post(path, {});
      return [status, headers.get('set-cookie')];
    };
    for (let round = 0; round < 3; round += 1) {
      expect(await cookies('/rest/v1/rpc/lasting')).toEqual([299, `a=1; Path=/p/${project.slug}`]);
      expect(await cookies('/rest/v1/rpc/silent')).toEqual([204, null]);
      const read = await project.anon.get('/rest/v1/pages?limit=1');
      expect([read.status, read.headers.get('set-cookie')]).toEqual([200, null]);
    }
  });
});

describe('a header that SQL sets', () => {
  beforeAll(() =>
    project.sql(`
      create function answers(headers text) returns void language sql as $$
        select set_config('response.headers', headers, true) $$`),
  );

  /** By response.headers, and by RAISE. */
  const sent = async (name: string, value: string): Promise<(string | null)[]> => {
    const headers = JSON.stringify([{ [name]: value }]);
    const detail = JSON.stringify({ status: 400, headers: { [name]: value } });
    const answers = [
      await project.anon.unchecked().post('/rest/v1/rpc/answers', { headers }),
      await project.anon.unchecked().post('/rest/v1/rpc/refuses', { detail }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([204, 400]);
    return answers.map((answer) => answer.headers.get(name));
  };

  it.each([
    'X-Accel-Redirect',
    'x-accel-expires',
    'X-Sendfile',
    'X-Lighttpd-Send-File',
    'X-LiteSpeed-Cache-Control',
    'X-Reproxy-URL',
    'Strict-Transport-Security',
    'Alt-Svc',
    'NEL',
    'Report-To',
    'Reporting-Endpoints',
    'Clear-Site-Data',
    'Service-Worker-Allowed',
    'WWW-Authenticate',
    'Proxy-Authenticate',
    'Access-Control-Allow-Credentials',
    'CDN-Cache-Control',
    'Surrogate-Control',
    'Akamai-Cache-Control',
    'Expect-CT',
    'Trailer',
    'Upgrade',
    'X-Content-Type-Options',
    'X-Envoy-Immediate-Health-Check-Fail',
    'X-AppEngine-BlobKey',
    'X-LIGHTTPD-send-tempfile',
    'Use-As-Dictionary',
    'Shared-Storage-Write',
    'Secure-Session-Registration',
    'Attribution-Reporting-Register-Source',
  ])('that concerns proxies or the whole origin is left out: %s', async (name) => {
    expect(await sent(name, 'taken')).not.toContain('taken');
  });

  it.each(['constructor', 'toString', '__proto__'])(
    'with a name such as constructor is sent or ignored: %s',
    async (name) => {
      expect((await sent(name, 'given')).filter((value) => value !== 'given' && value !== null)).toEqual([]);
    },
  );

  it.each([
    ['public, max-age=60', 'private, max-age=60'],
    ['s-maxage=60, immutable', 'private, immutable'],
    ['private="x, public", x="', 'private'],
    ['no-store', 'private, no-store'],
  ])('forbids shared caches to store the response: %s', async (value, expected) => {
    expect(await sent('Cache-Control', value)).toEqual([expected, expected]);
  });

  it('forbids shared caches to store a response that expires', async () => {
    const headers = '[{"Expires": "Fri, 01 Jan 2100 00:00:00 GMT"}]';
    const answer = await project.anon.unchecked().post('/rest/v1/rpc/answers', { headers });
    expect(answer.headers.get('cache-control')).toBe('private');
  });

  it('sandboxes pages that SQL makes, so that they do not run in the origin', async () => {
    const sandbox = /(^|, )sandbox allow-scripts/;
    expect(await sent('Content-Type', 'text/html')).toEqual(['text/html', 'text/html']);
    for (const [name, value] of [
      ['Content-Type', 'text/html'],
      ['Content-Security-Policy', 'sandbox allow-scripts allow-same-origin'],
    ]) {
      const headers = JSON.stringify([{ [name as string]: value }]);
      const detail = JSON.stringify({ status: 400, headers: { [name as string]: value } });
      for (const [path, body] of [
        ['answers', { headers }],
        ['refuses', { detail }],
      ] as const) {
        const answer = await project.anon.unchecked().post(`/rest/v1/rpc/${path}`, body);
        expect([path, answer.headers.get('content-security-policy')]).toEqual([
          path,
          expect.stringMatching(sandbox),
        ]);
      }
    }
    await project.sql(`create domain "text/html" as text;
      create function page() returns "text/html" language sql as $$ select '<script>1</script>' $$`);
    const page = await project.anon.get('/rest/v1/rpc/page', { headers: { accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html']);
    expect(page.headers.get('content-security-policy')).toMatch(sandbox);
  });

  it('gives cookies the path of the project, and accepts at most eight', async () => {
    const cookies = async (...values: string[]) => {
      const headers = JSON.stringify(values.map((value) => ({ 'Set-Cookie': value })));
      return (await project.anon.post('/rest/v1/rpc/answers', { headers })).headers.getSetCookie();
    };
    const path = `Path=/p/${project.slug}`;
    expect(await cookies('a=1; path=/; Domain=example.com;HttpOnly', 'b=2;PATH = /;Domain')).toEqual([
      `a=1;HttpOnly; ${path}`,
      `b=2; ${path}`,
    ]);
    expect(await cookies(`a=${'x'.repeat(4_096)}`)).toEqual([]);
    expect(await cookies(...Array.from({ length: 20 }, (_, n) => `c${n}=1`))).toHaveLength(8);
  });
});

(hasNginx ? describe : describe.skip)('a proxy that caches for all clients', () => {
  let nginx: TestNginx;
  beforeAll(async () => {
    nginx = await TestNginx.start(`
      proxy_cache_path ${mkdtempSync(join(tmpdir(), 'plinth-cache-'))} keys_zone=shared:1m;
      server { listen 80; location / {
        proxy_pass ${plinth.baseUrl}; proxy_cache shared; proxy_cache_key $uri$is_args$args;
        add_header X-Cache $upstream_cache_status;
      } }`);
  });
  afterAll(() => nginx.stop());

  it.each(['public, max-age=600', 's-maxage=600', 'max-age=600'])(
    'sends no caller the rows of another caller, whatever SQL sets: %s',
    async (value) => {
      const name = `mine_${value.replace(/\W+/g, '_')}`;
      await project.sql(`create function ${name}() returns text stable language plpgsql as $$ begin
        perform set_config('response.headers', '[{"Cache-Control": "${value}"}]', true);
        return coalesce(current_setting('request.jwt.claims', true)::json ->> 'sub', 'nobody'); end $$`);
      const get = (client: HttpClient) => client.at(nginx.baseUrl).unchecked().get(`/rest/v1/rpc/${name}`);
      const first = project.asSubject();
      const [own, repeated] = [await get(first), await get(first)];
      expect(own.body).not.toBe('nobody');
      expect(repeated.headers.get('x-cache')).toBe('MISS');
      expect((await get(project.anon)).body).toBe('nobody');
    },
  );
});

/** Status line of a response, which fetch() does not expose for every text. */
const statusLine = (path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { headers } = project.anon;
    request(`${plinth.baseUrl}${path}`, { headers }, (response) => {
      response.resume();
      resolve(`${response.statusCode} ${response.statusMessage}`);
    })
      .on('error', reject)
      .end();
  });

describe('status_text of RAISE PGRST', () => {
  const TEXTS: [text: string, line: string][] = [
    ['Too Busy Today', '429 Too Busy Today'],
    ['a\\r\\nX-Split: 1', '429 Too Many Requests'],
    ['ü', '429 Too Many Requests'],
    ['', '429 Too Many Requests'],
  ];
  it.each(TEXTS)('%j becomes %j', async (text, line) => {
    const detail = encodeURIComponent(`{"status": 429, "headers": {}, "status_text": "${text}"}`);
    expect(await statusLine(`/rest/v1/rpc/refuses?detail=${detail}`)).toBe(line);
  });
});

describe('an answer', () => {
  it('lists its dependencies in Vary', async () => {
    const answer = await project.anon.get('/rest/v1/pages?limit=1');
    expect(answer.headers.get('vary')).toBe('Accept, Prefer, Range, apikey, Authorization');
  });

  it('gives its error code in a header', async () => {
    const answer = await project.anon.send('HEAD', '/rest/v1/nowhere');
    expect([answer.status, answer.headers.get('proxy-status')]).toEqual([404, 'Plinth; error=PGRST205']);
  });
});

describe('a pre-request function', () => {
  beforeAll(async () => {
    await plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { pre_request: 'before_all' } });
  });

  it.each(['limit=1', ''])(
    'sets headers and status of short and of streamed responses: ?%s',
    async (query) => {
      // The function chooses the status.
      const client = project.anon.unchecked();
      const answer = await client.get(`/rest/v1/pages?${query}`, { headers: { 'x-status': '203' } });
      expect([answer.status, answer.body.length]).toEqual([203, query === '' ? 1500 : 1]);
      expect(answer.headers.get('cache-control')).toBe('private, max-age=60');
      expect(answer.headers.get('vary')).toBe('Accept, Prefer, Range, apikey, Authorization, X-Shelf');
    },
  );

  it('is refused before the first byte of a streamed response', async () => {
    const answer = await project.anon.get('/rest/v1/pages', { headers: { 'x-status': 'bad' } });
    expect([answer.status, answer.body.code]).toEqual([500, 'PGRST112']);
  });
});
