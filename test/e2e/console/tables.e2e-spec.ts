/**
 * Tables, policies and SQL of the console in a real browser: a first table, a million rows, structure, checks of
 * policies.
 */
import { readFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, type TestBrowser } from '../../support/browser';
import { type ConsolePage, startConsole, stopConsole } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import { IN_SOAK } from '../../support/extent';
import type { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

const HOSTILE = `<script>globalThis.wasHacked=1</script>"'><img src=x onerror=globalThis.wasHacked=1> \u202eabc`;
/** PostgreSQL cuts names at 63 bytes. */
const HOSTILE_NAME = `<script>globalThis.wasHacked=1</script>"' \u05e9\u05dc\u05d5\u05dd`;
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const ROWS = IN_SOAK ? 1_000_000 : 200_000;

let plinth: TestPlinth;
let browser: TestBrowser;
let page: Page;
let view: ConsolePage;
const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('tables, policies and SQL', () => {
  jest.setTimeout(BROWSER_START_MS);
  beforeAll(async () => {
    ({ plinth, browser, page, view } = await startConsole());
  }, BROWSER_START_MS);
  afterAll(() => stopConsole({ plinth, browser }));

  describe('for a newcomer', () => {
    it('lead from the set-up link to a table that two users see differently in a few clicks', async () => {
      await page.addInitScript(COUNT_CLICKS);
      const began = performance.now();
      const link = await plinth.admin.post('/admin/v1/setup/link');
      const { pathname, hash } = new URL(link.body.link);
      await page.goto(`${plinth.baseUrl}${pathname}${hash}`);
      await page.getByLabel('Name', { exact: true }).fill('Ada');
      await page.getByLabel('E-mail').fill('ada@example.com');
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
      await page.keyboard.press('Enter');

      await view.button('New project').first().click();
      await view.dialog().getByLabel('Name', { exact: true }).fill('Notebook');
      await view.button('Create project').click();
      await page.getByRole('link', { name: 'Tables', exact: true }).click();
      await view.button('New table').last().click();
      await view.dialog().getByLabel('Name of the table').fill('notes');
      await view.button('Create table').click();
      await page.getByRole('heading', { name: 'notes', level: 1 }).waitFor();
      await page.getByRole('heading', { name: 'No rows' }).waitFor();
      await usersOf('Notebook', ['ada', 'grace']);
      await view.button('Refresh').click();
      await view.cell('note of grace').waitFor();
      for (const name of ['ada', 'grace']) {
        await view.button(/^View as/).click();
        await page.getByRole('menuitem', { name: 'A user' }).click();
        await view
          .dialog()
          .getByRole('button', { name: `${name}@example.com` })
          .click();
        await eventuallyShown(async () => expect(await notes()).toEqual([`note of ${name}`]));
        expect(new URL(page.url()).searchParams.get('as')).toMatch(/^user:/);
      }
      const clicks = Number(await page.evaluate(`sessionStorage.getItem('clicks')`));
      process.stdout.write(
        `A newcomer: ${clicks} clicks, ${Math.round((performance.now() - began) / 1000)} s\n`,
      );
      expect(clicks).toBeLessThanOrEqual(14);
      await view.button(/^View as/).click();
      await page.getByRole('menuitem', { name: 'Not signed in (anon)' }).click();
      await page.getByRole('heading', { name: 'No rows' }).waitFor();
    });
  });

  describe('a large table', () => {
    let project: TestProject;
    let devTools: CDPSession;
    beforeAll(async () => {
      project = await plinth.createProject({ name: 'Large' });
      await project.sql(`create table large (id int primary key, label text not null);
        insert into large select i, 'row ' || i from generate_series(1, ${ROWS}) i; analyze large`);
      devTools = await page.context().newCDPSession(page);
      await view.open(project.slug, 'tables?table=large');
      await view.cell('row 1').waitFor();
    }, BROWSER_START_MS);

    it('can be scrolled to the middle, to the end, and back', async () => {
      await page.getByText(IN_SOAK ? '1M rows' : '200K rows').waitFor();
      await scrollToShare(0.5);
      await expectAround(ROWS / 2);
      await scrollToShare(1);
      await view.cell(`row ${ROWS}`).waitFor();
      await expectAround(ROWS - 10);
      await page.mouse.move(700, 400);
      for (let step = 0; step < 12; step++) await page.mouse.wheel(0, -900);
      await eventuallyShown(async () => {
        const ids = await visibleIds();
        expect(ids[0]).toBeLessThan(ROWS - 200);
      });
      await page.getByRole('grid').press('Control+Home');
      await view.cell('row 1').waitFor();
    });

    it('can be sorted by another column, and read after and before a row', async () => {
      await columnHead(1).click();
      await page.locator('[aria-sort=ascending]').waitFor();
      await page.getByLabel('Go to row').fill('250');
      await page.getByLabel('Go to row').press('Enter');
      await eventuallyShown(async () => {
        const labels = (await visibleIds()).map((id) => `row ${id}`);
        expect(labels.length).toBeGreaterThan(5);
        expect(labels).toEqual([...labels].sort());
      });
      // Each click changes the rows that are shown.
      await columnHead(1).click();
      await page.locator('[aria-sort=descending]').waitFor();
      await columnHead(1).click();
      await page.locator('[aria-sort=descending]').waitFor({ state: 'detached' });
    });

    it('does not use more memory for each page that was shown', async () => {
      const seen = async (from: number, to: number): Promise<number> => {
        for (let step = from; step < to; step++) {
          await scrollToShare(step / 50);
          await expectAround((ROWS * step) / 50);
        }
        await devTools.send('HeapProfiler.collectGarbage');
        return (await devTools.send('Runtime.getHeapUsage')).usedSize;
      };
      const few = await seen(1, 5);
      const many = await seen(5, IN_SOAK ? 25 : 10);
      expect(many / few).toBeLessThan(1.5);
      expect(await view.rows().count()).toBeLessThan(100);
    });
  });

  describe('a table', () => {
    let project: TestProject;
    beforeAll(async () => {
      project = await plinth.createProject({ name: 'Work' });
      await project.sql(`
        create table owners (id int primary key, name text not null);
        create table things (id int primary key, title text, amount numeric, raw bytea);
        insert into things select i, 'thing ' || i, i, '\\x00ff' from generate_series(1, 300) i;
        create table imported (id int primary key, title text, amount numeric);
        insert into imported values (1, 'the first', 1);
        create table wide (id int primary key, body text, data jsonb);
        insert into wide
        select i, 'body ' || i || repeat(' x', 500000), jsonb_build_object('n', repeat('y', 1000000))
        from generate_series(1, 30) i;
        create view keyless as select title from things order by id;
        create policy "readable below 10" on things for select to anon, authenticated using (id < 10);
        create policy "not the third" on things as restrictive for select to anon using (id <> 3);
        create policy "fails" on things for update to anon using (1 / (id - 5) > 0)`);
      await view.open(project.slug, 'tables?table=things');
      await view.cell('thing 1').waitFor();
    });

    it('copies and pastes a cell, and does not change bytea values', async () => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByText('thing 1', { exact: true }).click();
      await page.keyboard.press('Control+C');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Control+V');
      await page.getByText('Unsaved changes: 1').waitFor();
      expect(await page.getByText('thing 1', { exact: true }).count()).toBe(2);
      await view.button('Discard changes').click();
      await page.getByRole('gridcell', { name: '\\x00ff' }).first().dblclick();
      await view.dialog().getByLabel('raw', { exact: true }).waitFor();
      expect(await view.dialog().getByLabel('raw', { exact: true }).getAttribute('readonly')).not.toBeNull();
      await page.keyboard.press('Escape');
    });

    it('changes selected rows after Save, and all rows of a filter after their number was typed', async () => {
      await page.getByLabel('Select row').nth(0).check();
      await page.getByLabel('Select row').nth(1).check();
      await view.button('Selected rows: 2').click();
      await page.getByRole('menuitem', { name: 'Change rows' }).click();
      await chooseColumn('title', 'both');
      await view.dialog().getByRole('button', { name: 'Apply to the grid' }).click();
      await view.saveChanges();
      await eventuallyShown(async () => {
        expect(await project.sql("select id from things where title = 'both' order by 1")).toEqual([
          { id: 1 },
          { id: 2 },
        ]);
      });
      const filters = JSON.stringify([{ column: 'id', operator: 'gt', value: '290' }]);
      await view.open(project.slug, `tables?table=things&filters=${encodeURIComponent(filters)}`);
      await view.button('Bulk edit').click();
      await page.getByRole('menuitem', { name: 'Change all filtered rows' }).click();
      await chooseColumn('title', 'late');
      const confirm = view.dialog().getByRole('button', { name: 'Change rows' });
      expect(await confirm.isDisabled()).toBe(true);
      await view.dialog().getByLabel('Type 10 to confirm').fill('10');
      await view.expectAccessible();
      await confirm.click();
      await eventuallyShown(async () => {
        expect(await project.sql("select min(id), count(*)::int from things where title = 'late'")).toEqual([
          { min: 291, count: 10 },
        ]);
      });
    });

    it('imports a file except for the rows that the database refuses, and exports the table', async () => {
      const lines = Array.from({ length: 700 }, (_, at) => `${1_000 + at},"row ${at}",`);
      lines[4] = '1,"the first again",';
      lines[600] = '5000,"no number",x';
      await view.open(project.slug, 'tables?table=imported');
      await view.cell('the first').waitFor();
      await view.button('CSV').click();
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.getByRole('menuitem', { name: 'Import CSV' }).click(),
      ]);
      const buffer = Buffer.from(['id,title,amount', ...lines].join('\n'));
      await chooser.setFiles({ name: 'more.csv', mimeType: 'text/csv', buffer });
      await view.dialog().getByRole('button', { name: 'Import rows' }).click();
      await page.getByText('Rows that were refused: 2').waitFor();
      await page.getByText(/^Line 6: duplicate key/).waitFor();
      await page.getByText(/^Line 602: invalid input syntax for type numeric/).waitFor();
      await view.expectAccessible();
      const refused = await download(() => view.button('Save the refused rows').click());
      expect(refused).toBe('id,title,amount\r\n1,the first again,\r\n5000,no number,x\r\n');
      await view.button('Close').last().click();
      const counted = 'select count(*)::int, count(amount)::int as amounts from imported where id > 1';
      expect(await project.sql(counted)).toEqual([{ count: 698, amounts: 0 }]);
      const filters = JSON.stringify([{ column: 'id', operator: 'gte', value: '1698' }]);
      await view.open(project.slug, `tables?table=imported&filters=${encodeURIComponent(filters)}`);
      await view.cell('row 699').waitFor();
      const exported = (item: string): Promise<string> =>
        download(async () => {
          await view.button('CSV').click();
          await page.getByRole('menuitem', { name: item, exact: true }).click();
        });
      expect((await exported('Export CSV')).trim().split(/\r?\n/)).toEqual([
        'id,title,amount',
        '1698,"row 698",',
        '1699,"row 699",',
      ]);
      // A spreadsheet would run the formula, so the other export turns it into text.
      await project.sql(
        `update imported set title = '=HYPERLINK("http://evil.test")', amount = -1 where id = 1699`,
      );
      expect((await exported('Export CSV')).trim()).toMatch(/,"=HYPERLINK\(""http:\/\/evil\.test""\)",-1$/);
      expect((await exported('Export CSV for spreadsheets')).trim()).toMatch(
        /,"'=HYPERLINK\(""http:\/\/evil\.test""\)",-1$/,
      );
    });

    it('shows the beginnings of long values if a page is too large, and complete values in the row', async () => {
      await view.open(project.slug, 'tables?table=wide');
      await view.cell('body 1 ').dblclick();
      const dialog = view.dialog();
      await dialog.getByText(/^jsonb · [\d.,]+ MB/).waitFor();
      expect(await dialog.getByLabel('body', { exact: true }).textContent()).toMatch(/^body 1 x x x/);
      await page.keyboard.press('Escape');
      await scrollToShare(1);
      await view.cell('body 30 ').waitFor();
    });

    it('reports that a view without a key is read by offset', async () => {
      await view.open(project.slug, 'tables?table=keyless');
      await page.getByText('No primary key').waitFor();
      await scrollToShare(1);
      await view.cell('late').waitFor();
    });

    it('keeps changes when the session ends, and asks before they are lost', async () => {
      await view.open(project.slug, 'tables?table=things');
      await page.getByLabel('Open row').nth(6).click();
      await view.dialog().getByLabel('title', { exact: true }).fill('typed before');
      await page.context().clearCookies();
      await view.button('Check policies for this row').click();
      await page.getByText('Your session has ended').waitFor();
      await page.getByLabel('E-mail').press('Escape');
      await view.expectAccessible();
      await page.getByLabel('E-mail').fill('ada@example.com');
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
      await view.button('Sign in').click();
      await page.getByText('Your session has ended').waitFor({ state: 'detached' });
      await view.button('Close').last().click();
      await view.dialog().getByRole('button', { name: 'Apply to the grid' }).click();
      await view.cell('typed before').waitFor();
      await page.getByRole('link', { name: 'owners' }).click();
      await view.dialog().getByText('Leave without saving?').waitFor();
      await view.button('Cancel').click();
      await view.saveChanges();
      await eventuallyShown(async () =>
        expect(await project.sql('select title from things where id = 7')).toEqual([
          { title: 'typed before' },
        ]),
      );
      await page.getByRole('link', { name: 'owners' }).click();
      await page.getByRole('heading', { name: 'owners', level: 1 }).waitFor();
    });

    it('does not replace what somebody else changed since the row was read, unless asked to', async () => {
      await view.open(project.slug, 'tables?table=things');
      await editCell('thing 8', 'mine');
      await project.sql(`update things set title = 'theirs' where id = 8`);
      await view.button('Save changes').click();
      await page.getByText(/^id = 8: somebody else changed or deleted/).waitFor();
      expect(await project.sql('select title from things where id = 8')).toEqual([{ title: 'theirs' }]);
      await view.expectAccessible();
      await view.button('Save my values anyway').click();
      await page.getByText(/^Unsaved changes: \d+$/).waitFor({ state: 'detached' });
      await eventuallyShown(async () =>
        expect(await project.sql('select title from things where id = 8')).toEqual([{ title: 'mine' }]),
      );
      await editCell('thing 9', 'of a deleted row');
      await project.sql('delete from things where id = 9');
      await view.button('Save changes').click();
      await page.getByText(/^id = 9: somebody else changed or deleted/).waitFor();
      await view.button('Discard changes').click();
    });

    it('changes its columns, keys and indexes by SQL that is shown', async () => {
      await view.open(project.slug, 'tables?table=things&panel=structure');
      await view.button('Actions for amount').click();
      await page.getByRole('menuitem', { name: 'Edit column' }).click();
      await view.dialog().last().getByLabel('Default', { exact: true }).fill('7');
      await view.dialog().last().getByLabel('Required').check();
      await view.dialog().last().getByText('SQL that runs').click();
      await page.getByText('set default 7').waitFor();
      await view.button('Change column').click();
      await eventuallyShown(async () => {
        const [column] = await project.sql(
          `select column_default, is_nullable from information_schema.columns where column_name = 'amount'`,
        );
        expect(column).toEqual({ column_default: '7', is_nullable: 'NO' });
      });
      await view.button('Add index').click();
      await view.dialog().last().getByLabel('Columns').fill('title');
      await page.getByRole('option', { name: 'title' }).click();
      await page.keyboard.press('Escape');
      await view.button('Create index').click();
      await page.getByLabel('things_title_idx', { exact: true }).waitFor();
      await view.expectAccessible();
      await view.button('Change index things_title_idx').click();
      const text = view.dialog().last().getByLabel('Statement that creates it');
      await text.fill((await text.inputValue()).replace('(title)', '(title DESC)'));
      await view.dialog().last().getByLabel('Name', { exact: true }).fill('by_title');
      await view.expectAccessible();
      await view.dialog().last().getByRole('button', { name: 'Change index' }).click();
      await page.getByLabel('by_title', { exact: true }).getByText('title DESC').waitFor();
      expect(await page.getByLabel('things_title_idx', { exact: true }).count()).toBe(0);
      await view.button('Close').first().click();
    });

    it('shows which policies allow a row and which do not', async () => {
      await view.open(project.slug, 'tables?table=things');
      await page.getByLabel('Open row').nth(2).click();
      await view.button('Check policies for this row').click();
      const verdict = view.dialog().last();
      await verdict.getByText('A restrictive policy is not true for this row.').waitFor();
      const readable = verdict.locator('[data-policy="readable below 10"]');
      await readable.getByText('true', { exact: true }).waitFor();
      await verdict.locator('[data-policy="not the third"]').getByText('false', { exact: true }).waitFor();
      await view.expectAccessible();
      await verdict.getByText('DELETE').click();
      await verdict.getByText('No permissive policy applies to this command and role.').waitFor();
      await view.button('Close').last().click();
      await view.button('Close').last().click();
      await page.getByLabel('Open row').nth(4).click();
      await view.button('Check policies for this row').click();
      await view.dialog().last().getByText('UPDATE').click();
      await view.dialog().last().getByText('division by zero').waitFor();
      await view.button('Close').last().click();
      await view.button('Close').last().click();
    });
  });

  describe('policies', () => {
    it('are checked before they are created', async () => {
      const project = await plinth.createProject({ name: 'Checked' });
      await project.sql('create table notes (id int primary key, user_id uuid)');
      await view.open(project.slug, 'policies?search=notes');
      await view.button('New policy').click();
      await page.getByRole('menuitem', { name: 'Users manage their own rows' }).click();
      await view.button('Check policy').click();
      await page.getByText('PostgreSQL accepts this policy.').waitFor();
      await page.getByLabel('using', { exact: true }).fill('missing = 1');
      await view.button('Check policy').click();
      await page.getByText('column "missing" does not exist').waitFor();
      expect(await project.sql("select count(*)::int from pg_policies where tablename = 'notes'")).toEqual([
        { count: 0 },
      ]);
      await view.expectAccessible();
      await view.button('Cancel').click();
    });
  });

  (IN_SOAK ? describe : describe.skip)('five hundred tables with a thousand policies', () => {
    /** Number of elements in the page; elements out of view are not drawn. */
    const drawn = (): Promise<number> => page.locator('#main *').count();
    it('are listed, found, drawn and checked without delay', async () => {
      const project = await plinth.createProject({ name: 'Large' });
      await project.sql(`do $$ begin for i in 1..500 loop
        execute format('create table t%s (id int primary key, parent int %s)', i,
          case when i > 1 then format('references t%s', (i + 1) / 2) end);
        execute format('create policy a on t%s using (parent = 1)', i);
        execute format('create policy b on t%s for insert to anon with check (true)', i);
        end loop; end $$`);
      const took: Record<string, number> = {};
      const timed = async (screen: string, shown: () => Promise<unknown>): Promise<void> => {
        const began = performance.now();
        await view.open(project.slug, screen);
        await shown();
        took[screen] = Math.round(performance.now() - began);
      };
      await timed('policies', () => page.getByRole('heading', { name: 't1', exact: true }).waitFor());
      expect(await drawn()).toBeLessThan(3_000);
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await page.getByRole('heading', { name: 't99', exact: true }).waitFor();
      expect(await drawn()).toBeLessThan(3_000);
      await view.expectAccessible();
      await page.getByLabel('Search tables').fill('t250');
      await page.getByRole('heading', { name: 't250', exact: true }).waitFor();
      await timed('tables', () => page.getByRole('link', { name: 't1', exact: true }).waitFor());
      await timed('schema', () => page.getByRole('button', { name: 't1', exact: true }).waitFor());
      await timed('advisor', () => page.getByRole('article').first().waitFor());
      await view.expectAccessible();
      process.stdout.write(`milliseconds until 500 tables were shown: ${JSON.stringify(took)}\n`);
      await page.keyboard.press('Control+k');
      await page.keyboard.type('t499');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 't499', level: 1 }).waitFor();
    });
  });

  describe('the picture of a schema', () => {
    it('shows a hundred tables, moves them by keys, and is saved as SVG and PNG', async () => {
      const project = await plinth.createProject({ name: 'Picture' });
      await project.sql(`do $$ begin for i in 1..100 loop
        execute format('create table t%s (id int primary key, parent int %s)', i,
          case when i > 1 and i % 3 > 0 then format('references t%s', i / 2 + 1 - (i % 2)) end);
        end loop; end $$`);
      await view.open(project.slug, 'schema');
      const table = page.getByRole('button', { name: 't7', exact: true });
      await table.waitFor();
      expect(await page.getByRole('button', { name: /^t\d+$/ }).count()).toBe(100);
      const placeOf = () => table.locator('..').getAttribute('transform');
      const before = await placeOf();
      await table.focus();
      await page.keyboard.press('ArrowRight');
      expect(await placeOf()).not.toBe(before);
      for (const [kind, start] of [
        ['SVG', '<svg'],
        ['PNG', '\u0089PNG'],
      ] as const) {
        await view.button('Export picture').click();
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('menuitem', { name: kind }).click(),
        ]);
        const content = readFileSync(await download.path(), 'latin1');
        expect(content.slice(0, start.length)).toBe(start);
        if (kind === 'SVG') expect(content.match(/<rect/g)).toHaveLength(101);
      }
      await view.expectAccessible();
      await view.button('Arrange again').click();
      expect(await placeOf()).toBe(before);
      await table.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 't7', level: 1 }).waitFor();
      expect(new URL(page.url()).searchParams.get('panel')).toBe('structure');
    });
  });

  describe('SQL', () => {
    it('shows numbers as a chart, shows each of several results, saves a query, and links to it', async () => {
      const project = await plinth.createProject({ name: 'Numbers' });
      await view.open(project.slug, 'sql');
      await page.locator('.cm-content').fill('select i as day, i * i as total from generate_series(1, 9) i');
      await view.button('Run SQL').click();
      await page.getByText('Chart', { exact: true }).click();
      await eventuallyShown(async () =>
        expect(await page.getByRole('img', { name: 'day by day' }).locator('rect').count()).toBe(9),
      );
      await view.expectAccessible();
      expect(new URL(page.url()).searchParams.get('query')).toContain('generate_series');
      await page
        .locator('.cm-content')
        .fill('select 11 as a; select 12 as b, null as c; set local role none');
      await view.button('Run SQL').click();
      await page.getByRole('cell', { name: '12' }).waitFor();
      await page.getByRole('tab', { name: '1 · SELECT 1' }).click();
      await page.getByRole('cell', { name: '11' }).waitFor();
      await view.expectAccessible();
      await page.locator('.cm-content').fill('select i as day, i * i as total from generate_series(1, 9) i');
      await view.button('Queries').click();
      await page.getByLabel('Save the text of the editor as').fill('squares');
      await view.dialog().getByRole('button', { name: 'Save query' }).click();
      await view.button('Close').click();
      await page.locator('.cm-content').fill('select 1');
      await view.button('Queries').click();
      await view
        .dialog()
        .getByRole('button', { name: /^squares/ })
        .click();
      await page.locator('.cm-content:visible').getByText('generate_series').waitFor();
    });
  });

  describe('a plan', () => {
    it('runs only the statement at the cursor, and shows its result', async () => {
      const project = await plinth.createProject({ name: 'Plans' });
      await project.sql('create table marks (id int)');
      await view.open(project.slug, 'sql');
      await page.getByRole('tab', { name: 'New query' }).waitFor();
      const editor = page.locator('.cm-content');
      await editor.fill('select id from marks;\n\ninsert into marks values (1)');
      await editor.press('Control+Home');
      await view.button('Explain').click();
      await page.getByText('Seq Scan · marks').waitFor();
      await editor.press('Control+a');
      await view.button('Explain').click();
      await page.getByText('Select one statement to explain it.').waitFor();
      await editor.fill('insert into marks values (1)');
      await view.button('Explain').click();
      await page.getByText(/^ModifyTable/).waitFor();
      expect(await project.sql('select * from marks')).toEqual([]);
    });
  });

  describe('values that JavaScript cannot hold, and columns with its own names', () => {
    it('are shown, changed and saved without loss', async () => {
      const project = await plinth.createProject({ name: 'Odd' });
      const columns = Array.from({ length: 190 }, (_, i) => `c${i} int`).join(', ');
      await project.sql(`
        create type pair as (a int, b text);
        create table odd (id int8 primary key, "constructor" text, "__proto__" text, "toString" int8, moment timestamptz, ratio float8,
          amount numeric, pairs pair[], raw bytea, ${columns});
        insert into odd (id, "constructor", "__proto__", "toString", moment, ratio, amount, pairs, raw)
        values (9223372036854775807, 'c', 'p', 9007199254740993, 'infinity', '-infinity', 'NaN', array[row(1, 'x,"y')::pair], '\\x00ff')`);
      await view.open(project.slug, 'tables?table=odd');
      for (const text of ['9223372036854775807', '9007199254740993', 'infinity', 'NaN'])
        await view.cell(text).waitFor();
      await page.getByLabel('Open row').first().click();
      const field = (name: string) => view.dialog().getByLabel(name, { exact: true });
      expect(await field('pairs').inputValue()).toBe(String.raw`{"(1,\"x,\"\"y\")"}`);
      for (const [name, value] of [
        ['constructor', 'c2'],
        ['__proto__', 'p2'],
        ['toString', '9007199254740995'],
        ['moment', '-infinity'],
        ['ratio', 'NaN'],
        ['amount', '12345678901234567890.123'],
        ['pairs', '{"(2,z)"}'],
      ] as const)
        await field(name).fill(value);
      await view.dialog().getByRole('button', { name: 'Apply to the grid' }).click();
      await view.saveChanges();
      await eventuallyShown(async () => {
        const [row] =
          await project.sql(`select "constructor" as c, "__proto__" as p, "toString"::text as t, moment::text,
          ratio::text, amount::text, pairs::text, raw::text, id::text from odd`);
        expect(row).toEqual({
          c: 'c2',
          p: 'p2',
          t: '9007199254740995',
          moment: '-infinity',
          ratio: 'NaN',
          amount: '12345678901234567890.123',
          pairs: '{"(2,z)"}',
          raw: '\\x00ff',
          id: '9223372036854775807',
        });
      });
      await view.button('Insert row').click();
      expect(await field('constructor').inputValue()).toBe('');
      await page.keyboard.press('Escape');
    });
  });

  describe('hostile names and values', () => {
    it('are shown as text on each screen, in both schemes', async () => {
      const project = await plinth.createProject({ name: 'Hostile' });
      const name = quoted(HOSTILE_NAME);
      const type = quoted(`${HOSTILE_NAME}.`);
      await project.sql(`
        create type ${type} as enum (${literal(HOSTILE_NAME)}, 'b');
        create table ${name} (${name} text primary key, kind ${type}, big jsonb);
        insert into ${name} values (${literal(HOSTILE)}, ${literal(HOSTILE_NAME)},
          jsonb_build_object('x', repeat('<b>\u202e', 200000)));
        create policy ${name} on ${name} using (${name} = ${literal(HOSTILE)})`);
      for (const screen of ['tables', 'tables?panel=structure', 'policies', 'schema']) {
        await view.open(project.slug, screen);
        await page.getByText('<script>').filter({ visible: true }).first().waitFor();
        await view.expectAccessible();
        if (screen.includes('panel')) await view.button('Close').first().click();
      }
      await view.open(project.slug, 'tables');
      await page.getByLabel('Open row').first().click();
      await view.dialog().getByLabel('big', { exact: true }).waitFor();
      await view.button('Check policies for this row').click();
      await page.getByText(/on this row is (not )?allowed/).waitFor();
      await view.button('Close').last().click();
      await view.button('Close').last().click();
      await view.button('Dark scheme').click();
      await view.expectAccessible();
      await view.button('Light scheme').click();
      expect(await page.evaluate(() => 'wasHacked' in globalThis)).toBe(false);
      expect(await page.locator('main img').count()).toBe(0);
    });
  });
});

