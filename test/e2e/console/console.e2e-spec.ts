/** The console in a real browser, against a real server: the first steps of a newcomer, and each screen. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, type TestBrowser } from '../../support/browser';
import { type ConsolePage, startConsole, stopConsole } from '../../support/console-page';
import { eventually, until } from '../../support/eventually';
import { casesOf, IN_SOAK } from '../../support/extent';
import type { TestPlinth } from '../../support/plinth';
import type { TestProject, TestUser } from '../../support/test-project';

let plinth: TestPlinth;
/** PostgreSQL allows 1,664. */
const MANY_COLUMNS = IN_SOAK ? 1_600 : 200;
let browser: TestBrowser;
let page: Page;
let view: ConsolePage;

const HOSTILE = `"><img src=x onerror="globalThis.wasHacked=1"><script>globalThis.wasHacked=1</script> \u202eabc`;
/** Name, tag, and the label of the loading indicator. */
const LANGUAGES = [
  ['Deutsch', 'de', 'Lädt'],
  ['English', 'en', 'Loading'],
] as const;
const PROJECT_SCREENS = [
  '',
  'tables',
  'users',
  'settings',
  'sql',
  'policies',
  'schema',
  'sign-in',
  'mails',
  'storage',
  'advisor',
  'people',
  'api',
  'keys',
  'realtime',
  'webhooks',
  'backups',
  ...['charts', 'history', 'requests', 'queries', 'sessions', 'limits'].map((one) => `inside?view=${one}`),
];
const INSTALL_SCREENS = ['', 'people', 'account', 'audit-log'];

const inBrowser = hasBrowser ? describe : describe.skip;

