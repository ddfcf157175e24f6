/** /docs in a real browser: the platform's document, and a project's once a key was given; calls can be tried. */
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, TestBrowser } from '../../support/browser';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let browser: TestBrowser;
let page: Page;

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
    await page.waitForSelector('#operations-admin-createProject');
    expect(await page.locator('.info .title').textContent()).toContain('Plinth');
  });

  it("shows a project's document once a key was given, and says what is wrong with another text", async () => {
    await page.fill('input[name=key]', 'garbage');
    await page.click('#project button');
    await page.waitForSelector('#problem:not(:empty)');
    await page.fill('input[name=key]', project.serviceKey);
    await page.click('#project button');
    await page.waitForSelector('#docs[data-shows=project]');
    await page.waitForSelector('#operations-pets-selectPets');
    expect(await page.locator('#problem').textContent()).toBe('');
  });

  // A few: each takes Swagger UI seconds on a busy machine.
  it.each([
    ['pets-insertPets', '201'],
    ['pets-updatePets', '200'],
    ['pets-selectPets', /^20[06]$/],
    ['rpc-getAdd', '200'],
  ])('%s can be tried as it is prefilled', async (operation, status) => {
    const block = page.locator(`#operations-${operation}`);
    await block.locator('.opblock-summary-control').click();
    await block.locator('button.execute').click();
    const answered = block.locator('.live-responses-table tbody .response-col_status').first();
    await answered.waitFor();
    const body = await block.locator('.live-responses-table').textContent();
    expect([await answered.textContent(), body]).toEqual([expect.stringMatching(status), body]);
    await block.locator('.opblock-summary-control').click();
  });

  it('asks no other server, and breaks no policy', () => {
    const elsewhere = browser.observed.requests.filter(
      (one) => !/ (http:\/\/plinth\.test\/|data:|blob:)/.test(one),
    );
    expect(elsewhere).toEqual([]);
    expect(browser.observed.complaints).toEqual([]);
  });
});
