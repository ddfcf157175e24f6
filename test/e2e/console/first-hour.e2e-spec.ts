/** The first steps in the console, and confirmations before data is lost, in a real browser against a real server. */
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
      create table tags (name text primary key);
      create table seen_closed (id int);
      create table seen_shared (id int); create policy p on seen_shared to anon using (true);
      create table seen_open (id int); alter table seen_open disable row level security`);
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
    await view.button('Create table').click();
    await page.getByRole('heading', { name: 'todos', level: 1 }).waitFor();
    await view.button('Insert row').click();
    await view.dialog().getByLabel('title', { exact: true }).fill('buy milk');
    await view.button('Apply to the grid').click();
    await view.saveChanges();
    await view.cell('buy milk').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await page.evaluate('globalThis.clicks')).toBeLessThanOrEqual(8);
    const policies = await empty.sql(`select policyname from pg_policies where tablename = 'todos'`);
    expect(policies).toEqual([{ policyname: 'users manage their own rows' }]);
  });

  it('loads at most 400 kB over plain HTTP before the first grid', async () => {
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
    const loaded = `[...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family)`;
    expect(await fresh.evaluate<string[]>(loaded)).toEqual([expect.stringMatching(/^"?Inter/)]);
    await fresh.close();
  });

  it('says that a value is required, and that a table is missing next to others', async () => {
    await view.open(project.slug, 'tables?table=customers');
    await view.button('Insert row').click();
    const email = view.dialog().getByLabel('email', { exact: true });
    expect(await email.getAttribute('placeholder')).toBe('Required');
    expect(await view.dialog().getByLabel('note', { exact: true }).getAttribute('placeholder')).toBe('null');
    await view.expectPinned(view.button('Apply to the grid'));
    await page.keyboard.press('Escape');
    await view.open(project.slug, 'tables?table=nowhere');
    await page.getByRole('heading', { name: 'No table nowhere in the schema public' }).waitFor();
  });

  it('keeps a value on its line, and shows its line breaks and direction marks', async () => {
    await view.open(project.slug, 'tables?table=customers');
    await view.cell('two⏎lines⟨U+202E⟩').waitFor();
    await view.open(project.slug, 'sql');
    await page.locator('.cm-content').fill('select note from customers where id = 1');
    await view.button('Run SQL').click();
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

  it('asks before SQL loses data, and lists what is lost', async () => {
    await view.open(project.slug, 'sql');
    const editor = page.locator('.cm-content');
    await editor.fill('delete from customers; drop table tags');
    await view.button('Run SQL').click();
    await view.dialog().getByText('Deletes all rows of customers').waitFor();
    await view.dialog().getByText('Drops table tags').waitFor();
    await view.expectAccessible();
    await view.dialog().getByRole('button', { name: 'Cancel', exact: true }).click();
    await view.dialog().waitFor({ state: 'detached' });
    expect([await count('customers'), await count('tags')]).toEqual([2, 0]);
    await editor.fill('delete from customers where id = 2');
    await view.button('Run SQL').click();
    await eventually(async () => expect(await count('customers')).toBe(1), SHOWN_MS);
    await editor.fill('drop table tags');
    await view.button('Run SQL').click();
    await view.dialog().getByRole('button', { name: 'Run SQL' }).click();
    await eventually(
      async () => expect(await project.sql("select to_regclass('tags') as gone")).toEqual([{ gone: null }]),
      SHOWN_MS,
    );
  });

  it('connects an application: code with the key filled in works', async () => {
    await view.open(project.slug, 'tables');
    await view.button('Connect').click();
    const dialog = view.dialog();
    expect(await dialog.getByLabel('anon', { exact: true }).inputValue()).toBe(project.anonKey);
    await dialog.getByLabel('Project URL').getByText(`${plinth.baseUrl}/p/${project.slug}`).waitFor();
    await view.expectAccessible();
    const panel = dialog.getByRole('tabpanel');
    const codeOf = async (name: string): Promise<string> => {
      await dialog.getByRole('tab', { name }).click();
      await panel.getByLabel(name, { exact: true }).waitFor();
      return (await panel.locator('pre').textContent()) ?? '';
    };
    const rows = async (program: string, args: string[]): Promise<object[]> => {
      const { stdout } = await promisify(execFile)(program, args);
      return JSON.parse(stdout.replaceAll("'", '"').replaceAll('None', 'null')) as object[];
    };
    await project.sql('create policy everyone on customers for select using (true)');
    expect(await rows('sh', ['-c', await codeOf('curl')])).not.toEqual([]);
    if (await has('python3')) expect(await rows('python3', ['-c', await codeOf('Python')])).not.toEqual([]);
    for (const name of ['supabase-js', 'openapi-fetch', 'Dart'])
      expect([name, await codeOf(name)]).toEqual([name, expect.stringContaining(project.anonKey)]);
    const [line] = /curl [^>]*/.exec(await codeOf('openapi-fetch')) ?? [];
    const { stdout } = await promisify(execFile)('sh', ['-c', line!.replaceAll('\n// ', ' ')]);
    expect(JSON.parse(stdout).paths).toHaveProperty(`/p/${project.slug}/rest/v1/customers`);
    await dialog.getByRole('tab', { name: 'psql' }).click();
    await view.button('Show the database URL').click();
    await panel.getByText(/^psql 'postgres:\/\/plinth_.*@/).waitFor();
    await page.keyboard.press('Escape');
  });

  it('shows first steps instead of zeros, each until it is done', async () => {
    const fresh = await plinth.createProject({ name: 'Fresh' });
    const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await view.open(fresh.slug, '');
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    expect(await page.getByText('Requests (24 h)').count()).toBe(0);
    await view.expectAccessible();
    await step('Create a user').getByRole('link', { name: 'Create user' }).waitFor();
    await step('Create a table').getByRole('link', { name: 'Create table' }).click();
    await view.dialog().getByLabel('Name of the table').fill('todos');
    await view.button('Create table').click();
    await page.getByText('Table todos created').waitFor();
    await view.open(fresh.slug, '');
    await step('Create a table').getByText('(Done)').waitFor({ state: 'attached' });
    await page.getByText('Requests (24 h)').waitFor();
    await fresh.service.post('/rest/v1/todos', { title: 'x', user_id: null }).catch(() => undefined);
    await fresh.sql(`alter table todos alter user_id drop not null; insert into todos (title) values ('x')`);
    await fresh.signUp('ada@example.com');
    await view.open(fresh.slug, 'users');
    await view.button('New user').click();
    await view.dialog().getByText('Invite by mail').click();
    await view.dialog().getByLabel('E-mail', { exact: true }).fill('grace@example.com');
    await view.dialog().getByRole('button', { name: 'Send invitation' }).click();
    await page.getByText(/^No mail server is set up: the invitation for grace@example.com/).waitFor();
    await view.open(fresh.slug, '');
    await page.getByText('Requests (24 h)').waitFor();
    await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached' });
  });

  it('offers no backup that would be refused, and explains what is missing', async () => {
    await view.open(project.slug, 'backups');
    await page.getByText('Scheduled backups are not set up').waitFor();
    expect(await view.button('Back up now').isDisabled()).toBe(true);
    await view.expectAccessible();
  });

  it('groups the screens, and marks the open one', async () => {
    await view.open(project.slug, 'inside?view=queries');
    const navigation = page.getByRole('navigation', { name: 'Navigation' });
    for (const [group, names] of Object.entries({
      Data: ['Tables', 'SQL', 'Schema', 'Policies', 'Realtime'],
      Auth: ['Users', 'Sign-in', 'Mail templates'],
      Observe: ['Logs', 'Metrics', 'Advisor'],
      Project: ['Keys', 'Webhooks', 'API', 'Backups', 'Team', 'Settings'],
    }))
      expect(
        await navigation.getByRole('group', { name: group }).getByRole('link').allTextContents(),
      ).toEqual(names);
    expect(await navigation.locator('a[data-active]').allTextContents()).toEqual(['Metrics']);
    await navigation.getByRole('link', { name: 'Logs' }).click();
    await page.waitForURL(/view=history/);
    await eventually(
      async () => expect(await navigation.locator('a[data-active]').allTextContents()).toEqual(['Logs']),
      SHOWN_MS,
    );
  });

  it('lists policies in a table with their risk', async () => {
    await view.open(project.slug, 'policies?search=seen_');
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('heading', { name }) });
    await row('seen_closed').getByText('No access for clients').waitFor();
    await row('seen_shared').getByText('Everyone can write').waitFor();
    await row('seen_open').getByText('Open to all clients').waitFor();
    await row('seen_shared').getByRole('button', { name: 'seen_shared' }).click();
    await page.locator('[data-policy="p"]').waitFor();
    await view.expectAccessible();
  });

  it('explains findings of the advisor in German', async () => {
    await view.open(project.slug, 'advisor');
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: 'Deutsch' }).click();
    const finding = page.getByRole('article', { name: 'public.seen_open' });
    await finding.getByText('Row-Level Security ist aus, und Rollen von Clients haben Rechte').waitFor();
    await page.getByRole('button', { name: 'Sprache' }).click();
    await page.getByRole('menuitem', { name: 'English' }).click();
    await finding.getByText('Row-level security is off, and client roles have privileges').waitFor();
  });
});

const has = (program: string): Promise<boolean> =>
  promisify(execFile)(program, ['--version']).then(
    () => true,
    () => false,
  );
