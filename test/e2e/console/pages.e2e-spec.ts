/** The pages of docs/ as the server serves them at /docs/guides: links, policy, search, phones. */
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, TestBrowser } from '../../support/browser';
import { assertConsoleBuilt, ConsolePage } from '../../support/console-page';
import { TestPlinth } from '../../support/plinth';

let plinth: TestPlinth;
beforeAll(async () => {
  assertConsoleBuilt();
  plinth = await TestPlinth.start();
});
afterAll(() => plinth?.stop());

const START = '/docs/guides';

describe('the pages of the documentation', () => {
  it('link only to existing pages and anchors, and to other origins only in their text', async () => {
    const pages = new Map<string, string>();
    const links = new Set<string>();
    const open = [START];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (pages.has(path)) continue;
      const { status, text, headers } = await plinth.http.get(path);
      expect([path, status]).toEqual([path, 200]);
      if (!(headers.get('content-type') ?? '').startsWith('text/html')) continue;
      pages.set(path, text);
      for (const [, kind, address = ''] of text.matchAll(/(href|src)="([^"]+)"/g)) {
        if (/^https?:/.test(address)) {
          expect([path, kind, address]).toEqual([path, 'href', address]);
          continue;
        }
        const target = new URL(address.replaceAll('&amp;', '&'), `http://plinth.test${path}`);
        if (target.hash !== '') links.add(target.pathname + target.hash);
        open.push(target.pathname);
      }
    }
    expect(pages.size).toBeGreaterThan(35);
    expect([...pages.keys()]).toEqual(
      expect.arrayContaining([`${START}/policies`, '/docs/internals/security']),
    );
    const dead = [...links].filter((link) => {
      const [path = '', anchor = ''] = link.split('#');
      return !pages.get(path)?.includes(` id="${decodeURIComponent(anchor)}"`);
    });
    expect(dead).toEqual([]);
  });

  it('allow only scripts and styles of their origin, and no inline scripts or styles', async () => {
    for (const path of [START, `${START}/policies`, '/docs/reference/rest']) {
      const { headers, text } = await plinth.http.get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(text).not.toMatch(/<script>|<style|\son\w+=|\sstyle=/);
    }
  });

  it('are sent again only after a change', async () => {
    const first = await plinth.http.get(START);
    const etag = first.headers.get('etag')!;
    expect((await plinth.http.get(START, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  it.each([
    'guides/nothing',
    'guides/..%2f..%2fpackage.json',
    'constructor/name',
    'guides/policies.html.gz',
    'internals/',
  ])('answer 404 for %s', async (path) => expect((await plinth.http.get(`/docs/${path}`)).status).toBe(404));
});

(hasBrowser ? describe : describe.skip)('in a browser', () => {
  let browser: TestBrowser;
  let page: Page;
  beforeAll(async () => {
    browser = await TestBrowser.start({ hosts: { 'plinth.test': new URL(plinth.baseUrl).host } });
    page = await browser.newPage();
  }, BROWSER_START_MS);
  afterAll(() => browser?.stop());

  it('a search leads to the section', async () => {
    await page.goto(`http://plinth.test${START}`);
    await page.keyboard.press('/');
    await page.keyboard.type('cookbook invitations');
    await page.click('#found strong:has-text("› Invitations")');
    await page.waitForURL(`http://plinth.test${START}/policies#invitations`);
    await page.fill('[type=search]', 'xyzzy');
    await page.waitForSelector('#found:has-text("Nothing was found")');
    expect(browser.observed.complaints).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'axe finds nothing on wide and narrow screens, %s',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      for (const path of [START, `${START}/policies`, '/docs/reference/auth']) {
        await page.goto(`http://plinth.test${path}`);
        for (const width of [1280, 375]) {
          await page.setViewportSize({ width, height: 800 });
          const shown = new ConsolePage(page, 'http://plinth.test');
          expect([path, width, await shown.seriousFindings()]).toEqual([path, width, []]);
          expect([path, width, await shown.overflowing()]).toEqual([path, width, []]);
        }
      }
    },
  );
});
