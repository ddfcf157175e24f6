/** The SQL editor in a real browser: tabs, names, formatting, error positions, parameters, plans and exports. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, type TestBrowser } from '../../support/browser';
import { ConsolePage, startConsole, stopConsole } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import type { TestPlinth } from '../../support/plinth';
import { newPerson, STAFF_PASSWORD } from '../../support/staff';
import type { TestProject } from '../../support/test-project';

const PHONE = { width: 390, height: 800 };
const WIDE = { width: 1360, height: 850 };
const SHOWN_MS = 10_000;
/** Types a text in an empty editor. */
const HINT = 'select * from …';
const HOSTILE_VALUE = `'; drop table "Orders"; --`;

let plinth: TestPlinth;
let browser: TestBrowser;
let page: Page;
let view: ConsolePage;
let project: TestProject;
const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the SQL editor', () => {
  jest.setTimeout(BROWSER_START_MS * 2);
  beforeAll(async () => {
    ({ plinth, browser, page, view } = await startConsole());
    project = await plinth.createProject({ name: 'Editor' });
    await project.sql(`create table "Orders" (id int primary key, "order" text, note text);
      insert into "Orders" select i, 'o' || i, 'n' from generate_series(1, 500) i; analyze "Orders"`);
    page.setDefaultTimeout(10_000);
    await page.setViewportSize(WIDE);
    await view.signIn();
    await view.open(project.slug, 'sql');
    await editor().waitFor();
  }, BROWSER_START_MS);
  afterAll(() => stopConsole({ plinth, browser }));

  it('quotes names from the tree if necessary, and formats the text', async () => {
    await editor().fill('select  from where id = 3');
    await editor().press('Control+Home');
    for (let step = 0; step < 7; step++) await page.keyboard.press('ArrowRight');
    await page.getByLabel('Search tables and columns').fill('note');
    await view.button('Orders').press('Enter');
    await view.expectAccessible();
    await view.button('order text').click();
    for (let step = 0; step < 6; step++) await page.keyboard.press('ArrowRight');
    await view.button('Insert Orders').click();
    await view.button('Format SQL').click();
    await expectText('select\n  "order"\nfrom\n  "Orders"\nwhere\n  id = 3');
    await view.button('Run SQL').click();
    await page.getByRole('cell', { name: 'o3', exact: true }).waitFor();
    await editor().fill(`select '`);
    await view.button('Format SQL').click();
    await page.getByText('This text cannot be formatted. It stays as it is.').waitFor();
    await expectText(`select '`);
    await page.getByLabel('Search tables and columns').fill('');
    // Tab indents, unless Escape comes before it.
    expect(await editor().getAttribute('aria-description')).toContain('Escape and then Tab');
    await editor().press('Escape');
    await page.keyboard.press('Tab');
    expect(await editor().evaluate((node) => node === node.ownerDocument.activeElement)).toBe(false);
  });

  it('underlines the position of an error, in a selection and after surrogate pairs, until the text changes', async () => {
    const mark = page.locator('.cm-lintRange-error');
    // The mark appears before the run has ended, and the next run is ignored until then.
    const expectMark = async (): Promise<void> => {
      await mark.waitFor();
      expect(await mark.textContent()).toBe('nowhere');
      await view.button('Explain').and(page.locator(':enabled')).waitFor();
    };
    const edit = async (): Promise<void> => {
      await editor().press('Control+End');
      await page.keyboard.type(' ');
      await mark.waitFor({ state: 'detached' });
    };
    await editor().fill(`select 1;\n\n  select '😀😀', nowhere`);
    await view.button('Run SQL').click();
    await page.getByText('Line 3, column').waitFor();
    await expectMark();
    await edit();
    // The second line of the selection is the third of the text.
    await editor().press('Control+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+Shift+End');
    await page.keyboard.press('Control+Enter');
    await expectMark();
    await edit();
    await view.button('Explain').click();
    await expectMark();
    await view.expectAccessible();
  });

  it('asks for parameters and sends them separately from the SQL, also for a plan with timing', async () => {
    await editor().fill(`select id, :text::text as said from "Orders" where id < $1 and note = :n -- :not`);
    await page.keyboard.press('Control+Enter');
    await view.dialog().getByLabel(':text', { exact: true }).fill(HOSTILE_VALUE);
    await view.dialog().getByLabel('$1', { exact: true }).fill('3');
    await view.dialog().getByLabel(':n', { exact: true }).fill('n');
    expect(await view.dialog().getByRole('textbox').count()).toBe(3);
    await view.expectAccessible();
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: HOSTILE_VALUE }).first().waitFor();
    expect(await page.getByRole('cell', { name: HOSTILE_VALUE }).count()).toBe(2);
    // The values of the last run are offered again.
    await view.button('Explain analyze').click();
    expect(await view.dialog().getByLabel('$1', { exact: true }).inputValue()).toBe('3');
    await view.dialog().getByLabel(':text is null').check();
    await view.dialog().getByRole('button', { name: 'Explain analyze' }).click();
    await page.getByText(/^Planning [\d.]+ ms · execution [\d.]+ ms$/).waitFor();
    await page
      .getByText('Index Scan · Orders · Orders_pkey')
      .or(page.getByText(/Scan · Orders/))
      .first()
      .waitFor();
    await view.expectAccessible();
    await page.getByText('Table', { exact: true }).click();
    await page.getByRole('columnheader', { name: 'QUERY PLAN' }).waitFor();
    await view.button('Explain').click();
    await view.dialog().getByRole('button', { name: 'Explain', exact: true }).click();
    await page
      .getByText(/Scan · Orders/)
      .first()
      .waitFor();
    await editor().fill('explain (format json) select 1');
    await view.button('Run SQL').click();
    await page.getByText('Result', { exact: true }).waitFor();
  });

  it('saves a result as JSON and CSV', async () => {
    await editor().fill(`select 9007199254740993 as big, 'a,b' as text, null as nothing`);
    await view.button('Run SQL').click();
    await page.getByRole('cell', { name: '9007199254740993' }).waitFor();
    const saved = async (item: string): Promise<string> => {
      await view.button('Export result').click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: item, exact: true }).click(),
      ]);
      return readFileSync(await download.path(), 'utf8');
    };
    expect(JSON.parse(await saved('Export JSON'))).toEqual([
      { big: '9007199254740993', text: 'a,b', nothing: null },
    ]);
    expect(await saved('Export CSV')).toBe('big,text,nothing\r\n9007199254740993,"a,b",\r\n');
  });

  it('keeps tabs with their results, also across a reload, and opens saved queries in tabs with their names', async () => {
    await view.button('New tab').click();
    await expectText('');
    await editor().fill('select 77 as second');
    await view.button('Run SQL').click();
    await page.getByRole('cell', { name: '77' }).waitFor();
    await view.button('Queries').click();
    await page.getByLabel('Save the text of the editor as').fill('seventy');
    await view.dialog().getByRole('button', { name: 'Save query' }).click();
    await view
      .dialog()
      .getByRole('button', { name: /^seventy/ })
      .waitFor();
    await page.keyboard.press('Escape');
    await tab(/^select 9007/).click();
    await page.getByRole('cell', { name: '9007199254740993' }).waitFor();
    await view.button('Queries').click();
    await view
      .dialog()
      .getByRole('button', { name: /^seventy/ })
      .click();
    await tab('seventy').and(page.locator('[aria-selected=true]')).waitFor();
    expect(await tab(/./).count()).toBe(3);
    await page.reload();
    await view.signIn(`projects/${project.slug}/sql`);
    await tab('seventy').waitFor();
    await expectText('select 77 as second');
    expect(await tab(/./).allTextContents()).toEqual([
      'select 9007199254740993 ',
      'select 77 as second',
      'seventy',
    ]);
    await tab('seventy').press('Delete');
    await tab(/^select 77/)
      .and(page.locator('[aria-selected=true]'))
      .waitFor();
    await view.button('Close tab').click();
    await view.button('Close tab').click();
    await expectText('');
    expect(await tab(/./).allTextContents()).toEqual(['New query']);
    // A link to SQL opens a tab, and the same link opens the same tab.
    for (const path of ['sql?query=select+5', 'tables', 'sql?query=select+5'])
      await view.open(project.slug, path);
    await expectText('select 5');
    expect(await tab(/./).allTextContents()).toEqual(['select 5']);
  });

  it('is usable in dark mode, on a phone, in German, and without the right to run SQL', async () => {
    await view.button('Dark scheme').click();
    await view.expectAccessible();
    await page.setViewportSize(PHONE);
    await view.expectAccessible();
    expect(await view.overflowing()).toEqual([]);
    await view.button('Tables').click();
    await view.dialog().getByRole('button', { name: 'Insert Orders' }).click();
    await view.dialog().waitFor({ state: 'detached' });
    await expectText('"Orders"select 5');
    await page.setViewportSize(WIDE);
    await view.button('Light scheme').click();
    const viewer = await newPerson(plinth, null, [{ id: project.id, role: 'viewer' }]);
    const other = await browser.newPage();
    const theirs = new ConsolePage(other, plinth.baseUrl);
    await other.goto(`${plinth.baseUrl}/console/projects/${project.slug}/sql`);
    await other.getByLabel('E-mail').fill(viewer.email);
    await other.getByLabel('Password', { exact: true }).fill(STAFF_PASSWORD);
    await theirs.button('Sign in').click();
    await other.getByText('Your role may not run SQL in this project.').waitFor();
    expect(await theirs.button('Run SQL').isDisabled()).toBe(true);
    // The tabs of another person are not shown.
    expect(await other.getByRole('tab').allTextContents()).toEqual(['New query']);
    await theirs.expectAccessible();
    await other.close();
  });
});

const editor = () => page.locator('.cm-content:visible');

const tab = (name: string | RegExp) =>
  page.getByRole('tablist', { name: 'Open queries' }).getByRole('tab', { name });

const expectText = (text: string): Promise<void> =>
  eventually(async () => {
    const lines = await editor().locator('.cm-line').allTextContents();
    expect(lines.join('\n')).toBe(text === '' ? HINT : text);
  }, SHOWN_MS);
