/** Tables that the console creates from CSV and JSON files, in a real browser. */
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, type TestBrowser } from '../../support/browser';
import { type ConsolePage, startConsole, stopConsole } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import type { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let browser: TestBrowser;
let page: Page;
let view: ConsolePage;
let project: TestProject;
const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('a table from a file', () => {
  jest.setTimeout(BROWSER_START_MS * 2);
  beforeAll(async () => {
    ({ plinth, browser, page, view } = await startConsole());
    project = await plinth.createProject({ name: 'Files' });
    await page.setViewportSize({ width: 1360, height: 850 });
    await view.signIn();
    await view.open(project.slug, 'tables');
    await view.button('Table from a CSV or JSON file').waitFor();
  }, BROWSER_START_MS);
  afterAll(() => stopConsole({ plinth, browser }));

  it('of CSV has guessed types, editable names, and the rows', async () => {
    await choose(
      'Städte 2026.csv',
      'id,na"me,people,,since\n1,Köln,1000000,x,1880-01-02\n2,"a ""b"", c",,y,\n',
    );
    const dialog = view.dialog();
    expect(await dialog.getByLabel('Name of the table').inputValue()).toBe('sta_dte_2026');
    // The field without a name is omitted.
    await dialog.getByLabel('Name', { exact: true }).nth(2).fill('inhabitants');
    await dialog.getByText('SQL that runs').first().click();
    await view.expectAccessible();
    await dialog.getByRole('button', { name: 'Create table' }).click();
    await dialog.getByRole('button', { name: 'Import rows' }).click();
    await view.cell('1000000').waitFor();
    await eventually(async () =>
      expect(await project.sql(`select last_value::text as last from sta_dte_2026_id_seq`)).toEqual([
        { last: '2' },
      ]),
    );
    expect(await project.sql('select * from sta_dte_2026 order by id')).toEqual(
      [
        { id: '1', 'na"me': 'Köln', inhabitants: '1000000', since: '1880-01-02' },
        { id: '2', 'na"me': 'a "b", c', inhabitants: null, since: null },
      ].map((row) => expect.objectContaining(row)),
    );
    const [table] =
      await project.sql(`select relrowsecurity, (select json_agg(format_type(atttypid, atttypmod) order by attnum)
      from pg_attribute where attrelid = c.oid and attnum > 0) as types from pg_class c where relname = 'sta_dte_2026'`);
    expect(table).toEqual({ relrowsecurity: true, types: ['bigint', 'text', 'bigint', 'date'] });
  });

  it('of JSON keeps every digit, and stores objects as jsonb', async () => {
    await choose(
      'events.json',
      '[{"big":9007199254740993,"data":{"n":1.10}},{"big":1,"data":null,"__proto__":"p"}]',
    );
    await view.dialog().getByRole('button', { name: 'Create table' }).click();
    await view.dialog().getByRole('button', { name: 'Import rows' }).click();
    await eventually(async () =>
      expect(
        await project.sql('select big::text, data::text, "__proto__" as proto from events order by id'),
      ).toEqual([
        { big: '9007199254740993', data: '{"n": 1.10}', proto: null },
        { big: '1', data: null, proto: 'p' },
      ]),
    );
  });

  it('is not created from anything but a list of objects', async () => {
    await choose('broken.json', '[1, 2]');
    await page.getByText('The file is no list of JSON objects').waitFor();
    expect(await view.dialog().count()).toBe(0);
    await choose('empty.csv', '');
    await page.getByText('The file is empty').waitFor();
  });
});

async function choose(name: string, text: string): Promise<void> {
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    view.button('Table from a CSV or JSON file').click(),
  ]);
  await chooser.setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
}