const COUNT_CLICKS = `addEventListener('click', () =>
  sessionStorage.setItem('clicks', String(Number(sessionStorage.getItem('clicks') ?? 0) + 1)), true)`;

/** A page takes seconds on a busy machine. */
const eventuallyShown = (check: () => Promise<void>): Promise<void> => eventually(check, 30_000);

const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Users of a project, each with a note. */
async function usersOf(name: string, users: readonly string[]): Promise<void> {
  const { body } = await plinth.admin.get(`/admin/v1/projects?search=${name}`);
  const { id, slug } = body[0]!;
  const apikey = (await plinth.admin.get(`/admin/v1/projects/${id}/keys`)).body.anon_key;
  for (const user of users) {
    const account = { email: `${user}@example.com`, password: 'correct horse' };
    const signUp = await plinth.http.with({ apikey }).post(`/v1/auth/${id}/signup`, account);
    const authorization = `Bearer ${signUp.body.session.access_token}`;
    const own = plinth.http.with({ apikey, authorization });
    expect((await own.post(`/p/${slug}/rest/v1/notes`, { title: `note of ${user}` })).status).toBe(201);
  }
}

const notes = (): Promise<string[]> =>
  page.getByRole('gridcell').filter({ hasText: 'note of' }).allTextContents();

/** The text of the file that a click saves. */
async function download(click: () => Promise<void>): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), click()]);
  return readFileSync(await file.path(), 'utf8');
}

