/**
 * /docs in a real browser shows the platform's document, and a project's document once a key is given; calls can be
 * tried.
 */
import type { Locator, Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, TestBrowser } from '../../support/browser';
import { casesOf } from '../../support/extent';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let browser: TestBrowser;
let page: Page;

/** Swagger UI takes seconds for each document, and many seconds on a busy machine. */
const SLOW_MS = 60_000;

/** Expands the group of an operation, unless it is expanded. */
async function operation(group: string, id: string): Promise<Locator> {
  const block = page.locator(`#operations-${group}-${id}`);
  if (!(await block.isVisible())) await page.click(`#operations-tag-${group}`);
  await block.waitFor();
  return block;
}

/** Sends the request of an expanded operation. @returns the status, followed by the body of an error */
async function statusOf(block: Locator): Promise<string> {
  await block.locator('button.execute').click();
  const answered = block.locator('.live-responses-table tbody .response-col_status').first();
  await answered.waitFor();
  const status = (await answered.textContent()) ?? '';
  return status < '400' ? status : `${status} ${await block.locator('.live-responses-table').textContent()}`;
}

/** Operations of the project and the expected statuses: one with a body, one with parameters, and others. */
const PREFILLED: [group: string, id: string, status: string | RegExp][] = [
  ['pets', 'insertPets', '201'],
  ['rpc', 'getAdd', '200'],
  ['pets', 'updatePets', '200'],
  ['pets', 'selectPets', /^20[06]$/],
];

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the page /docs', () => {
  beforeAll(async () => {
    plinth = await TestPlinth.start();
    project = await plinth.createProject();
    await project.sql(`
      create type mood as enum ('sad', 'happy');
      create table owners (id bigint generated always as identity primary key, name varchar(20) not null);
      create table pets (
        id int primary key, owner bigint references owners, name text not null, mood mood not null,
        born date not null, ref uuid not null, data jsonb not null, tags text[] not null, fed boolean not null default false
      );
      create function add(a int, b int default 2) returns int language sql immutable as 'select a + b';
    `);
    browser = await TestBrowser.start({ hosts: { 'plinth.test': new URL(plinth.baseUrl).host } });
    page = await browser.newPage();
    await page.goto('http://plinth.test/docs');
  }, BROWSER_START_MS);
  afterAll(async () => {
    await browser.stop();
    await plinth.stop();
  });

  it("shows the platform's document first", async () => {
    await page.waitForSelector('#operations-tag-admin');
    expect(await page.locator('.info .title').textContent()).toContain('Plinth');
  });

  it(
    'sends the calls for any table once credentials and a table are given',
    async () => {
      const key = JSON.stringify(project.serviceKey);
      await page.evaluate(
        `ui.preauthorizeApiKey('apikey', ${key}); ui.preauthorizeApiKey('bearer', ${key});`,
      );
      const block = await operation('rest', 'selectRows');
      await block.locator('.opblock-summary-control').click();
      await block.locator('[data-param-name=table] input').fill('pets');
      expect(await statusOf(block)).toMatch(/^20[06]$/);
    },
    SLOW_MS,
  );

  it("shows a project's document once a key is given, and explains the fault of any other text", async () => {
    await page.fill('input[name=key]', 'garbage');
    await page.click('#project button');
    await page.waitForSelector('#problem:not(:empty)');
    await page.fill('input[name=key]', project.serviceKey);
    await page.click('#project button');
    await page.waitForSelector('#docs[data-shows=project]');
    await operation('pets', 'selectPets');
    expect(await page.locator('#problem').textContent()).toBe('');
  });

  it.each(casesOf(PREFILLED, 2))(
    '%s › %s succeeds with the prefilled request',
    async (group, id, status) => {
      const block = await operation(group, id);
      await block.locator('.opblock-summary-control').click();
      expect(await statusOf(block)).toMatch(status);
      await block.locator('.opblock-summary-control').click();
    },
    SLOW_MS,
  );

  it('sends no request to another server, and does not violate its policy', () => {
    const elsewhere = browser.observed.requests.filter(
      (one) => !/ (http:\/\/plinth\.test\/|data:|blob:)/.test(one),
    );
    expect(elsewhere).toEqual([]);
    expect(browser.observed.complaints).toEqual([]);
  });
});
