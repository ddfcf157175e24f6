/** The objects of a schema in a real browser: types, functions, triggers, views, indexes, keys, extensions. */
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, type TestBrowser } from '../../support/browser';
import { ConsolePage, startConsole, stopConsole } from '../../support/console-page';
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

inBrowser('the objects of a schema', () => {
  jest.setTimeout(BROWSER_START_MS * 2);
  beforeAll(async () => {
    ({ plinth, browser, page, view } = await startConsole());
    project = await plinth.createProject({ name: 'Objects' });
    await project.sql(`create table authors (id int primary key);
      create table notes (id int primary key, title text, author int, changed_at timestamptz)`);
    page.setDefaultTimeout(15_000);
    await page.setViewportSize(WIDE);
    await view.signIn();
    await view.open(project.slug, 'schema?view=types');
    await page.getByRole('heading', { name: 'No types' }).waitFor();
  }, BROWSER_START_MS);
  afterAll(() => stopConsole({ plinth, browser }));

  it('are created by SQL that is shown: an enum, a function, a trigger, a view, an index and a key', async () => {
    await view.button('New enum').click();
    await field('Name').fill('mo"od');
    for (const label of ['calm', "it's"]) {
      await field('Values').fill(label);
      await field('Values').press('Enter');
    }
    await view.dialog().getByText('SQL that runs').first().click();
    await view.dialog().getByText(`create type "public"."mo""od" as enum ('calm', 'it''s');`).waitFor();
    await view.expectAccessible();
    await done('Create enum', 'Type mo"od created');
    await row('mo"od').getByText("calm, it's").waitFor();

    await choose('Functions');
    await view.button('New function').click();
    await field('Name').fill('stamp');
    await field('Body').fill('begin\n  new.changed_at := now();\n  return new;\nend');
    await view.expectAccessible();
    await done('Create function', 'Function stamp created');

    await choose('Triggers');
    await view.button('New trigger').click();
    await field('Name').fill('stamp');
    await pick('Table', 'notes');
    await pick('Function', 'public.stamp');
    await done('Create trigger', 'Trigger stamp created');
    await project.sql(`insert into notes (id, title) values (1, 'a'); update notes set title = 'b'`);
    expect(await project.sql('select changed_at is not null as stamped from notes')).toEqual([
      { stamped: true },
    ]);

    await choose('Views');
    await view.button('New view').click();
    await field('Name').fill('titles');
    await field('Query').fill('select title from notes;');
    await done('Create view', 'View titles created');
    expect(await project.sql(`select reloptions from pg_class where relname = 'titles'`)).toEqual([
      { reloptions: ['security_invoker=true'] },
    ]);

    await choose('Indexes');
    await view.button('New index').click();
    await pick('Table', 'notes');
    await pick('Columns', 'title');
    await page.keyboard.press('Escape');
    await done('Create index', 'Index on title created');
    await row('notes_title_idx').waitFor();

    await choose('Foreign keys');
    await view.button('New foreign key').click();
    await pick('Table', 'notes');
    await pick('Column', 'author');
    await pick('References', 'public.authors');
    await done('Add foreign key', 'Key on author added');
    await row('notes_author_fkey').getByText('notes → authors').waitFor();
    await view.expectAccessible();
  });

  it('are changed: values of an enum, a function, a trigger and a view', async () => {
    await choose('Types');
    await view.button('Change mo"od').click();
    await field('Values').fill('happy');
    await field('Values').press('Enter');
    await done('Save mo"od', 'Type mo"od changed');
    await row('mo"od').getByText("calm, it's, happy").waitFor();
    await view.button('Change mo"od').click();
    await pick('Label to rename', "it's");
    await field('New label').fill('cheerful');
    await done('Save mo"od', 'Type mo"od changed');
    await row('mo"od').getByText('calm, cheerful, happy').waitFor();

    await choose('Foreign keys');
    await view.button('Change notes_author_fkey').click();
    await pick('When the referenced row is deleted', 'cascade');
    await field('Name').fill('by_author');
    await view.expectAccessible();
    await done('Change foreign key', 'Foreign key by_author changed');
    await row('by_author').waitFor();
    expect(
      await project.sql(
        `select conname, confdeltype from pg_constraint where contype = 'f' and conrelid = 'notes'::regclass`,
      ),
    ).toEqual([{ conname: 'by_author', confdeltype: 'c' }]);

    await choose('Indexes');
    await view.button('Change notes_title_idx').click();
    await field('Name').fill('by_title');
    await done('Change index', 'Index by_title changed');
    await row('by_title').waitFor();

    await choose('Functions');
    await view.button('Change stamp').click();
    const text = await field('Statement').inputValue();
    expect(text).toMatch(/^CREATE OR REPLACE FUNCTION public\.stamp\(\)/);
    await field('Statement').fill(text.replace('now()', "'2020-01-01'"));
    await done('Save stamp', 'Function stamp changed');

    await choose('Triggers');
    await view.button('Change stamp').click();
    await field('Statement').fill((await field('Statement').inputValue()).replace('UPDATE', 'INSERT'));
    await done('Save stamp', 'Trigger stamp changed');
    await project.sql('insert into notes (id) values (2)');
    expect(
      await project.sql('select extract(year from changed_at)::int as year from notes where id = 2'),
    ).toEqual([{ year: 2020 }]);

    await choose('Views');
    await view.button('Change titles').click();
    await field('Statement').fill((await field('Statement').inputValue()).replace(/\btitle\b/, 'nowhere'));
    await view.dialog().getByRole('button', { name: 'Save titles' }).click();
    await view.dialog().getByText('column "nowhere" does not exist').waitFor();
    await view.expectAccessible();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'titles', exact: true }).click();
    await view.dialog().getByText('create view "public"."titles" with (security_invoker=true) as').waitFor();
    await view.expectAccessible();
    await page.keyboard.press('Escape');
  });

  it('are dropped, and extensions installed', async () => {
    for (const [kinds, kind, name] of [
      ['Triggers', 'Trigger', 'stamp'],
      ['Functions', 'Function', 'stamp'],
      ['Views', 'View', 'titles'],
      ['Indexes', 'Index', 'by_title'],
      ['Foreign keys', 'Foreign key', 'by_author'],
      ['Types', 'Type', 'mo"od'],
    ] as const) {
      await choose(kinds);
      await view.button(`Drop ${name}`).click();
      await view
        .dialog()
        .getByText(/^(drop|alter table)/)
        .waitFor();
      await done(`Drop ${name}`, `${kind} ${name} dropped`);
      await row(name).waitFor({ state: 'detached' });
    }
    await choose('Extensions');
    await page.getByLabel('Search by name').fill('pg_trgm');
    await view.button('Install pg_trgm').click();
    await done('Install pg_trgm', 'Extension pg_trgm installed');
    await view.button('Drop pg_trgm').waitFor();
    expect(await project.sql(`select extname from pg_extension where extname = 'pg_trgm'`)).toHaveLength(1);
    await page.getByLabel('Search by name').fill('');
    await view.expectAccessible();
  });

  it('are readable in dark mode, on a phone, and by a viewer, who is offered no change', async () => {
    await view.button('Dark scheme').click();
    await view.expectAccessible();
    await page.setViewportSize(PHONE);
    await view.expectAccessible();
    expect(await view.overflowing()).toEqual([]);
    await page.setViewportSize(WIDE);
    await view.button('Light scheme').click();
    const { email } = await newPerson(plinth, null, [{ id: project.id, role: 'viewer' }]);
    const other = await browser.newPage();
    const theirs = new ConsolePage(other, plinth.baseUrl);
    await other.goto(`${plinth.baseUrl}/console/projects/${project.slug}/schema?view=indexes`);
    await other.getByLabel('E-mail').fill(email);
    await other.getByLabel('Password', { exact: true }).fill(STAFF_PASSWORD);
    await theirs.button('Sign in').click();
    await other.getByRole('button', { name: 'notes_pkey' }).waitFor();
    expect(await other.getByRole('button', { name: /^(New|Drop|Change) / }).count()).toBe(0);
    await theirs.expectAccessible();
    await other.close();
  });
});

const choose = (kind: string): Promise<void> => page.getByRole('tab', { name: kind, exact: true }).click();
const row = (name: string) => page.getByRole('row').filter({ hasText: name });
const field = (label: string) => view.dialog().getByLabel(label, { exact: true }).first();

async function pick(label: string, option: string): Promise<void> {
  await field(label).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

/** Runs the SQL of the dialog. */
async function done(action: string, outcome: string): Promise<void> {
  await view.dialog().getByRole('button', { name: action, exact: true }).click();
  await page.getByText(outcome, { exact: true }).first().waitFor();
  await view.dialog().waitFor({ state: 'detached' });
}
