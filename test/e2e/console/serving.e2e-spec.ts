/** How Plinth serves the console: the page, its policy, caching and size. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { assertConsoleBuilt, CONSOLE_DIST } from '../../support/console-page';
import { TestPlinth } from '../../support/plinth';

/** Compressed bytes that a browser loads before the first screen. */
const FIRST_LOAD_LIMIT = 350_000;

let plinth: TestPlinth;

beforeAll(async () => {
  assertConsoleBuilt();
  plinth = await TestPlinth.start();
});
afterAll(() => plinth?.stop());

const page = (): string => readFileSync(path.join(CONSOLE_DIST, 'index.html'), 'utf8');

/** Paths of the scripts and styles that the page names. */
const firstFiles = (): string[] =>
  [...page().matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, file]) => file!);

interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly bytes: number;
}

/** A request without the decompression of `fetch()`. */
function raw(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    request(new URL(url, plinth.baseUrl), { method, headers, path: url }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, bytes }));
    })
      .once('error', reject)
      .end();
  });
}

describe('the page of the console', () => {
  it.each([
    ['/console', 'console/'],
    ['/console/', './'],
    ['/console/projects', './'],
    ['/console/projects/acme/tables', '../../'],
  ])('%s has the base URL %s, so that its files are found behind any prefix', async (url, base) => {
    const { status, headers, text } = await plinth.http.unchecked().get(url);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain(`<base href="${base}">`);
  });

  it('allows no inline scripts and no other hosts', async () => {
    const { headers, text } = await plinth.http.unchecked().get('/console');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|unsafe-eval|\*/);
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|https?:\/\//);
    expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual([
      'nosniff',
      'no-referrer',
    ]);
  });

  it('is revalidated each time, and answered 304 while it is unchanged', async () => {
    const { headers } = await plinth.http.unchecked().get('/console/');
    expect(headers.get('cache-control')).toBe('no-cache');
    const again = await raw('/console/', { 'if-none-match': headers.get('etag')! });
    expect([again.status, again.bytes]).toEqual([304, 0]);
  });
});

describe('the files of the console', () => {
  it.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['identity', undefined],
  ])('with Accept-Encoding %s are encoded accordingly and cached permanently', async (accepted, encoding) => {
    const [file] = firstFiles();
    const answer = await raw(`/console/${file}`, { 'accept-encoding': accepted });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      'content-length': String(answer.bytes),
    });
    expect(answer.headers['content-encoding']).toBe(encoding);
    const again = await raw(`/console/${file}`, {
      'accept-encoding': accepted,
      'if-none-match': String(answer.headers.etag),
    });
    expect([again.status, again.bytes]).toEqual([304, 0]);
  });

  it('have no body for HEAD', async () => {
    const [file] = firstFiles();
    expect(await raw(`/console/${file}`, {}, 'HEAD')).toMatchObject({ status: 200, bytes: 0 });
  });

  it.each([
    '/console/assets/index-00000000.js',
    '/console/assets/%2e%2e/%2e%2e/package.json',
    '/console/assets/..%2f..%2fpackage.json',
  ])('%s is not a file', async (url) => {
    expect((await raw(url)).status).toBe(404);
  });

  it.each(['/console/../package.json', '/console/.built-from', '/console/%2e%2e%2fpackage.json'])(
    '%s does not reveal a file of the server',
    async (url) => {
      const answer = await fetch(plinth.baseUrl + url);
      expect(await answer.text()).not.toMatch(/"plinth"|^[0-9a-f]{64}$/);
    },
  );

  it('that the first screen needs are below the limit, compressed', () => {
    const files = [...firstFiles(), ...screenFiles('home-'), ...screenFiles('palette-')];
    const sizes = files.map((file) => statSync(path.join(CONSOLE_DIST, `${file}.gz`)).size);
    expect(files.length).toBeGreaterThan(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(FIRST_LOAD_LIMIT);
  });

  it('that only later screens need are not loaded first', () => {
    expect(firstFiles().filter((file) => /sql-screen|tables-screen|storage-screen/.test(file))).toEqual([]);
  });
});

function screenFiles(prefix: string): string[] {
  return readdirSync(path.join(CONSOLE_DIST, 'assets'))
    .filter((name) => name.startsWith(prefix) && /\.(js|css)$/.test(name))
    .map((name) => `assets/${name}`);
}
