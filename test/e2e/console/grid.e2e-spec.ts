/** The grid of rows in a real browser: its contents, columns, the keyboard, ranges of cells, and live rows. */
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, type TestBrowser } from '../../support/browser';
import { ConsolePage, startConsole, stopConsole } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import type { TestPlinth } from '../../support/plinth';
import { newPerson, STAFF_PASSWORD } from '../../support/staff';
import type { TestProject } from '../../support/test-project';

const PHONE = { width: 390, height: 800 };
const WIDE = { width: 1360, height: 850 };

let plinth: TestPlinth;
let browser: TestBrowser;
let page: Page;
let view: ConsolePage;
let project: TestProject;
const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the grid', () => {
  jest.setTimeout(BROWSER_START_MS * 2);
  beforeAll(async () => {
    ({ plinth, browser, page, view } = await startConsole());
    project = await plinth.createProject({ name: 'Grid' });
    await project.sql(`create type state as enum ('open', 'sent');
      create table orders (id int primary key, title text, total numeric, paid boolean not null default false, state state,
        at timestamptz, code int not null default 1);
      insert into orders select i, 'order ' || i, i * 10, i % 2 = 0, 'sent', '2026-03-01 10:39:12.5+00' from generate_series(1, 30) i`);
    await page.setViewportSize(WIDE);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await view.signIn();
    await view.open(project.slug, 'tables?table=orders');
    await view.cell('order 1').waitFor();
  }, BROWSER_START_MS);
  afterAll(() => stopConsole({ plinth, browser }));

  it('shows dense rows, boxes, chips and short times, in both schemes, on a phone, and in German', async () => {
    expect(
      await view
        .rows()
        .first()
        .evaluate((row) => row.getBoundingClientRect().height),
    ).toBe(28);
    const time = view.cell('2026-03-01 10:39').locator('span');
    expect([await time.textContent(), await time.getAttribute('title')]).toEqual([
      '2026-03-01 10:39',
      '2026-03-01 10:39:12.5+00',
    ]);
    expect(await page.getByRole('checkbox', { name: 'paid' }).nth(1).isChecked()).toBe(true);
    expect(await view.cell('sent').locator('[data-hue="1"]').count()).toBe(1);
    await view.expectAccessible();
    await view.button('Dark scheme').click();
    await openMenu('title');
    await view.expectAccessible();
    await page.keyboard.press('Escape');
    await page.setViewportSize(PHONE);
    await view.expectAccessible();
    expect(await view.overflowing()).toEqual([]);
    await page.setViewportSize(WIDE);
    await view.button('Light scheme').click();
    await view.button('Language').click();
    await page.getByRole('menuitem', { name: 'Deutsch' }).click();
    await view.button('Menü der Spalte title').click();
    await page.getByRole('menuitem', { name: 'Links anheften' }).waitFor();
    await view.expectAccessible();
    await page.keyboard.press('Escape');
    await view.button('Sprache').click();
    await page.getByRole('menuitem', { name: 'English' }).click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await view.button('Insert row').waitFor();
  });

  it('pins, hides, widens and sorts a column by the keyboard, and keeps that', async () => {
    await page.getByText('order 1', { exact: true }).click();
    await menuItem('Pin to the left');
    expect((await heads()).slice(0, 2)).toEqual(['title', 'id']);
    const width = (): Promise<number> =>
      page.locator('[data-head="0"]').evaluate((head) => head.getBoundingClientRect().width);
    const before = await width();
    await page.keyboard.press('Home');
    await menuItem('Widen column');
    await page.keyboard.press('Escape');
    expect(await width()).toBe(before + 40);
    await page.keyboard.press('ArrowRight');
    await menuItem('Hide column');
    expect(await heads()).not.toContain('id');
    await menuItem('Sort descending');
    await page.locator('[aria-sort=descending]').waitFor();
    await view.open(project.slug, 'keys');
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await view.open(project.slug, 'tables?table=orders');
    await view.cell('order 1').waitFor();
    expect((await heads()).slice(0, 2)).toEqual(['title', 'total']);
    await view.button('Hidden: 1').click();
    await page.getByRole('menuitem', { name: 'Show all columns' }).click();
    await page.getByText('order 1', { exact: true }).click();
    await menuItem('Unpin column');
    expect((await heads()).slice(0, 2)).toEqual(['id', 'title']);
  });

  it('types, moves, extends, copies, pastes, fills and clears like a spreadsheet, each in one step', async () => {
    await page.getByText('order 1', { exact: true }).click();
    await keys('x', 'y', 'Enter', 'z', 'Tab', '7', 'Enter');
    await eventually(async () => expect(await pendingOf(1, 2)).toEqual(['xy', '10', 'z', '7']), 20_000);
    // The cursor is below the last cell. A range of two by two is copied to the rows below.
    await keys('ArrowUp', 'ArrowUp', 'ArrowLeft', 'Shift+ArrowDown', 'Shift+ArrowRight');
    expect(await page.locator('[data-range]').count()).toBe(4);
    await keys('Control+c', 'ArrowDown', 'ArrowDown', 'Control+v');
    await eventually(async () => expect(await pendingOf(3, 4)).toEqual(['xy', '10', 'z', '7']), 20_000);
    await keys('Control+z');
    expect(await pendingOf(3, 4)).toEqual(['order 3', '30', 'order 4', '40']);
    // A spreadsheet writes tabs. One cell fills a range; the console reports cells outside the grid.
    await paste('a\t1\r\n"b ""q"""\t2\r\n');
    expect(await pendingOf(3, 4)).toEqual(['a', '1', 'b "q"', '2']);
    await keys('Shift+ArrowDown');
    await paste('same');
    expect(await pendingOf(3, 4)).toEqual(['same', '1', 'same', '2']);
    await keys('Control+d', 'Delete');
    expect(await pendingOf(3, 4)).toEqual(['null', '1', 'null', '2']);
    await keys('Control+End');
    await paste('5\t6\n7\t8');
    await page.getByText('3 cells could not be set').waitFor();
    await keys('Control+Home', 'ArrowRight', 'ArrowRight', 'ArrowRight');
    await page.getByRole('checkbox', { name: 'paid' }).first().click();
    await view.expectAccessible();
    await view.saveChanges();
    await eventually(async () => {
      expect(
        await project.sql(
          'select id, title, total::int, paid, code from orders where id in (1, 2, 3, 4, 30) order by 1',
        ),
      ).toEqual([
        { id: 1, title: 'xy', total: 10, paid: true, code: 1 },
        { id: 2, title: 'z', total: 7, paid: true, code: 1 },
        { id: 3, title: null, total: 1, paid: false, code: 1 },
        { id: 4, title: null, total: 2, paid: true, code: 1 },
        { id: 30, title: 'order 30', total: 300, paid: true, code: 5 },
      ]);
    }, 20_000);
  });

  it('keeps the typed value when another cell is clicked or the row scrolls out of view', async () => {
    await page.getByText('order 6', { exact: true }).dblclick();
    await page.keyboard.type(' late');
    await page.getByText('order 7', { exact: true }).click();
    await view.cell('order 6 late').waitFor();
    await page.setViewportSize({ ...WIDE, height: 400 });
    await page.getByText('order 5', { exact: true }).dblclick();
    await page.keyboard.type(' scrolled');
    await page.getByRole('grid').evaluate((grid) => grid.scrollTo(0, grid.scrollHeight));
    await page.getByText('Unsaved changes: 2').waitFor();
    await page.setViewportSize(WIDE);
    await view.button('Discard changes').click();
  });

  it('adds and edits columns from the header', async () => {
    await view.button('Add column').click();
    await view.dialog().getByLabel('Name', { exact: true }).fill('extra');
    await view.dialog().getByRole('button', { name: 'Add column' }).click();
    await eventually(async () => expect(await heads()).toContain('extra'), 20_000);
    await openMenu('extra');
    await page.getByRole('menuitem', { name: 'Edit column' }).click();
    await view.dialog().getByLabel('Comment').waitFor();
    await page.keyboard.press('Escape');
  });

  it('follows the table, marks changed cells, and loses nothing of an edit', async () => {
    await page.getByRole('switch', { name: 'Live' }).click();
    await page.getByText('The changes of orders are not sent yet').waitFor();
    await view.expectAccessible();
    await view.button('Make table live').click();
    await page.locator('[data-state=live]').waitFor();
    await project.sql(
      `insert into orders (id, title) values (0, 'fresh'); update orders set total = 99 where id = 8`,
    );
    await view.cell('fresh').waitFor();
    await eventually(async () => expect(await marked()).toEqual(expect.arrayContaining(['fresh'])), 20_000);
    await view.expectAccessible();
    await page.locator('[data-live]').first().waitFor({ state: 'detached' });

    await page.getByText('order 8', { exact: true }).dblclick();
    await page.keyboard.type(' mine');
    await project.sql(
      `update orders set title = 'theirs', total = 100 where id = 8; delete from orders where id = 0`,
    );
    await view.cell('fresh').waitFor({ state: 'detached' });
    await eventually(
      async () => expect(await view.rows().filter({ hasText: '100' }).count()).toBeGreaterThan(0),
      20_000,
    );
    expect(await page.getByLabel('title', { exact: true }).inputValue()).toBe('order 8 mine');
    await keys('Enter');
    await view.button('Save changes').click();
    await page.getByText(/^id = 8: somebody else changed or deleted/).waitFor();
    await view.button('Discard changes').click();
    await view.cell('theirs').waitFor();

    await page.getByText('order 9', { exact: true }).dblclick();
    await page.keyboard.type(' kept');
    await project.sql('delete from orders where id = 9');
    await page.getByText('Unsaved changes: 1').waitFor();
    await view.button('Save changes').click();
    await page.getByText(/^id = 9: somebody else changed or deleted/).waitFor();
    await view.button('Discard changes').click();
    await page.getByRole('switch', { name: 'Live' }).click();
    await page.locator('[data-state=off]').waitFor();
  });

  it('offers a viewer only actions that read', async () => {
    const { email } = await newPerson(plinth, null, [{ id: project.id, role: 'viewer' }]);
    const other = await browser.newPage();
    const theirs = new ConsolePage(other, plinth.baseUrl);
    await other.goto(`${plinth.baseUrl}/console/projects/${project.slug}/tables?table=orders`);
    await other.getByLabel('E-mail').fill(email);
    await other.getByLabel('Password', { exact: true }).fill(STAFF_PASSWORD);
    await theirs.button('Sign in').click();
    await theirs.cell('order 10').waitFor();
    const box = other.getByRole('checkbox', { name: 'paid' }).first();
    expect(await box.getAttribute('aria-readonly')).toBe('true');
    await theirs.cell('order 10').click();
    await other.keyboard.press('Delete');
    await other.getByText(/cell could not be set/).waitFor();
    expect(await theirs.button('Add column').count()).toBe(0);
    await other.getByRole('grid').press('Alt+ArrowDown');
    await other.getByRole('menuitem', { name: 'Sort ascending' }).waitFor();
    expect(await other.getByRole('menuitem', { name: 'Edit column' }).count()).toBe(0);
    await theirs.expectAccessible();
    await other.keyboard.press('Escape');
    await project.sql('alter publication supabase_realtime drop table orders');
    await other.getByRole('switch', { name: 'Live' }).click();
    await other.getByText('Your role may not change this.').waitFor();
    expect(await theirs.button('Make table live').count()).toBe(0);
    await theirs.expectAccessible();
    await other.close();
  });
});

const keys = async (...names: string[]): Promise<void> => {
  for (const name of names) await page.keyboard.press(name);
};

async function paste(text: string): Promise<void> {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await keys('Control+v');
}

/** Titles and totals of two rows, as the grid shows them. */
async function pendingOf(...rows: readonly number[]): Promise<(string | null)[]> {
  const texts = rows.map((row) =>
    page.locator(`[aria-rowindex="${row + 1}"] :is([data-column="1"], [data-column="2"])`).allTextContents(),
  );
  return (await Promise.all(texts)).flat();
}

const heads = (): Promise<(string | null)[]> =>
  page.locator('[data-head] button:first-child > span > span:first-child').allTextContents();

const marked = (): Promise<string[]> => page.locator('[data-live]').allTextContents();

const openMenu = (column: string): Promise<void> => view.button(`Menu of the column ${column}`).click();

/** With the keyboard, chooses an item in the menu of the cursor's column. */
async function menuItem(name: string): Promise<void> {
  await page.getByRole('grid').press('Alt+ArrowDown');
  const item = page.getByRole('menuitem', { name, exact: true });
  await item.waitFor();
  await item.press('Enter');
}
