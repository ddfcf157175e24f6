/** The first steps in the console, and the questions before data is lost, in a real browser against a real server. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, TestBrowser } from '../../support/browser';
import { assertConsoleBuilt, ConsolePage } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

const inBrowser = hasBrowser ? describe : describe.skip;
/** A page takes seconds on a busy machine. */
const SHOWN_MS = 20_000;

inBrowser('the first hour in the console', () => {
  let plinth: TestPlinth;
  let browser: TestBrowser;
  let page: Page;
  let view: ConsolePage;
  let project: TestProject;

  jest.setTimeout(BROWSER_START_MS);
  beforeAll(async () => {
    assertConsoleBuilt();
    plinth = await TestPlinth.start();
    browser = await TestBrowser.start();
    project = await plinth.createProject({ name: 'Shop' });
    await project.sql(`
      create table customers (id int primary key, email text not null, note text);
      insert into customers values (1, 'ada@example.com', E'two\\nlines\\u202e'), (2, 'grace@example.com', null);
      create table tags (name text primary key)`);
    page = await browser.newPage();
    view = new ConsolePage(page, plinth.baseUrl);
    await view.signIn();
  }, BROWSER_START_MS);
  afterAll(async () => {
    await browser?.stop();
    await plinth?.stop();
  });

  const count = async (table: string): Promise<number> =>
    (await project.sql(`select count(*)::int as n from ${table}`))[0].n as number;

  it('leads from an empty project to a table with a row and a policy in eight clicks, without an error', async () => {
    const empty = await plinth.createProject({ name: 'Empty' });
    await view.open(empty.slug, 'tables');
    await page.evaluate(`globalThis.clicks = 0; addEventListener('click', ({ isTrusted, detail }) => {
      if (isTrusted && detail > 0) globalThis.clicks += 1; }, true)`);
    await view.button('New table').last().click();
    await view.dialog().getByLabel('Name of the table').fill('todos');
    await view.button('Run SQL').click();
    await page.getByRole('heading', { name: 'todos', level: 1 }).waitFor();
    await view.button('Insert row').click();
    await view.dialog().getByLabel('title', { exact: true }).fill('buy milk');
    await view.button('Apply').click();
    await view.saveChanges();
    await view.cell('buy milk').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await page.evaluate('globalThis.clicks')).toBeLessThanOrEqual(8);
    const policies = await empty.sql(`select policyname from pg_policies where tablename = 'todos'`);
    expect(policies).toEqual([{ policyname: 'users manage their own rows' }]);
  });

  it('loads at most 400 kB before the first grid, over plain HTTP', async () => {
    const fresh = await browser.newPage();
    const first = new ConsolePage(fresh, plinth.baseUrl);
    await first.signIn(`projects/${project.slug}/tables?table=customers`);
    await first.cell('ada@example.com').waitFor();
    const sizes = await fresh.evaluate<number[]>(`performance.getEntriesByType('resource')
      .filter(({ name }) => name.includes('/console/')).map(({ encodedBodySize }) => encodedBodySize)`);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    process.stdout.write(`First grid: ${sizes.length} files, ${total} bytes\n`);
    expect(sizes.length).toBeGreaterThan(3);
    expect(total).toBeLessThan(400_000);
    await fresh.close();
  });

  it('says that a value is required, and that a table is missing next to others', async () => {
    await view.open(project.slug, 'tables?table=customers');
    await view.button('Insert row').click();
    const email = view.dialog().getByLabel('email', { exact: true });
    expect(await email.getAttribute('placeholder')).toBe('Required');
    expect(await view.dialog().getByLabel('note', { exact: true }).getAttribute('placeholder')).toBe('null');
    await page.keyboard.press('Escape');
    await view.open(project.slug, 'tables?table=nowhere');
    await page.getByRole('heading', { name: 'No table nowhere in the schema public' }).waitFor();
  });

  it('keeps a value on its line, and shows its line breaks and direction marks', async () => {
    await view.open(project.slug, 'tables?table=customers');
    await view.cell('two⏎lines⟨U+202E⟩').waitFor();
    await view.open(project.slug, 'sql');
    await page.locator('.cm-content').fill('select note from customers where id = 1');
    await view.button('Run').click();
    await page.getByRole('cell').getByText('two⏎lines⟨U+202E⟩').waitFor();
  });

  it('offers policies of an owner for tables that have an owner column only', async () => {
    await view.open(project.slug, 'policies?search=tags');
    await page.getByRole('heading', { name: 'tags' }).waitFor();
    await view.button('New policy').click();
    await page.getByRole('menuitem', { name: 'Everyone can read' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Users manage their own rows' }).count()).toBe(0);
    await page.keyboard.press('Escape');
  });

  it('completes the columns of the tables that a statement names', async () => {
    await view.open(project.slug, 'sql');
    const editor = page.locator('.cm-content');
    await editor.fill('');
    await page.keyboard.insertText('select * from customers where ema');
    await page.locator('.cm-tooltip-autocomplete').getByText('email', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('asks before SQL loses data, and names what goes', async () => {
    await view.open(project.slug, 'sql');
    const editor = page.locator('.cm-content');
    await editor.fill('delete from customers; drop table tags');
    await view.button('Run').click();
    await view.dialog().getByText('Deletes all rows of customers').waitFor();
    await view.dialog().getByText('Drops table tags').waitFor();
    await view.expectAccessible();
    await view.dialog().getByRole('button', { name: 'Cancel', exact: true }).click();
    await view.dialog().waitFor({ state: 'detached' });
    expect([await count('customers'), await count('tags')]).toEqual([2, 0]);
    await editor.fill('delete from customers where id = 2');
    await view.button('Run').click();
    await eventually(async () => expect(await count('customers')).toBe(1), SHOWN_MS);
    await editor.fill('drop table tags');
    await view.button('Run').click();
    await view.dialog().getByRole('button', { name: 'Run', exact: true }).click();
    await eventually(
      async () => expect(await project.sql("select to_regclass('tags') as gone")).toEqual([{ gone: null }]),
      SHOWN_MS,
    );
  });

  it('shows code that works: the document for types comes with the key', async () => {
    await view.open(project.slug, '');
    await page.getByRole('tab', { name: 'supabase-js' }).click();
    await page.getByRole('tabpanel').getByText('supabase.auth and supabase.storage').waitFor();
    await page.getByRole('tab', { name: 'openapi-fetch' }).click();
    await view.button('Fill in the anon key').click();
    const panel = page.getByRole('tabpanel');
    await panel.getByText(project.anonKey).waitFor();
    const [line] = /curl [^>]*/.exec((await panel.textContent()) ?? '') ?? [];
    const { stdout } = await promisify(execFile)('sh', ['-c', line!.replaceAll('\n// ', ' ')]);
    expect(JSON.parse(stdout).paths).toHaveProperty(`/p/${project.slug}/rest/v1/customers`);
  });
});
