/** The applications in examples/: built with the commands of their READMEs, and used against a server. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { createDemoOnFirstStart } from '../../src/bootstrap/demo-project';
import { BROWSER_START_MS, hasBrowser, TestBrowser } from '../support/browser';
import { DONE, EXAMPLE_LIMIT_MS, EXAMPLES, npmRun, type Outcome, serve } from '../support/examples';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

let plinth: TestPlinth;
beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterAll(() => plinth.stop());

describe('todo-app', () => {
  const inBrowser = hasBrowser ? it : it.skip;
  let env: Record<string, string>;
  let pages: Server;
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    const demo = await createDemoOnFirstStart(plinth.app);
    if (!demo) throw new Error('there is a demo project already');
    const { body } = await plinth.admin.get(`/admin/v1/projects/${demo.project.id}/keys`);
    env = { VITE_PLINTH_URL: plinth.baseUrl, VITE_ANON_KEY: body.anon_key };
  });
  afterAll(async () => {
    await browser?.stop();
    pages?.close();
  });

  it(
    'is generated and built with the commands of its README',
    async () => {
      expect(await npmRun('todo-app', 'generate', env)).toMatchObject(DONE);
      expect(await npmRun('todo-app', 'build', env)).toMatchObject(DONE);
    },
    EXAMPLE_LIMIT_MS,
  );

  inBrowser(
    'shows what is wrong with credentials, and lets users sign up',
    async () => {
      pages = await serve(path.join(EXAMPLES, 'todo-app/dist'));
      browser = await TestBrowser.start({ hosts: { 'plinth.test': new URL(plinth.baseUrl).host } });
      page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
      await page.fill('[name=email]', 'ada@example.com');
      await page.fill('[name=password]', 'correct horse');
      await page.click('[value=login]');
      await page.waitForSelector('#problem:not(:empty)');
      await page.click('[value=signup]');
      await page.waitForSelector('#app:not([hidden])');
      expect(await page.textContent('#problem')).toBe('');
    },
    BROWSER_START_MS,
  );

  inBrowser('adds, finishes and deletes todos', async () => {
    for (const title of ['Buy milk', 'Write a letter']) {
      await page.fill('[name=title]', title);
      await page.click('#add button');
      await page.waitForSelector(`li:has-text("${title}")`);
    }
    await page.check('li:has-text("milk") [type=checkbox]');
    await page.reload();
    await page.waitForSelector('li:has-text("milk") :checked');
    expect(await page.locator('li :checked').count()).toBe(1);
    await page.click('li:has-text("letter") button');
    await page.waitForSelector('li:has-text("letter")', { state: 'detached' });
  });

  inBrowser('attaches files, whose links work, and deletes them with their todo', async () => {
    const file = { name: 'list ü.txt', mimeType: 'text/plain', buffer: Buffer.from('Hello from Plinth') };
    await page.setInputFiles('li:has-text("milk") [type=file]', file);
    const link = await page.waitForSelector('li:has-text("milk") a');
    expect(await link.textContent()).toBe(file.name);
    const address = new URL((await link.getAttribute('href')) ?? '');
    const follow = async (): Promise<[number, string]> => {
      const answer = await plinth.http.get(address.pathname + address.search);
      return [answer.status, answer.text];
    };
    expect(await follow()).toEqual([200, 'Hello from Plinth']);
    await page.click('li:has-text("milk") button');
    await page.waitForSelector('li', { state: 'detached' });
    expect((await follow())[0]).toBe(404);
  });

  inBrowser('refreshes the session before it ends, and signs out', async () => {
    const stored = (): Promise<{ refresh_token: string } | null> =>
      page.evaluate("JSON.parse(localStorage.getItem('session'))");
    const before = await stored();
    const expired = JSON.stringify(JSON.stringify({ ...before, expires_at: 0 }));
    await page.evaluate(`localStorage.setItem('session', ${expired})`);
    await page.reload();
    await page.fill('[name=title]', 'After the refresh');
    await page.click('#add button');
    await page.waitForSelector('li:has-text("After the refresh")');
    expect((await stored())?.refresh_token).not.toBe(before?.refresh_token);
    await page.click('#sign-out');
    await page.waitForSelector('#credentials:not([hidden])');
    expect(await stored()).toBeNull();
    // The sign-in with wrong credentials is the only refused request.
    const unexpected = browser.observed.complaints.filter((text) => !/status of 401/.test(text));
    expect(unexpected).toEqual([]);
  });
});

describe('csv-import', () => {
  let env: Record<string, string>;
  let project: TestProject;
  const file = path.join(tmpdir(), `plinth-products-${process.pid}.csv`);

  beforeAll(async () => {
    project = await TestProject.create(plinth, { name: 'Shop', slug: 'shop' });
    await project.sql(await readFile(path.join(EXAMPLES, 'csv-import/schema.sql'), 'utf8'));
    env = { PLINTH_URL: plinth.baseUrl, SERVICE_ROLE_KEY: project.serviceKey };
  });
  afterAll(() => rm(file, { force: true }));

  async function importText(text: string): Promise<Outcome> {
    await writeFile(file, text);
    return npmRun('csv-import', 'import', env, file);
  }

  const products = async (query = 'select=sku,name,price,stock&order=sku'): Promise<unknown> =>
    (await project.service.get(`/p/shop/rest/v1/products?${query}`)).body;

  it(
    'is generated, built and run with the commands of its README',
    async () => {
      expect(await npmRun('csv-import', 'generate', env)).toMatchObject({ code: 0 });
      expect(await npmRun('csv-import', 'build', env)).toMatchObject(DONE);
      const outcome = await npmRun('csv-import', 'import', env, 'products.csv');
      expect(outcome).toEqual({ ...DONE, stdout: '3 products imported\n' });
      expect(await products()).toEqual([
        { sku: 'P-1', name: 'Pencil, soft', price: 0.8, stock: 120 },
        { sku: 'P-2', name: 'Eraser', price: 1.2, stock: 60 },
        { sku: 'P-3', name: 'Ruler "30 cm"', price: 2.5, stock: 0 },
      ]);
    },
    EXAMPLE_LIMIT_MS,
  );

  it('updates the products that exist, in several requests if there are many', async () => {
    const rows = Array.from({ length: 1200 }, (_, index) => `N-${index},Number ${index},1,${index}`);
    const outcome = await importText(`sku,name,price,stock\nP-1,Pencil,0.9,7\n${rows.join('\n')}\n`);
    expect(outcome).toEqual({ ...DONE, stdout: '1201 products imported\n' });
    expect(await products('select=name,price,stock&sku=eq.P-1')).toEqual([
      { name: 'Pencil', price: 0.9, stock: 7 },
    ]);
    expect(await products('select=count()')).toEqual([{ count: 1203 }]);
  });

  it.each([
    ['a price that is not a number', 'X-1,A,1,1\nX-2,B,cheap,1', 'line 3: price is no number: cheap\n'],
    ['no price', 'X-1,A,,1', 'line 2: price is no number: \n'],
    ['a price that the table refuses', 'X-1,A,1,1\nX-2,B,-1,1', /violates check constraint/],
  ])('ends with an error for %s, and writes nothing of the batch', async (_what, lines, message) => {
    const { code, stdout, stderr } = await importText(`sku,name,price,stock\n${lines}\n`);
    expect([code, stdout]).toEqual([1, '']);
    if (typeof message === 'string') expect(stderr).toBe(message);
    else expect(stderr).toMatch(message);
    expect(await products('sku=like.X-*')).toEqual([]);
  });
});
