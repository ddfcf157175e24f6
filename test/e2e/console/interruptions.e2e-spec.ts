/** The console while the network is slow, the server restarts, or somebody else pauses or deletes the project. */
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, TestBrowser } from '../../support/browser';
import { assertConsoleBuilt, ConsolePage, stopConsole } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import { IN_SOAK } from '../../support/extent';
import { TestPlinth } from '../../support/plinth';
import { freePort } from '../../support/plinth-process';
import type { TestProject } from '../../support/test-project';

// These tests wait for minutes, so only `npm run soak` runs them.
const inBrowser = hasBrowser && IN_SOAK ? describe : describe.skip;
const SHOWN_MS = 30_000;
/** Time limit for a click on an element that may be gone. */
const SHORT_MS = 2_000;
/** A slow mobile network: throughput in bytes per second, latency in milliseconds. */
const SLOW = { offline: false, downloadThroughput: 50_000, uploadThroughput: 20_000, latency: 400 };

inBrowser('the console', () => {
  let plinth: TestPlinth;
  /** The server that the browser uses, which can be stopped and restarted at the same port. */
  let server: TestPlinth;
  let browser: TestBrowser;
  let page: Page;
  let view: ConsolePage;
  let project: TestProject;
  let port: number;

  jest.setTimeout(180_000);
  beforeAll(async () => {
    assertConsoleBuilt();
    port = await freePort();
    plinth = await TestPlinth.start();
    project = await plinth.createProject({ name: 'Shop' });
    await project.sql(`create table things (id int primary key, title text);
      insert into things select i, 'thing ' || i from generate_series(1, 500) i`);
    await start();
    browser = await TestBrowser.start();
    page = await browser.newPage();
    page.setDefaultTimeout(SHOWN_MS);
    view = new ConsolePage(page, server.baseUrl);
    await view.signIn();
  }, BROWSER_START_MS);
  afterAll(async () => {
    await browser?.stop();
    await server?.stop();
    await stopConsole({ plinth });
  });

  const start = async (): Promise<void> =>
    void (server = await TestPlinth.start({ replicaOf: plinth, port }));
  const titleOf = async (id: number): Promise<unknown> =>
    (await project.sql(`select title from things where id = ${id}`))[0]?.title;
  async function edit(text: string, next: string): Promise<void> {
    await page.getByText(text, { exact: true }).dblclick();
    await page.getByLabel('title', { exact: true }).fill(next);
    await page.keyboard.press('Enter');
    await view.cell(next).waitFor();
  }
  /** Clicks *Save* until the value is stored. */
  async function save(id: number, title: string): Promise<void> {
    await eventually(async () => {
      const button = view.button('Save changes');
      await button.click({ timeout: SHORT_MS }).catch(() => undefined);
      expect(await titleOf(id)).toBe(title);
    }, SHOWN_MS);
  }

  // A failed test may have left the server stopped.
  beforeEach(async () => {
    const answers = await server.http.get('/console').then(
      () => true,
      () => false,
    );
    if (!answers) await start();
  });

  it('keeps the input while the server restarts, and continues without a click', async () => {
    await view.open(project.slug, 'tables?table=things');
    await edit('thing 1', 'typed before');
    await server.stop();
    await view.button('Save changes').click();
    await page.getByText('The server did not answer').first().waitFor();
    await page.getByText('Unsaved changes: 1').waitFor();
    await start();
    await save(1, 'typed before');

    // A screen that is opened while the server is stopped waits for it.
    await server.stop();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'Advisor' }).click();
    await page.getByRole('status').getByText('No answer from the server').waitFor();
    await start();
    await page.getByRole('heading', { name: 'Advisor', level: 1 }).waitFor();
    await view.loaded();
    expect(await page.getByRole('alert').count()).toBe(0);

    // A screen with a failure retries without a click.
    await view.open(project.slug, 'users');
    await page.getByRole('heading', { name: 'No users' }).waitFor();
    await server.stop();
    await page.getByLabel('Search users').fill('nobody');
    await page.getByText('The server did not answer').waitFor();
    await start();
    await page.getByText('The server did not answer').waitFor({ state: 'detached' });
    await page.getByText('No answer from the server').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Search users').inputValue()).toBe('nobody');
    expect(await view.button('Use the platform admin key').count()).toBe(0);
  });

  it('follows live requests again after a restart of the server', async () => {
    await view.open(project.slug, 'inside?view=requests');
    await page.getByText('Connected', { exact: true }).waitFor();
    await server.stop();
    await page.getByText('Connecting', { exact: true }).waitFor();
    await start();
    await page.getByText('Connected', { exact: true }).waitFor();
    const { anonKey } = project;
    await server.http.with({ apikey: anonKey }).unchecked().get(`/p/${project.slug}/rest/v1/things?limit=1`);
    await page.getByText('/rest/v1/things?limit=***').first().waitFor();
  });

  it('is usable on a slow network', async () => {
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.emulateNetworkConditions', SLOW);
    try {
      await view.open(project.slug, 'tables?table=things');
      await view.cell('thing 2').waitFor();
      await edit('thing 2', 'first');
      await view.button('Save changes').click();
      // Of two changes during a save, neither is lost, and no click sends a change twice.
      await edit('thing 3', 'second');
      await save(2, 'first');
      await save(3, 'second');
      await page.getByRole('grid').evaluate((node) => node.scrollTo(0, node.scrollHeight));
      await view.cell('thing 500').waitFor();
      // A search supersedes earlier searches.
      await view.open(project.slug, 'sql');
      await page.locator('.cm-content').fill('select 42 as answer');
      await view.button('Run SQL').click();
      await page.getByRole('cell', { name: '42' }).waitFor();
    } finally {
      await network.send('Network.emulateNetworkConditions', {
        ...SLOW,
        downloadThroughput: -1,
        uploadThroughput: -1,
        latency: 0,
      });
      await network.detach();
    }
  });

  it('reports that somebody else paused the project, and keeps the input until it is resumed', async () => {
    await view.open(project.slug, 'tables?table=things');
    await view.cell('thing 4').waitFor();
    await edit('thing 4', 'through the pause');
    await plinth.admin.post(`/admin/v1/projects/${project.id}/pause`);
    await view.button('Save changes').click();
    await page.getByRole('heading', { name: /^The project has been paused since/ }).waitFor();
    expect(await view.seriousFindings()).toEqual([]);
    await plinth.admin.post(`/admin/v1/projects/${project.id}/resume`);
    await page.getByText('Unsaved changes: 1').waitFor();
    await save(4, 'through the pause');
  });

  it.each(['tables', 'sql', 'policies', 'settings', 'storage', 'inside?view=charts'])(
    'reports on %s that somebody else deleted the project, and links to the other projects',
    async (screen) => {
      const gone = await plinth.createProject({ name: 'Gone' });
      await gone.sql('create table things (id int primary key)');
      await view.open(gone.slug, screen === 'sql' ? 'sql?query=select+1' : screen);
      await view.loaded();
      await plinth.admin.delete(`/admin/v1/projects/${gone.id}`);
      if (screen === 'sql') {
        // The page may have noticed the deletion earlier.
        await view
          .button('Run SQL')
          .click({ timeout: SHORT_MS })
          .catch(() => undefined);
      } else {
        await view.open(gone.slug, screen === 'tables' ? 'policies' : 'tables');
        await view.open(gone.slug, screen);
        const refresh = view.button('Refresh').or(view.button('Save settings')).first();
        await refresh.click({ timeout: SHORT_MS }).catch(() => undefined);
        await page.getByRole('link', { name: 'Advisor' }).click();
      }
      await page.getByRole('heading', { name: 'Nothing here' }).waitFor();
      await page.getByRole('link', { name: 'All projects' }).last().click();
      await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
      await page.getByText('Gone', { exact: true }).waitFor({ state: 'detached' });
    },
  );
});
