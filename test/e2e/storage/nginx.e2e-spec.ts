/**
 * Plinth behind nginx authorizes downloads, and nginx sends them (X-Accel-Redirect), with the configuration from
 * docs/reference/storage.md.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { hasNginx, TestNginx } from '../../support/nginx';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const [, DOCUMENTED = ''] =
  /```nginx\n([^]*?)```/.exec(readFileSync(join(__dirname, '../../../docs/reference/storage.md'), 'utf8')) ??
  [];
const BYTES = randomBytes(3_000_000).toString('hex').slice(0, 3_000_000);
const ETAG = `"${createHash('sha256').update(BYTES).digest('hex')}"`;
const LONG_AGO = 'Thu, 01 Jan 1970 00:00:00 GMT';

(hasNginx ? describe : describe.skip)('behind nginx', () => {
  let plinth: TestPlinth;
  /** A Plinth without nginx that serves the same files. */
  let bare: TestPlinth;
  let nginx: TestNginx;
  let project: TestProject;
  let user: HttpClient;
  let file: string;
  let files: string;
  let addresses: Record<string, { client: HttpClient; path: string }>;

  beforeAll(async () => {
    files = mkdtempSync(join(tmpdir(), 'plinth-nginx-files-'));
    plinth = await TestPlinth.start({
      env: {
        STORAGE_URL: `${pathToFileURL(files).href}?accel_redirect=/internal-files/`,
        TRUST_PROXY: '1',
      },
    });
    bare = await TestPlinth.start({ replicaOf: plinth, env: { STORAGE_URL: pathToFileURL(files).href } });
    nginx = await TestNginx.start(
      DOCUMENTED.replace('127.0.0.1:8080', new URL(plinth.baseUrl).host).replace(
        '/var/lib/plinth/files/',
        `${files}/`,
      ),
    );
    project = await plinth.createProject({ plan: 'enterprise' });
    user = project.asSubject().at(nginx.baseUrl);
    await user.post(`${project.storage}/buckets`, {
      name: 'box',
      is_public: true,
      cache_control: 'public, max-age=60',
    });
    const { body } = await upload(user, project.storage, 'box', BYTES, { name: 'dir/numbers é.txt' });
    // The database sets the date of the file, so a clock that was held before would be slow.
    for (const { clock } of [plinth, bare]) clock.hold();
    file = `${project.storage}/files/${body.data.id}`;
    const { url } = (await user.post(`${file}/signed-url`, { expiry: '1h' })).body.data;
    const nobody = plinth.http.at(nginx.baseUrl);
    addresses = {
      download: { client: user, path: `${file}/download` },
      signed: { client: nobody, path: (url as string).replace('http://plinth.test', '') },
      preview: { client: nobody, path: `${file}/preview` },
    };
  });
  afterAll(async () => {
    await nginx.stop();
    await bare.stop();
    await plinth.stop();
    rmSync(files, { recursive: true, force: true });
  });

  const ask = (kind: string, headers: Record<string, string> = {}, method = 'GET'): Promise<HttpAnswer> => {
    const { client, path } = addresses[kind] as { client: HttpClient; path: string };
    return client.send(method, path, { headers });
  };

  it("Plinth sends the file's location instead of its bytes", async () => {
    const direct = await user.at(plinth.baseUrl).unchecked().get(`${file}/download`);
    expect([direct.status, direct.text]).toEqual([200, '']);
    expect(direct.headers.get('x-accel-redirect')).toMatch(
      new RegExp(`^/internal-files/${project.id}/[0-9a-f]{2}/[0-9a-f-]{36}$`),
    );
  });

  describe.each(['download', 'signed', 'preview'])('the %s URL', (kind) => {
    it("sends the bytes with Plinth's headers", async () => {
      const answer = await ask(kind, { origin: 'http://elsewhere.test' });
      expect([answer.status, answer.text === BYTES]).toEqual([200, true]);
      const disposition = kind === 'preview' ? 'inline' : 'attachment';
      const expected: Record<string, string | RegExp> = {
        'content-type': 'text/plain; charset=utf-8',
        'content-length': String(BYTES.length),
        'content-disposition': `${disposition}; filename="numbers e.txt"; filename*=UTF-8''numbers%20%C3%A9.txt`,
        etag: ETAG,
        'accept-ranges': 'bytes',
        'cache-control': kind === 'preview' ? 'public, max-age=60' : 'private, max-age=60',
        'content-security-policy': /^sandbox; default-src 'none'/,
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'cross-origin',
        'referrer-policy': 'no-referrer',
        'x-ratelimit-limit': '10000',
        'x-ratelimit-remaining': /^\d+$/,
        'x-ratelimit-reset': /^\d+$/,
        'access-control-allow-origin': '*',
        'access-control-expose-headers': /ETag/,
      };
      for (const [name, value] of Object.entries(expected))
        expect([name, answer.headers.get(name)]).toEqual([
          name,
          typeof value === 'string' ? value : expect.stringMatching(value),
        ]);
      expect(answer.headers.get('x-accel-redirect')).toBeNull();
      const record = (await user.get(file)).body.data;
      expect(Date.parse(answer.headers.get('last-modified') as string)).toBe(
        Math.floor(Date.parse(record.updated_at as string) / 1000) * 1000,
      );
    });

    it('answers ranges, conditions and HEAD as without nginx', async () => {
      const part = await ask(kind, { range: 'bytes=10-19' });
      expect([part.status, part.text, part.headers.get('content-range')]).toEqual([
        206,
        BYTES.slice(10, 20),
        `bytes 10-19/${BYTES.length}`,
      ]);
      expect(part.headers.get('content-security-policy')).toMatch(/^sandbox/);
      const parts = await ask(kind, { range: 'bytes=0-4,100-104,-3' });
      expect([parts.status, parts.headers.get('content-type')]).toEqual([
        206,
        expect.stringMatching(/^multipart\/byteranges; boundary=/),
      ]);
      expect(parts.text).toContain(BYTES.slice(100, 105));
      expect((await ask(kind, { range: 'bytes=0-4', 'if-range': ETAG })).status).toBe(206);
      expect((await ask(kind, { range: 'bytes=0-4', 'if-range': '"other"' })).status).toBe(200);
      const beyond = await ask(kind, { range: `bytes=${BYTES.length}-` });
      expect([beyond.status, beyond.body.error.code]).toEqual([416, 'range_not_satisfiable']);
      expect((await ask(kind, { 'if-none-match': ETAG })).status).toBe(304);
      expect((await ask(kind, { 'if-none-match': '"other"' })).status).toBe(200);
      const { headers } = await ask(kind);
      const since = headers.get('last-modified') as string;
      expect((await ask(kind, { 'if-modified-since': since })).status).toBe(304);
      expect((await ask(kind, { 'if-match': ETAG })).status).toBe(200);
      const head = await ask(kind, {}, 'HEAD');
      expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
        200,
        '',
        String(BYTES.length),
      ]);
    });
  });

  describe.each(['GET', 'HEAD'])('%s with conditions', (method) => {
    it.each<[string, (date: string) => Record<string, string>, number]>([
      ['a matching tag', () => ({ 'if-match': `"x", ${ETAG}` }), 200],
      ['another tag', () => ({ 'if-match': '"x"' }), 412],
      ['a weak tag', () => ({ 'if-match': `W/${ETAG}` }), 412],
      ['any state', () => ({ 'if-match': '*' }), 200],
      ['a matching date', (date) => ({ 'if-unmodified-since': date }), 200],
      ['an older date', () => ({ 'if-unmodified-since': LONG_AGO }), 412],
      ['an invalid date', () => ({ 'if-unmodified-since': '1970-01-01' }), 200],
      ['a tag before a date', () => ({ 'if-match': ETAG, 'if-unmodified-since': LONG_AGO }), 200],
      ['If-Match before If-None-Match', () => ({ 'if-match': '"x"', 'if-none-match': ETAG }), 412],
      ['the tag of the cached copy', () => ({ 'if-none-match': `W/${ETAG}` }), 304],
      ['any cached copy', () => ({ 'if-none-match': '*' }), 304],
      ['the date of the cached copy', (date) => ({ 'if-modified-since': date }), 304],
      [
        'the tag of the copy before its date',
        (date) => ({ 'if-none-match': '"x"', 'if-modified-since': date }),
        200,
      ],
      ['an invalid later date', () => ({ 'if-modified-since': '2099-01-01' }), 200],
      ['a range with a matching tag', () => ({ 'if-match': ETAG, range: 'bytes=0-4' }), 206],
      ['a range with the exact date', (date) => ({ 'if-range': date, range: 'bytes=0-4' }), 206],
      ['a range with another date', () => ({ 'if-range': LONG_AGO, range: 'bytes=0-4' }), 200],
      ['a range with a weak tag', () => ({ 'if-range': `W/${ETAG}`, range: 'bytes=0-4' }), 200],
    ])('answers as without nginx: %s', async (_what, headers, expected) => {
      const date = (await ask('download')).headers.get('last-modified') as string;
      // A date is compared only after its second is over.
      for (const { clock } of [plinth, bare]) clock.move(2);
      const answer = await ask('download', headers(date), method);
      const direct = await user.at(bare.baseUrl).send(method, `${file}/download`, { headers: headers(date) });
      for (const { clock } of [plinth, bare]) clock.move(-2);
      expect([answer.status, direct.status]).toEqual([expected, expected]);
    });

    it('ignores a date in If-Range within its second', async () => {
      const date = (await ask('download')).headers.get('last-modified') as string;
      const sinceThen = (plinth.clock.now() - Date.parse(date)) / 1000;
      plinth.clock.move(-sinceThen);
      const answer = await ask('download', { 'if-range': date, range: 'bytes=0-4' }, method);
      plinth.clock.move(sinceThen);
      expect(answer.status).toBe(200);
    });
  });

  it('keeps the content type, and prevents active types from running', async () => {
    const { body } = await upload(user, project.storage, 'box', '<!doctype html><script>alert(1)</script>', {
      name: 'page.txt',
    });
    const { headers } = await plinth.http
      .at(nginx.baseUrl)
      .get(`${project.storage}/files/${body.data.id}/preview`);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-disposition')).toMatch(/^attachment/);
    expect(headers.get('content-security-policy')).toMatch(/^sandbox/);
  });

  it('leaves authorization to Plinth, passes on its errors, and does not serve file locations directly', async () => {
    const stranger = plinth.http.at(nginx.baseUrl);
    expect((await stranger.get(`${file}/download`)).status).toBe(401);
    expect((await stranger.get(`${addresses.signed?.path}x`)).body.error.code).toBe('invalid_signature');
    await user.post(`${project.storage}/buckets`, { name: 'closed' });
    const { body } = await upload(user, project.storage, 'closed', 'x');
    expect((await stranger.get(`${project.storage}/files/${body.data.id}/preview`)).status).toBe(404);
    const { headers } = await user.at(plinth.baseUrl).unchecked().get(`${file}/download`);
    expect((await stranger.get(headers.get('x-accel-redirect') as string)).status).toBe(404);
  });

  it('sends no file of a project because SQL of another one names it in a header', async () => {
    await user.post(`${project.storage}/buckets`, { name: 'secret' });
    const { body } = await upload(user, project.storage, 'secret', 'private bytes');
    const download = `${project.storage}/files/${body.data.id}/download`;
    const { headers } = await user.at(plinth.baseUrl).unchecked().get(download);
    const attacker = await plinth.createProject();
    const value = JSON.stringify([{ 'X-Accel-Redirect': headers.get('x-accel-redirect') }]);
    const rows = JSON.stringify({
      status: 200,
      headers: { 'x-accel-redirect': headers.get('x-accel-redirect') },
    });
    await attacker.sql(`
      create function by_setting() returns text language sql as $$
        select set_config('response.headers', '${value}', true); select 'own' $$;
      create function by_error() returns text language plpgsql as $$ begin
        raise sqlstate 'PGRST' using message = '{"code": "own", "message": "own"}', detail = '${rows}'; end $$`);
    for (const name of ['by_setting', 'by_error']) {
      const answer = await attacker.anon.at(nginx.baseUrl).unchecked().post(`/rest/v1/rpc/${name}`, {});
      expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('own')]);
    }
  });

  it('sends an empty file, and an overwritten one with its new bytes', async () => {
    const empty = await upload(user, project.storage, 'box', '', { name: 'empty' });
    const answer = await user.get(`${project.storage}/files/${empty.body.data.id}/download`);
    expect([answer.status, answer.text, answer.headers.get('content-length')]).toEqual([200, '', '0']);
    await upload(user, project.storage, 'box', 'new', { name: 'empty', query: { upsert: 'true' } });
    expect((await user.get(`${project.storage}/files/${empty.body.data.id}/download`)).text).toBe('new');
  });

  it('answers 500 storage_unavailable when the bytes are missing', async () => {
    const root = join(files, project.id);
    renameSync(root, `${root}-away`);
    const answer = await user.get(`${file}/download`);
    renameSync(`${root}-away`, root);
    expect([answer.status, answer.body.error.code]).toEqual([500, 'storage_unavailable']);
  });

  it('streams uploads of any size through', async () => {
    const answer = await upload(user, project.storage, 'box', Buffer.alloc(20_000_000), { name: 'large' });
    expect([answer.status, answer.body.data?.size]).toEqual([201, 20_000_000]);
  });
});
