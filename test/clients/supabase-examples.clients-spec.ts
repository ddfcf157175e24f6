/** The applications in examples/ that use supabase-js: built with the commands of their READMEs, and used by two people. */
import { readFile, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { hasBrowser, TestBrowser } from '../support/browser';
import { DONE, EXAMPLE_LIMIT_MS, EXAMPLES, npmRun, serve } from '../support/examples';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

const inBrowser = hasBrowser ? it : it.skip;

let plinth: TestPlinth;
let pages: Server | undefined;
const browsers: TestBrowser[] = [];

beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterEach(async () => {
  await Promise.all(browsers.splice(0).map((browser) => browser.stop()));
  pages?.close();
});
afterAll(() => plinth.stop());

/**
 * Builds an example for a new project with its schema.
 * @returns opens the page in a new browser
 */
async function build(example: string, settings: object): Promise<(hash?: string) => Promise<Page>> {
  const folder = path.join(EXAMPLES, example);
  const project = await TestProject.create(plinth, { name: example, slug: example, settings });
  await project.sql(await readFile(path.join(folder, 'schema.sql'), 'utf8'));
  const types = await project.asSubject().get(`/p/${example}/types.ts?lang=supabase`);
  await writeFile(path.join(folder, 'src/database.ts'), types.text);
  const env = { VITE_PLINTH_URL: `${plinth.baseUrl}/p/${example}`, VITE_ANON_KEY: project.anonKey };
  expect(await npmRun(example, 'build', env)).toMatchObject(DONE);
  const server = await serve(path.join(folder, 'dist'));
  pages = server;
  return async (hash = '') => {
    const browser = await TestBrowser.start();
    browsers.push(browser);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${hash}`);
    return page;
  };
}

async function signUp(page: Page, email: string): Promise<void> {
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', 'correct horse');
  await page.click('[value=signup]');
  await page.waitForSelector('#app:not([hidden])');
}

inBrowser(
  'chat: two users see each other, their messages, and who is typing',
  async () => {
    const open = await build('chat', { anonymous_signin_enabled: true });
    const [ada, grace] = await Promise.all([open(), open()]);
    const enter = async (page: Page, name: string): Promise<void> => {
      await page.fill('[name=name]', name);
      await page.click('#enter button');
      await page.waitForSelector(`#people:has-text("${name}")`);
    };
    await enter(ada, 'Ada');
    await ada.fill('[name=text]', 'Anybody here?');
    await ada.press('[name=text]', 'Enter');
    await ada.waitForSelector('li:has-text("Anybody here?")');

    await enter(grace, 'Grace');
    await grace.waitForSelector('li:has-text("Ada") >> text=Anybody here?');
    for (const page of [ada, grace]) await page.waitForSelector('#people:text-is("Ada, Grace")');
    await grace.fill('[name=text]', 'I am');
    await ada.waitForSelector('#writing:text-is("Grace is writing ...")');
    await grace.press('[name=text]', 'Enter');
    await ada.waitForSelector('li:has-text("Grace") >> text=I am');
    expect(await ada.locator('li').count()).toBe(2);

    await grace.click('#leave');
    await ada.waitForSelector('#people:text-is("Ada")');
    await ada.reload();
    await ada.waitForSelector('li >> nth=1');
    expect(await ada.textContent('#problem')).toBe('');
  },
  EXAMPLE_LIMIT_MS,
);

inBrowser(
  'photo-gallery: shows thumbnails of the uploads of a user to that user only',
  async () => {
    const open = await build('photo-gallery', {});
    const page = await open();
    await signUp(page, 'ada@example.com');
    const picture = sharp({ create: { width: 900, height: 600, channels: 3, background: 'teal' } });
    const buffer = await picture.jpeg().toBuffer();
    await page.setInputFiles('#files', [
      { name: 'one.jpg', mimeType: 'image/jpeg', buffer },
      { name: 'two.jpg', mimeType: 'image/jpeg', buffer },
    ]);
    await page.waitForSelector('figure:has-text("two.jpg") img');
    const isThumbnail = `(() => { const image = document.querySelector('img'); return image.complete && image.naturalWidth === 400; })()`;
    await page.waitForFunction(isThumbnail);
    const original = (await page.getAttribute('figure a', 'href')) ?? '';
    expect((await fetch(original)).headers.get('content-type')).toBe('image/jpeg');

    await page.setInputFiles('#files', {
      name: 'text.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('no picture'),
    });
    await page.waitForSelector('#problem:not(:empty)');
    await page.click('figure:has-text("two.jpg") button');
    await page.waitForSelector('figure:has-text("two.jpg")', { state: 'detached' });

    const other = await open();
    await signUp(other, 'eve@example.com');
    expect(await other.locator('figure').count()).toBe(0);
  },
  EXAMPLE_LIMIT_MS,
);

inBrowser(
  'team-notes: an invited viewer reads, becomes an editor, and leaves',
  async () => {
    const open = await build('team-notes', {});
    const ada = await open();
    await signUp(ada, 'ada@example.com');
    await ada.fill('#create [name=name]', 'Blue');
    await ada.click('#create button');
    await ada.fill('#add [name=text]', 'The first note');
    await ada.click('#add button');
    await ada.waitForSelector('#notes li:has-text("The first note")');
    await ada.click('#invite button');
    const link = await ada.waitForSelector('#invitation:not(:empty)');
    const { hash } = new URL((await link.textContent()) ?? '');

    const eve = await open(hash);
    await signUp(eve, 'eve@example.com');
    await eve.waitForSelector('#notes li:has-text("The first note")');
    expect(await eve.locator('#add').isVisible()).toBe(false);
    // The policies refuse the write, even if the form is not hidden.
    await eve.evaluate(`document.getElementById('add').hidden = false`);
    await eve.fill('#add [name=text]', 'Not allowed');
    await eve.click('#add button');
    await eve.waitForSelector('#problem:has-text("row-level security")');

    await ada.reload();
    await ada.selectOption('[aria-label="Role of eve@example.com"]', 'editor');
    await eve.reload();
    await eve.fill('#add [name=text]', 'Of an editor');
    await eve.click('#add button');
    await eve.waitForSelector('#notes li:has-text("Of an editor")');
    await eve.click('#members button');
    await eve.waitForSelector('#team', { state: 'hidden' });
    const late = await open(hash);
    await signUp(late, 'late@example.com');
    await late.waitForSelector('#problem:has-text("not valid any more")');
  },
  EXAMPLE_LIMIT_MS,
);
