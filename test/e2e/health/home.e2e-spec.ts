/** The home page of the install, and the tour (DECISIONS.md 7). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';

const ROOT = join(__dirname, '../../..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

const get = (path: string, accept?: string): Promise<HttpAnswer> =>
  plinth.http.get(path, { headers: accept === undefined ? {} : { accept } });

/** Asserts that a page has no scripts and no URLs of other hosts, and that its policy forbids both. */
function expectPlain({ status, headers, text }: HttpAnswer): void {
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-\S+'; base-uri 'none'; form-action 'none'; /,
  );
  expect(policy).toContain("frame-ancestors 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(text).not.toMatch(/<script|<img|<link|\son\w+=|\sstyle=|(?:src|href)="(?:https?:)?\/\//i);
}

describe('GET /', () => {
  it('is a page for browsers with name, version and working links', async () => {
    const page = await get('/', BROWSER);
    expectPlain(page);
    expect(page.text).toContain('<h1>Plinth</h1>');
    expect(page.text).toContain(`Version ${version}`);
    const links = [...page.text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link as string);
    expect(links).toEqual(['console', 'docs/guides', 'docs', 'openapi.json', 'tour', 'health/ready']);
    for (const link of links) expect([link, (await get(`/${link}`)).status]).toEqual([link, 200]);
  });

  it.each([undefined, '*/*', 'application/json', 'image/png', 'application/json, text/html;q=0.5'])(
    'is JSON for %s',
    async (accept) => {
      const { status, headers, body } = await get('/', accept);
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      expect(headers.get('vary')).toBe('Accept');
      expect(body).toEqual({
        name: 'plinth',
        version,
        links: {
          console: 'http://plinth.test/console',
          guides: 'http://plinth.test/docs/guides',
          docs: 'http://plinth.test/docs',
          openapi: 'http://plinth.test/openapi.json',
          tour: 'http://plinth.test/tour',
          health: 'http://plinth.test/health/ready',
        },
      });
    },
  );

  it('answers HEAD without a body and 405 to other methods', async () => {
    const head = await plinth.http.send('HEAD', '/', { headers: { accept: BROWSER } });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await plinth.http.post('/', {})).headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('GET /tour', () => {
  it('shows the titles, texts and commands of the README for this install, in the same order', async () => {
    const page = await get('/tour', BROWSER);
    expectPlain(page);
    const contentOf = (pattern: RegExp): string[] =>
      [...page.text.matchAll(pattern)].map((match) => unescaped(match.slice(1).join(' ')));
    const shown = contentOf(/<pre>([\s\S]*?)<\/pre>/g).join('\n');
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const tour = readme.slice(readme.indexOf('## Five-minute tour'), readme.indexOf('## Next steps'));
    const said = contentOf(/<h2>(.*?)<\/h2>\s*<p>([\s\S]*?)<\/p>/g);
    const written = tour
      .replaceAll('`', '')
      .split('\n\n')
      .map((paragraph) => /^\n?\*\*(.*?)\.\*\* ([\s\S]*)$/.exec(paragraph))
      .flatMap((match) => (match ? [`${match[1]} ${match[2]!.split('\n').join(' ').trim()}`] : []));
    expect(written.map(withoutCommand)).toEqual(said.map(withoutCommand));
    const blocks = [...tour.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text).join('\n');
    expect(commands(shown)).toEqual(
      commands(blocks.replaceAll('http://localhost:8080', 'http://plinth.test')),
    );
  });
});

/** The command line of an install may differ. */
const withoutCommand = (text: string): string => text.replace(/: [^:]* project keys demo$/, '');

function unescaped(html: string): string {
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Lines without comments and blank lines. */
function commands(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/ +#.*$/, '').trimEnd())
    .filter((line) => line !== '');
}