/** The button that sorts rows by a column. */
function columnHead(index: number) {
  return page.locator(`[data-head="${index}"]`).getByRole('button').first();
}

/** Moves the scroll bar, as a drag does. */
async function scrollToShare(share: number): Promise<void> {
  await page
    .getByRole('grid')
    .evaluate((node, part) => node.scrollTo(0, (node.scrollHeight - node.clientHeight) * part), share);
}

/** The keys of the rows in the page, from the top. Empty while one of them is not loaded. */
async function visibleIds(): Promise<number[]> {
  return view.rows().evaluateAll((rows) => {
    if (rows.some((row) => row.hasAttribute('aria-busy'))) return [];
    return rows.map((row) => Number(/row (\d+)/.exec(row.textContent ?? '')?.[1]));
  });
}

/** Asserts that the rows in the page near a row follow each other without a gap. */
async function expectAround(row: number): Promise<void> {
  await eventuallyShown(async () => {
    const ids = await visibleIds();
    expect(ids.length).toBeGreaterThan(10);
    expect(ids).toEqual(ids.map((_, index) => ids[0]! + index));
    expect(Math.abs(ids[Math.floor(ids.length / 2)]! - row)).toBeLessThan(100);
  });
}

async function editCell(text: string, next: string): Promise<void> {
  await page.getByText(text, { exact: true }).dblclick();
  await page.getByLabel('title', { exact: true }).fill(next);
  await page.keyboard.press('Enter');
  await view.cell(next).waitFor();
}

async function chooseColumn(column: string, value: string): Promise<void> {
  await view.dialog().getByLabel('Column', { exact: true }).click();
  await page.getByRole('option', { name: column, exact: true }).click();
  await view.dialog().getByLabel('New value').fill(value);
}