inBrowser('the console', () => {
  jest.setTimeout(BROWSER_START_MS);
  beforeAll(async () => {
    ({ plinth, browser, page, view } = await startConsole());
  }, BROWSER_START_MS);
  afterAll(() => stopConsole({ plinth, browser }));

  describe('for a newcomer', () => {
    it('refuses a wrong key, and opens with the right one', async () => {
      await page.goto(`${plinth.baseUrl}/console`);
      const byKey = view.button('Use the platform admin key');
      const key = page.getByLabel('Platform admin key', { exact: true });
      await byKey.or(key).first().waitFor();
      await view.expectAccessible();
      if (await byKey.isVisible()) await byKey.click();
      await key.fill('not the key');
      await view.button('Sign in').click();
      await page.getByText('This is not the key of this install.').waitFor();
      await view.signIn();
    });

    it('creates a project', async () => {
      await view.button('New project').first().click();
      await view.dialog().getByLabel('Name', { exact: true }).fill('Notebook');
      await view.button('Create project').click();
      await page.getByRole('heading', { name: 'Notebook', level: 1 }).waitFor();
    });
  });

  describe('tables', () => {
    let project: TestProject;
    beforeAll(async () => {
      project = await plinth.createProject({ name: 'Grid' });
      await project.sql(`
        create type mood as enum ('sad', 'happy');
        create table owners (id int primary key, name text not null, city text);
        insert into owners values (1, 'Ada', 'London'), (2, 'Grace', 'Vienna');
        create table pets (
          id bigint primary key, name text, mood mood, owner int references owners, data jsonb, tags text[], fed boolean, born date);
        insert into pets
        select 9007199254740993 + i, 'pet ' || i, 'sad', 1, '{"big": 12345678901234567890}', '{a,b}', false, '2020-01-01'
        from generate_series(0, 399) i;
        create table "${HOSTILE.replaceAll('"', '""')}" (
          "${HOSTILE.replaceAll('"', '""').slice(0, 50)}" text primary key, big jsonb);
        insert into "${HOSTILE.replaceAll('"', '""')}" values ('${HOSTILE}', jsonb_build_object('x', repeat('<b>', 350000)));
      `);
      await view.open(project.slug, 'tables?table=pets');
      await view.cell('pet 0').waitFor();
    });

    it('show every digit, and load the next pages while they are scrolled', async () => {
      await view.cell('9007199254740993').waitFor();
      const grid = page.getByRole('grid');
      await eventuallyShown(async () => {
        await grid.evaluate((node) => node.scrollTo(0, node.scrollHeight));
        await expect(page.getByText('pet 399', { exact: true }).isVisible()).resolves.toBe(true);
      });
      const rows = await view.rows().count();
      expect(rows).toBeLessThan(100);
      await grid.evaluate((node) => node.scrollTo(0, 0));
    });

    it('keep changes until they are saved, and undo them', async () => {
      await edit('pet 0', 'renamed');
      await edit('pet 1', 'also renamed');
      await page.getByText('Unsaved changes: 2').waitFor();
      await view.button('Undo change').click();
      await view.cell('pet 1').waitFor();
      await view.cell('sad').dblclick();
      await page.getByLabel('mood', { exact: true }).selectOption('happy');
      await view.saveChanges();
      await eventuallyShown(async () => {
        const rows = await project.sql('select name, mood, data::text from pets order by id limit 2');
        expect(rows).toEqual([
          { name: 'renamed', mood: 'happy', data: '{"big": 12345678901234567890}' },
          { name: 'pet 1', mood: 'sad', data: '{"big": 12345678901234567890}' },
        ]);
      });
    });

    it('insert a row with a value of each type, and pick the row that a key refers to', async () => {
      await view.button('Insert row').click();
      const dialog = view.dialog();
      await dialog.getByLabel('id', { exact: true }).fill('1');
      await dialog.getByLabel('name', { exact: true }).fill(HOSTILE);
      await dialog.getByRole('button', { name: 'Choose from owners' }).click();
      await page.getByRole('button', { name: 'Grace' }).click();
      await dialog.getByLabel('data', { exact: true }).fill('{"n": 1.10}');
      await dialog.getByLabel('born', { exact: true }).fill('2020-02-29');
      for (const tag of ['x', 'y z', 'a,b']) {
        await dialog.getByLabel('tags', { exact: true }).and(page.locator('input')).fill(tag);
        await page.keyboard.press('Enter');
      }
      await dialog.getByRole('button', { name: 'Apply to the grid' }).click();
      await view.saveChanges();
      await eventuallyShown(async () => {
        const rows = await project.sql(
          'select id, name, owner, data::text, tags, born::text from pets where id = 1',
        );
        expect(rows).toEqual([
          {
            id: '1',
            name: HOSTILE,
            owner: 2,
            data: '{"n": 1.10}',
            tags: ['x', 'y z', 'a,b'],
            born: '2020-02-29',
          },
        ]);
      });
      // The new row moves the rows below it.
      await view.cell('{x,"y z","a,b"}').waitFor();
    });

    it('edit a list by lines, and choose what a key refers to, in the grid', async () => {
      await view.cell('{a,b}').dblclick();
      await page.getByLabel('tags', { exact: true }).fill('a\nb c');
      await page.keyboard.press('Enter');
      await view.cell('{a,"b c"}').waitFor();
      await view.rows().filter({ hasText: 'renamed' }).getByText('1', { exact: true }).dblclick();
      const choice = view.dialog();
      await choice.getByRole('button', { name: 'Grace' }).getByText('city: Vienna').waitFor();
      await view.expectAccessible();
      await choice.getByRole('button', { name: 'Grace' }).click();
      await view.saveChanges();
      await eventuallyShown(async () => {
        const rows = await project.sql("select owner, tags from pets where name = 'renamed'");
        expect(rows).toEqual([{ owner: 2, tags: ['a', 'b c'] }]);
      });
    });

    it('link to a row, which shows the beginning of the row that it refers to', async () => {
      await view.open(project.slug, `tables?table=pets&row=${encodeURIComponent('["1"]')}`);
      const drawer = view.dialog();
      await drawer.getByRole('link', { name: 'Grace · city: Vienna' }).waitFor();
      await view.expectAccessible();
      await view.button('Close').click();
      await page.waitForURL((url) => !url.searchParams.has('row'));
      await view.open(project.slug, `tables?table=pets&row=${encodeURIComponent('["2"]')}`);
      await drawer.getByRole('heading', { name: 'Nothing found' }).waitFor();
      await view.button('Close').click();
      // The browser's cache has no copy of the response.
      const cached = await page.evaluate(
        `Promise.all(performance.getEntriesByType('resource').filter(({ name }) => name.includes('/rest/v1/pets'))
          .map(({ name }) => fetch(name, { cache: 'only-if-cached', mode: 'same-origin' }).then(({ status }) => status, () => 0)))`,
      );
      expect([...new Set(cached as number[])]).toEqual([0]);
    });

    it('filter and sort as the address says', async () => {
      await view.button('Add filter').click();
      await page.getByLabel('Value').fill('9007199254740994');
      await view.button('Apply filter').click();
      await eventuallyShown(async () => expect(await view.rows().count()).toBe(1));
      expect(new URL(page.url()).searchParams.get('filters')).toContain('9007199254740994');
      // Each click changes the rows that are shown.
      const filter = page.getByRole('button', { name: 'Remove filter' });
      await filter.click();
      await filter.waitFor({ state: 'detached' });
      await page.getByRole('columnheader').getByRole('button').first().click();
      await page.locator('[aria-sort=ascending]').waitFor();
      await page.getByRole('columnheader').getByRole('button').first().click();
      await view.cell('pet 399').waitFor();
    });

    it('show hostile names and values as text', async () => {
      await page.getByRole('link', { name: HOSTILE.slice(0, 10) }).click();
      await page.getByRole('grid').getByText('<b><b>').first().waitFor();
      expect(await page.evaluate(() => 'wasHacked' in globalThis)).toBe(false);
      expect(await page.locator('img').count()).toBe(0);
    });

    it('are usable with assistive tools', async () => {
      await view.expectAccessible();
    });
  });

  describe('each other screen', () => {
    let project: TestProject;
    let ada: TestUser;
    beforeAll(async () => {
      project = await plinth.createProject({ name: 'Screens' });
      await project.sql('create table notes (id int primary key, user_id uuid, text text)');
      ada = await project.signUp('ada@example.com');
      await project.service.post(`${project.storage}/buckets`, { name: 'Box' });
    });

    it('keys, overview: reveals the keys on request, and deletes only after the name was typed', async () => {
      await view.open(project.slug, 'keys');
      await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
      expect(await page.getByLabel('service_role').count()).toBe(0);
      await view.button('Show keys').click();
      await eventuallyShown(async () =>
        expect(await page.getByLabel('service_role', { exact: true }).inputValue()).toBe(project.serviceKey),
      );
      expect(await page.getByLabel('service_role', { exact: true }).getAttribute('type')).toBe('password');
      await view.expectAccessible();
      await view.open(project.slug, '');
      await view.button('Delete project').click();
      const confirm = view.dialog().getByRole('button', { name: 'Delete project' });
      expect(await confirm.isDisabled()).toBe(true);
      await view
        .dialog()
        .getByLabel(/to confirm/)
        .fill(project.slug);
      expect(await confirm.isEnabled()).toBe(true);
      await view.button('Cancel').click();
      await view.expectAccessible();
    });

    it('overview: pauses the project, whose screens say so, and resumes it', async () => {
      await view.open(project.slug, '');
      await view.button('Pause project').click();
      await view.dialog().getByRole('button', { name: 'Pause project' }).click();
      await page.getByText(/^The project has been paused since/).waitFor();
      expect((await project.anon.get('/rest/v1/notes')).status).toBe(503);
      await view.open(project.slug, 'tables');
      await page.getByRole('heading', { name: /^The project has been paused since/ }).waitFor();
      await view.expectAccessible();
      await view.button('Resume project').click();
      await page.getByRole('heading', { name: 'notes', level: 1 }).waitFor();
      expect((await project.anon.get('/rest/v1/notes')).status).toBe(200);
    });

    it('sql: runs, explains, and marks the position of an error', async () => {
      const sql = encodeURIComponent("select 1 as one; select '<b>' as html, null as nothing");
      await view.open(project.slug, `sql?query=${sql}`);
      await view.button('Run SQL').click();
      await page.getByRole('cell', { name: '<b>' }).waitFor();
      await view.expectAccessible();
      await page.locator('.cm-content').fill('select * from notes\nwhere missing = 1');
      await view.button('Explain').click();
      await page.getByText('column "missing" does not exist').waitFor();
      await page.getByText(/Line 2, column/).waitFor();
      await page.locator('.cm-content').fill('select * from notes');
      await view.button('Explain').click();
      await page.getByText('Seq Scan · notes').waitFor();
    });

    it('sql: offers no completions once the editor has lost the focus or its text runs', async () => {
      await view.open(project.slug, 'sql');
      const editor = page.locator('.cm-content');
      const words = page.locator('.cm-tooltip-autocomplete');
      const LONGER_THAN_THE_EDITOR_WAITS_MS = 500;
      for (const leave of [
        () => page.evaluate('document.activeElement.blur()'),
        () => page.keyboard.press('Control+Enter'),
      ]) {
        await editor.fill('');
        await page.keyboard.insertText('sele');
        await leave();
        await page.waitForTimeout(LONGER_THAN_THE_EDITOR_WAITS_MS);
        expect(await words.count()).toBe(0);
      }
      // The answer moves the cursor to the error, which closes the list.
      await page.getByText(/^syntax error at or near/).waitFor();
      await editor.fill('');
      await page.keyboard.insertText('sele');
      await words.waitFor();
    });

    it('sql: shows columns with equal names, with names of object members, hundreds of columns, and long values completely', async () => {
      await view.open(project.slug, 'sql');
      const run = async (sql: string): Promise<void> => {
        // The editor draws only a part of a long line, so its own command selects all of it.
        await page.locator('.cm-content').focus();
        await page.keyboard.press('Control+a');
        await page.keyboard.insertText(sql);
        await view.button('Run SQL').click();
      };
      const heads = page.getByRole('columnheader');
      await run(`select 'x' as a, 'y' as a, 'p' as "__proto__", 'c' as constructor, 'one' as "1"`);
      await page.getByRole('cell', { name: 'p', exact: true }).waitFor();
      expect(await heads.allTextContents()).toEqual(['a', 'a_2', '__proto__', 'constructor', '1']);
      expect(await page.getByRole('cell').allTextContents()).toEqual(['x', 'y', 'p', 'c', 'one']);
      await run('select 1 as a, 2 as b where false');
      await heads.filter({ hasText: 'b' }).waitFor();
      await run(
        `select ${Array.from({ length: MANY_COLUMNS }, (_, at) => at).join()} from generate_series(1, 50)`,
      );
      await heads.filter({ hasText: '?column?_2' }).first().waitFor();
      expect(await page.getByRole('cell').count()).toBeLessThan(2_000);
      await page.getByRole('table').evaluate((node) => node.scrollTo(node.scrollWidth, 0));
      await page
        .getByRole('cell', { name: String(MANY_COLUMNS - 1), exact: true })
        .first()
        .waitFor();
      // Uses a different text each time, because the text of the previous run may still be shown.
      for (const [tag, count, isRead] of [
        ['<b>', 350_000, false],
        ['<i>', 20, true],
      ] as const) {
        await run(`select repeat('${tag}', ${count}) as long, i from generate_series(1, 5) i`);
        await page
          .getByText(new RegExp(`^${tag}${tag}`))
          .first()
          .click();
        await view.dialog().getByLabel('Value').getByText(`${tag}${tag}`).waitFor();
        // The checker takes a minute for a long text.
        if (isRead) await view.expectAccessible();
        await view.button('Close').click();
        await view.dialog().waitFor({ state: 'detached' });
      }
    });

    it('policies: creates one from a template', async () => {
      await view.open(project.slug, 'policies');
      await view.button('New policy').click();
      await page.getByRole('menuitem', { name: 'Users manage their own rows' }).click();
      await view.button('Create policy').click();
      await page.locator('#main').getByText('users manage their own rows').waitFor();
      const [{ qual }] = await project.sql("select qual from pg_policies where tablename = 'notes'");
      expect(qual).toContain('user_id = ( SELECT auth.uid()');
      await view.expectAccessible();
    });

    it('users: creates one, bans one, removes a second factor, ends sessions', async () => {
      await ada.http.post(`${project.auth}/factors`, { name: 'Phone' });
      await view.open(project.slug, 'users');
      await view.button('New user').click();
      await view.dialog().getByLabel('E-mail', { exact: true }).fill('grace@example.com');
      await view.dialog().getByLabel('Name', { exact: true }).fill(HOSTILE.slice(0, 60));
      await view.button('Create user').click();
      await page.getByRole('button', { name: /grace@example.com/ }).waitFor();
      await view.expectAccessible();
      await page.getByRole('button', { name: /ada@example.com/ }).click();
      await page.getByText('Ways to sign in').waitFor();
      await page.getByText('email', { exact: true }).waitFor();
      await page.getByText(/^Phone · /).waitFor();
      await view.button('Remove factor').click();
      await page.getByText('can then sign in without Phone.').waitFor();
      await view.dialog().last().getByRole('button', { name: 'Remove factor' }).click();
      await page.getByText('Second factor Phone of ada@example.com removed').waitFor();
      await page.getByText('None', { exact: true }).waitFor();
      expect((await ada.http.get(`${project.auth}/factors`)).body.factors).toEqual([]);
      await view.button('End all sessions').click();
      await page.getByText('All sessions of ada@example.com ended').waitFor();
      await page.getByText('Not signed in anywhere').waitFor();
      await view.button('Ban user').click();
      await view.button('Lift ban').waitFor();
      const login = await project
        .client(project.anonKey, null)
        .post(`${project.auth}/login`, { email: 'ada@example.com', password: 'correct horse' });
      expect(login.status).toBe(403);
      await page.getByRole('button', { name: 'Close' }).click();
    });

    it('storage: uploads, previews as text, signs, deletes', async () => {
      await view.open(project.slug, 'storage');
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        view.button('Upload files').click(),
      ]);
      await chooser.setFiles({ name: 'page.html', mimeType: 'text/html', buffer: Buffer.from(HOSTILE) });
      await page.getByRole('button', { name: 'page.html' }).click();
      await page.getByLabel('Preview').getByText('onerror').waitFor();
      await view.button('Create link').click();
      const link = page.getByRole('link', { name: 'Open in a new tab' });
      await link.waitFor();
      expect(await link.getAttribute('href')).toMatch(/^http:\/\/plinth\.test\/p\//);
      await view.expectAccessible();
      await view.button('Delete file').click();
      await view.dialog().getByText('This cannot be undone').waitFor();
      await view.button('Delete file').last().click();
      await page.getByRole('heading', { name: 'No files here' }).waitFor();
      expect(await page.evaluate(() => 'wasHacked' in globalThis)).toBe(false);
    });

    it('storage: continues a large upload after a reload of the page, and previews a rendition', async () => {
      const sharp = (await import('sharp')).default;
      const picture = sharp({
        create: {
          width: 2000,
          height: 1500,
          channels: 3,
          background: 'red',
          noise: { type: 'gaussian', mean: 128, sigma: 60 },
        },
      });
      const path = join(plinth.dataDir, 'large.png');
      await picture.png({ compressionLevel: 0 }).toFile(path);
      await view.open(project.slug, 'storage');
      const offsets: (string | undefined)[] = [];
      let isCut = true;
      await page.route('**/upload/resumable/*', (route) => {
        const offset = route.request().headers()['upload-offset'];
        if (route.request().method() === 'PATCH') offsets.push(offset);
        return isCut && offset !== undefined && offset !== '0' ? route.abort() : route.continue();
      });
      const choose = async (): Promise<void> => {
        const [chooser] = await Promise.all([
          page.waitForEvent('filechooser'),
          view.button('Upload files').click(),
        ]);
        await chooser.setFiles(path);
      };
      await choose();
      await until(() => offsets.length > 1);
      page.once('dialog', (dialog) => void dialog.accept());
      await page.reload();
      await view.signIn();
      await view.open(project.slug, 'storage');
      isCut = false;
      offsets.length = 0;
      const rendition = page.waitForResponse(/render\/image\/authenticated/);
      await choose();
      await page.getByRole('button', { name: 'large.png' }).click();
      expect(offsets[0]).toBe(String(8 * 1024 * 1024));
      expect((await rendition).status()).toBe(200);
      const shown = page.getByRole('img', { name: 'large.png' });
      await shown.waitFor();
      const width = `document.querySelector('img[alt="large.png"]').naturalWidth`;
      await until(async () => Number(await page.evaluate(width)) > 0);
      expect(await page.evaluate(width)).toBe(960);
      expect(
        await page.evaluate(`Object.keys(localStorage).filter((key) => key.startsWith('tus::'))`),
      ).toEqual([]);
      await page.unrouteAll();
    });

    it('storage: uploads into a new folder, and links to the file', async () => {
      await view.open(project.slug, 'storage');
      await view.button('New folder').click();
      await page.getByLabel('Name', { exact: true }).fill('reports');
      await view.button('Open folder').click();
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        view.button('Upload files').click(),
      ]);
      await chooser.setFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
      await page.getByRole('button', { name: 'a.txt' }).click();
      await page.getByLabel('Preview').getByText('hello').waitFor();
      const { searchParams } = new URL(page.url());
      expect([searchParams.get('folder'), searchParams.get('file')]).toEqual([
        'reports/',
        expect.any(String),
      ]);
      await view.open(project.slug, `storage?file=${searchParams.get('file')}`);
      await page.getByLabel('Preview').getByText('hello').waitFor();
      await view.expectAccessible();
      await view.button('Close').click();
    });

    it('settings: have a field for each setting, and save one', async () => {
      await view.open(project.slug, 'settings');
      const field = page.getByLabel('Rows per response max_rows', { exact: true });
      await field.fill('17');
      // A concurrent change by somebody else loses nothing.
      await plinth.admin.patch(`/admin/v1/projects/${project.id}`, {
        settings: { statement_timeout: 20_000 },
      });
      await page.getByRole('link', { name: 'Tables', exact: true }).click();
      await view.dialog().getByText('Leave without saving?').waitFor();
      await view.button('Cancel').click();
      await page.getByLabel('Search settings').fill('max_rows');
      await page.waitForURL(/search=max_rows/);
      expect(await field.inputValue()).toBe('17');
      await page.getByLabel('Search settings').fill('');
      // The number is kept when another unit is chosen.
      const lifetime = page.getByLabel('Lifetime of access tokens access_token_lifetime');
      expect(await lifetime.inputValue()).toBe('1');
      await lifetime.fill('90');
      const unit = page.getByRole('combobox', { name: 'Unit of Lifetime of access tokens' });
      await unit.click();
      await page.getByRole('option', { name: 'min', exact: true }).click();
      expect([await lifetime.inputValue(), await unit.inputValue()]).toEqual(['90', 'min']);
      await view.expectPinned(view.button('Save settings'));
      await view.button('Save settings').click();
      await eventuallyShown(async () => {
        const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}`);
        expect([body.settings.max_rows, body.settings.access_token_lifetime]).toEqual([17, 5_400]);
        const names = await page.locator('main label code.mantine-Text-root').allTextContents();
        expect(names.sort()).toEqual(Object.keys(body.settings).sort());
      });
      await view.expectAccessible();
    });

    it('api: shows the document of the project', async () => {
      const began = performance.now();
      await view.open(project.slug, 'api?view=all');
      await page.locator('.opblock-tag').first().waitFor();
      process.stdout.write(`API page: ${Math.round(performance.now() - began)} ms\n`);
      const sizes = await page.evaluate<number[]>(`performance.getEntriesByType('resource')
        .filter(({ name }) => /\\/docs\\/|openapi\\.json/.test(name)).map(({ encodedBodySize }) => encodedBodySize)`);
      process.stdout.write(`API page: ${sizes.join(' + ')} bytes\n`);
      expect(sizes.length).toBeGreaterThanOrEqual(3);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(700_000);
      await page.locator('.opblock-tag').first().click();
      await page.locator('.opblock').first().waitFor();
      await view.expectAccessible(['.swagger-ui']);
      await viewAs('Service role');
      await page.waitForURL(/as=service_role/);
      await page.locator('.opblock-tag').first().waitFor();
    });

    it.each(casesOf(LANGUAGES, 1))('all: fit a phone, in %s', async (name, language, loading) => {
      await page.getByRole('button', { name: /^(Language|Sprache)$/ }).click();
      await page.getByRole('menuitem', { name }).click();
      await page.getByRole('menu').waitFor({ state: 'detached' });
      await page.setViewportSize({ width: 375, height: 700 });
      const screens = [
        ...PROJECT_SCREENS.map((one) => `projects/${project.slug}/${one}`),
        ...INSTALL_SCREENS,
      ];
      for (const screen of casesOf(screens, 6)) {
        await view.openPath(screen.replace(/\/$/, ''));
        await view.loaded(loading);
        await eventuallyShown(async () => expect([screen, await view.overflowing()]).toEqual([screen, []]));
      }
      expect(await page.evaluate('document.documentElement.lang')).toBe(language);
    });
  });

  it('sends no request to another server, and does not violate its policy', () => {
    const elsewhere = browser.observed.requests.filter(
      (one) => !one.includes(` ${plinth.baseUrl}/`) && !/ (data|blob):/.test(one),
    );
    expect(elsewhere).toEqual([]);
    // The browser also logs refused requests: the wrong key, the failed statement, requests for endpoints that this server does not have.
    const complaints = browser.observed.complaints.filter(
      (text) => !text.startsWith('Failed to load resource'),
    );
    expect(complaints).toEqual([]);
  });

  it('offers to load the page again if the files of a screen are gone, as after an update', async () => {
    await page.setViewportSize({ width: 1280, height: 720 });
    // Resets the language that the previous test chose.
    await page.evaluate('localStorage.clear()');
    await view.signIn();
    await page.route('**/assets/advisor-*.js', (route) => route.abort());
    await view.open('notebook', 'advisor');
    // The router reloads the page once.
    await view.button('Use the platform admin key').waitFor();
    await view.signIn();
    await view.open('notebook', 'advisor');
    await page.getByRole('heading', { name: 'This screen could not be loaded' }).waitFor();
    await page.unrouteAll();
    await view.button('Reload the page').click();
    await view.button('Use the platform admin key').waitFor();
  });
});

/** A page takes seconds on a busy machine. */
const eventuallyShown = (check: () => Promise<void>): Promise<void> => eventually(check, 20_000);

async function viewAs(name: string): Promise<void> {
  await view.button(/^View as/).click();
  await page.getByRole('menuitem', { name }).click();
}

async function edit(text: string, next: string): Promise<void> {
  await page.getByText(text, { exact: true }).dblclick();
  await page.getByLabel('name', { exact: true }).fill(next);
  await page.keyboard.press('Enter');
  await view.cell(next).waitFor();
}
