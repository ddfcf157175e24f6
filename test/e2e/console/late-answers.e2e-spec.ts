/** The console with late responses, on a slow machine, with fast input. */
import type { Locator, Page, Route } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, type TestBrowser } from '../../support/browser';
import { type ConsolePage, startConsole, stopConsole } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import { ADMIN_KEY, type TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

const inBrowser = hasBrowser ? describe : describe.skip;
/** A page takes seconds on a busy machine. */
const SHOWN_MS = 20_000;
/** Milliseconds for which the page is busy when a key is pressed twice. */
const BUSY_MS = 400;

interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

function gate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

inBrowser('the console, late', () => {
  let plinth: TestPlinth;
  let browser: TestBrowser;
  let page: Page;
  let view: ConsolePage;
  let project: TestProject;
  let other: TestProject;

  jest.setTimeout(BROWSER_START_MS);
  beforeAll(async () => {
    ({ plinth, browser, page, view } = await startConsole());
    project = await plinth.createProject({ name: 'First' });
    other = await plinth.createProject({ name: 'Second' });
    await project.sql(`
      create table things (id int primary key, title text);
      insert into things select i, 'thing ' || i from generate_series(1, 9) i;
      create table serials (id serial primary key, title text)`);
    await view.signIn();
  }, BROWSER_START_MS);
  afterAll(() => stopConsole({ plinth, browser }));
  afterEach(async () => {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.context().setOffline(false);
  });

  /** Queues two events while the page is busy, so that the second directly follows the first. */
  async function twice(event: () => Promise<void>): Promise<void> {
    await page.evaluate((busy) => {
      setTimeout(() => {
        const end = performance.now() + busy;
        while (performance.now() < end);
      }, 0);
    }, BUSY_MS);
    await Promise.all([event(), event()]);
  }

  /** Holds the requests to a path back until they are released. */
  async function hold(
    method: string,
    path: RegExp,
  ): Promise<{ arrived: Promise<void>; release: () => void }> {
    const released = gate();
    const arrived = gate();
    await page.route(path, async (route: Route) => {
      if (route.request().method() !== method) return route.fallback();
      arrived.open();
      await released.opened;
      return route.continue();
    });
    return { arrived: arrived.opened, release: released.open };
  }

  const requestsTo = (end: string): string[] => browser.observed.requests.filter((one) => one.endsWith(end));
  const field = (name: string): Locator => view.dialog().getByLabel(name, { exact: true });
  const inDialog = (name: string): Locator => view.dialog().last().getByRole('button', { name, exact: true });

  it('runs an action once if it is clicked or entered twice', async () => {
    await view.open(project.slug, 'tables?table=serials');
    await view.button('Insert row').click();
    await field('title').fill('once');
    await inDialog('Apply to the grid').click();
    const { x, y, width, height } = (await view.button('Save changes').boundingBox())!;
    await twice(() => page.mouse.click(x + width / 2, y + height / 2));
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    expect(await project.sql('select title from serials')).toEqual([{ title: 'once' }]);

    await view.open(project.slug, 'storage');
    await view.button('New bucket').first().click();
    await field('Name').fill('pictures');
    await twice(() => page.keyboard.press('Enter'));
    await page.getByText('Bucket pictures created').first().waitFor();
    expect(requestsTo(`POST ${plinth.baseUrl}/p/${project.slug}/storage/buckets`)).toHaveLength(1);
  });

  it('never shows the keys of one project on the screen of another', async () => {
    await view.open(project.slug, 'keys');
    await view.button('Show keys').click();
    const key = page.getByLabel('anon', { exact: true });
    await key.waitFor();
    await view.open(other.slug, 'keys');
    await page.getByRole('button', { name: /^Second/ }).waitFor();
    // React keeps the old screen hidden in the page until the new screen is loaded.
    expect(await key.filter({ visible: true }).count()).toBe(0);
    await key.waitFor({ state: 'detached' });
    // The code to paste does not have the rotated key either.
    const pasted = view.dialog().getByText(other.anonKey).first();
    await view.button('Connect').click();
    await pasted.waitFor();
    await page.keyboard.press('Escape');
    await view.dialog().waitFor({ state: 'detached' });
    await view.button('Rotate keys').click();
    await inDialog('Rotate keys').click();
    await view.dialog().waitFor({ state: 'detached' });
    await view.button('Connect').click();
    await view
      .dialog()
      .getByText(/createClient/)
      .waitFor();
    await view.dialog().getByLabel('anon', { exact: true }).waitFor();
    expect(await pasted.count()).toBe(0);
    await page.keyboard.press('Escape');
    await view.dialog().waitFor({ state: 'detached' });

    // After somebody else rotates the keys, the next attempt uses a token of the new keys.
    await view.open(other.slug, 'users');
    await page.getByRole('heading', { name: 'No users' }).waitFor();
    await plinth.admin.post(`/admin/v1/projects/${other.id}/keys/rotate`, { grace_seconds: 0 });
    await page.getByLabel('Search users').fill('nobody');
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'No users' }).waitFor();
  });

  it('does not close what was opened after the dialog of a change was closed', async () => {
    await view.open(project.slug, 'users');
    const user = await hold('POST', /\/admin\/users$/);
    await view.button('New user').first().click();
    await field('E-mail').fill('late@example.com');
    await inDialog('Create user').click();
    await user.arrived;
    await inDialog('Cancel').click();
    await view.button('New user').first().click();
    await field('E-mail').fill('next@example.com');
    user.release();
    await page.getByText('User late@example.com created').first().waitFor();
    expect(await field('E-mail').inputValue()).toBe('next@example.com');

    await view.openPath('');
    const made = await hold('POST', /\/admin\/v1\/projects$/);
    await view.button('New project').first().click();
    await field('Name').fill('Late');
    await inDialog('Create project').click();
    await made.arrived;
    await inDialog('Cancel').click();
    made.release();
    await page.getByRole('link', { name: /^Late / }).waitFor();
    expect(page.url()).toBe(`${plinth.baseUrl}/console/`);
  });

  it('keeps every letter of a search, and their order, on a slow machine', async () => {
    await view.open(project.slug, 'users');
    const search = page.getByLabel('Search users');
    const machine = await page.context().newCDPSession(page);
    await machine.send('Emulation.setCPUThrottlingRate', { rate: 6 });
    await search.pressSequentially('tomorrow');
    await page.waitForURL(/search=tomorrow/);
    await search.press('Home');
    await page.keyboard.type('before ');
    await page.waitForURL(/search=before/);
    await machine.detach();
    await eventually(async () => expect(await search.inputValue()).toBe('before tomorrow'), SHOWN_MS);
  });

  it('stores the value typed in a cell in its row, even if a save moves the row', async () => {
    await view.open(project.slug, 'tables?table=things');
    await view.button('Insert row').click();
    await field('id').fill('100');
    await inDialog('Apply to the grid').click();
    const insertion = await hold('POST', /\/rest\/v1\/things/);
    await view.button('Save changes').click();
    await insertion.arrived;
    const editor = page.getByRole('textbox', { name: 'title', exact: true });
    await page.getByText('thing 3', { exact: true }).dblclick();
    await editor.fill('typed');
    insertion.release();
    await page.locator('[data-state=inserted]').waitFor({ state: 'detached' });
    await editor.press('Enter');
    await page.getByText('thing 4', { exact: true }).dblclick();
    await editor.fill('given up');
    await editor.press('Escape');
    await page.getByText('Unsaved changes: 1').waitFor();
    await view.button('Save changes').click();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    expect(await project.sql(`select id, title from things where title !~ '^thing'`)).toEqual([
      { id: 3, title: 'typed' },
    ]);
  });

  it('keeps the cursor of the SQL editor where it is after further typing, and cancels without an error', async () => {
    await view.open(project.slug, 'sql');
    const editor = page.locator('.cm-content');
    await editor.fill('select nowhere');
    const run = await hold('POST', /\/sql$/);
    await view.button('Run SQL').click();
    await run.arrived;
    await editor.press('Control+End');
    await page.keyboard.type(' -- one');
    run.release();
    await page.getByText('column "nowhere" does not exist').waitFor();
    await page.keyboard.type(' two');
    expect(await editor.innerText()).toBe('select nowhere -- one two');

    await editor.fill('select pg_sleep(30)');
    await view.button('Run SQL').click();
    await view.button('Cancel').click();
    await page.getByText('Cancelled', { exact: true }).waitFor();
    await view.open(project.slug, 'inside?view=requests');
    await page.getByText('Connected', { exact: true }).waitFor();
    await view.open(project.slug, 'inside?view=limits');
    await page.getByText('Storage requests').waitFor();
    // The page sends this request only if the server does not answer.
    expect(browser.observed.requests.filter((one) => one.startsWith('HEAD '))).toEqual([]);
  });

  it('does not repeat a change that failed without a network, and closes one dialog by Escape', async () => {
    const user = await project.signUp();
    await view.open(project.slug, `users?user=${user.id}`);
    await view.button('Delete user').click();
    await page.context().setOffline(true);
    await inDialog('Delete user').click();
    await view.dialog().last().getByText('The server did not answer').waitFor();
    await page.context().setOffline(false);
    await page.getByText('No answer from the server').waitFor({ state: 'detached' });
    const dialogs = (count: number): Promise<void> =>
      eventually(async () => expect(await view.dialog().count()).toBe(count), SHOWN_MS);
    await dialogs(2);
    await page.keyboard.press('Control+k');
    await dialogs(3);
    for (const left of [2, 1]) {
      await page.keyboard.press('Escape');
      await dialogs(left);
      // The drawer below would close within this time.
      await page.waitForTimeout(BUSY_MS);
      await dialogs(left);
    }
    expect(await page.locator(':focus').innerText()).toBe('Delete user');
    await page.keyboard.press('Escape');
    await dialogs(0);

    // The palette is replaced below the person when the project is loaded.
    const late = await plinth.createProject({ name: 'Third' });
    await late.sql('create table late_things ()');
    await view.openPath('');
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    const record = await hold('GET', /\/projects\?slug=/);
    await view.open(late.slug, '');
    await record.arrived;
    await page.keyboard.press('Control+k');
    await view.dialog().getByRole('textbox').fill('late_things');
    record.release();
    await view.dialog().locator('[data-action]').getByText('late_things').waitFor();
    await page.keyboard.press('Escape');
    await dialogs(0);
    expect(await project.sql(`select from auth.users where id = '${user.id}'`)).toHaveLength(1);
  });

  it('keeps the input that is typed while a form is saved', async () => {
    await view.open(project.slug, 'settings');
    const name = page.getByLabel('Name', { exact: true });
    const settings = await hold('PATCH', /\/admin\/v1\/projects\/[^/]+$/);
    await name.fill('First renamed');
    await view.button('Save settings').click();
    await settings.arrived;
    await name.fill('First renamed again');
    settings.release();
    await page.getByRole('button', { name: 'First renamed' }).waitFor();
    expect(await name.inputValue()).toBe('First renamed again');
    await view.button('Discard changes').click();

    const user = await project.signUp();
    await view.open(project.slug, `users?user=${user.id}`);
    const profile = await hold('PATCH', /\/admin\/users\/[^/]+$/);
    await field('Name').fill('Ada');
    await inDialog('Save user').click();
    await profile.arrived;
    await field('Name').fill('Ada Lovelace');
    profile.release();
    await page.getByRole('row', { name: /Ada/ }).waitFor({ state: 'attached' });
    expect(await field('Name').inputValue()).toBe('Ada Lovelace');
  });

  it('changes the bucket that a dialog was opened for, and asks before uploads are left', async () => {
    const place = `/p/${project.slug}/storage/buckets`;
    for (const name of ['one', 'two']) await project.service.post(place, { name });
    await view.open(project.slug, 'storage?bucket=two');
    await page.getByRole('button', { name: 'two', exact: true }).waitFor();
    await view.open(project.slug, 'storage?bucket=one');
    await page.getByRole('button', { name: 'one', exact: true }).waitFor();
    await view.button('Actions for the bucket').click();
    await page.getByRole('menuitem', { name: 'Edit bucket' }).click();
    await page.goBack();
    await page.getByRole('button', { name: 'two', exact: true }).waitFor();
    await field('Name').fill('one renamed');
    await inDialog('Save bucket').click();
    await page.getByRole('link', { name: 'one renamed' }).waitFor();
    await page.getByRole('link', { name: 'two', exact: true }).waitFor();

    const upload = await hold('POST', /\/upload/);
    const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') };
    await page.locator('input[type=file]').setInputFiles(file);
    await upload.arrived;
    await page.getByRole('link', { name: 'two', exact: true }).click();
    await page.getByRole('link', { name: 'Advisor' }).click();
    await view.dialog().getByText('Uploads in progress: 1').waitFor();
    await inDialog('Cancel').click();
    upload.release();
    await page.getByRole('progressbar', { name: 'a.txt' }).waitFor({ state: 'detached' });
    expect(await project.sql('select filename from storage.files')).toEqual([{ filename: 'a.txt' }]);
  });

  it('shows when the server accepts another attempt, and makes none before', async () => {
    await view.open(other.slug, 'users');
    await page.getByRole('heading', { name: 'No users' }).waitFor();
    let refusals = 0;
    await page.route(/search=often/, (route) => {
      refusals += 1;
      const error = { message: 'Too many requests', code: 'rate_limited' };
      return route.fulfill({ status: 429, headers: { 'Retry-After': '30' }, json: { error } });
    });
    await page.getByLabel('Search users').fill('often');
    await page.getByText('The server takes another attempt in 30 s.').waitFor();
    expect(refusals).toBe(1);
  });

  it('does not end a session when a request of the previous session is refused', async () => {
    await view.open(project.slug, 'inside?view=limits');
    await page.getByText('Storage requests').waitFor();
    const late = gate();
    /** One refusal for each of the two requests. */
    let refusals = 2;
    await page.route(/\/(advice|overview)$/, async (route) => {
      if (refusals-- <= 0) return route.fallback();
      if (route.request().url().endsWith('/overview')) await late.opened;
      return route.fulfill({ status: 401, json: { error: { code: 'unauthorized', message: 'ended' } } });
    });
    const third = await plinth.createProject({ name: 'Third' });
    await view.open(third.slug, '');
    await field('Platform admin key').fill(ADMIN_KEY);
    await inDialog('Sign in').click();
    await view.dialog().waitFor({ state: 'detached' });
    const again = page.waitForResponse((one) => one.url().endsWith('/overview') && one.ok());
    late.open();
    await again;
    expect(await view.dialog().count()).toBe(0);
  });
});
