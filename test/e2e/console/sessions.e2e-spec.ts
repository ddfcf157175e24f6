/** Sessions of the console in a real browser: passkeys, requests that another site forges, stolen cookies. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { addAuthenticator, BROWSER_START_MS, hasBrowser, TestBrowser } from '../../support/browser';
import { assertConsoleBuilt, ConsolePage, stopConsole } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import { IN_SOAK } from '../../support/extent';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { freePort } from '../../support/plinth-process';
import type { TestProject } from '../../support/test-project';
import { cookieOf, newPerson, signIn, STAFF_PASSWORD, type TestPerson } from '../../support/staff';

const COOKIE = 'plinth_staff';
const SHOWN_MS = 20_000;
// e2e/staff tests the same rules over HTTP, so only `npm run soak` tests them in a browser.
const inBrowser = hasBrowser && IN_SOAK ? describe : describe.skip;

inBrowser('a session of the console', () => {
  let plinth: TestPlinth;
  let browser: TestBrowser;
  let page: Page;
  let view: ConsolePage;
  let ada: TestPerson;
  /** A page of an attacker, with any content. */
  let foreign: Server;
  let foreignPage = '';
  /** Origin in the browser, which is localhost because passkeys need https or localhost. */
  let origin: string;

  jest.setTimeout(BROWSER_START_MS);
  beforeAll(async () => {
    assertConsoleBuilt();
    const port = await freePort();
    origin = `http://localhost:${port}`;
    plinth = await TestPlinth.start({ port, env: { PUBLIC_URL: origin } });
    ada = await newPerson(plinth, 'owner', [], 'ada@example.com');
    foreign = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(foreignPage);
    });
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    browser = await TestBrowser.start({ hosts: { localhost: '127.0.0.1', 'evil.test': '127.0.0.1' } });
    page = await browser.newPage();
    view = new ConsolePage(page, origin);
  }, BROWSER_START_MS);
  afterAll(async () => {
    await stopConsole({ browser, plinth });
    await new Promise((resolve) => foreign?.close(resolve));
  });

  async function signInByPassword(): Promise<void> {
    await page.context().clearCookies();
    await page.goto(`${origin}/console`);
    await page.getByLabel('E-mail').fill(ada.email);
    await page.getByLabel('Password', { exact: true }).fill(STAFF_PASSWORD);
    await view.button('Sign in').click();
    await signedIn();
  }
  /** Waits for any page of a signed-in staff member, because a sign-in keeps the address. */
  const signedIn = (): Promise<void> => view.button('Account').waitFor({ timeout: SHOWN_MS });
  const atSignIn = (): Promise<void> => page.getByLabel('E-mail').waitFor({ timeout: SHOWN_MS });
  async function signOut(): Promise<void> {
    await view.button('Account').click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await atSignIn();
  }
  async function cookie(): Promise<string> {
    const found = (await page.context().cookies()).find(({ name }) => name === COOKIE);
    return found?.value ?? '';
  }
  /** Sends a request with a cookie that was copied from the browser. */
  const asThief = (value: string): Promise<HttpAnswer> =>
    plinth.http.with({ cookie: `${COOKIE}=${value}` }).get('/admin/v1/session');

  describe('by a passkey', () => {
    it('is enrolled and renamed in the account, begins a session without a password, and ends when it is deleted', async () => {
      await addAuthenticator(page);
      await signInByPassword();
      await page.goto(`${origin}/console/account`);
      await view.button('Add a passkey').click();
      await view.dialog().getByLabel('Name of the passkey').fill('Laptop');
      await view.dialog().getByLabel('Your password').fill(STAFF_PASSWORD);
      await view.dialog().getByRole('button', { name: 'Add a passkey' }).click();
      await view.button('I have stored them').click();
      await page.getByText('Laptop', { exact: true }).waitFor();
      await view.button('Rename passkey').click();
      await view.dialog().getByLabel('Name of the passkey').fill('Work laptop');
      await view.dialog().getByRole('button', { name: 'Rename passkey' }).click();
      await page.getByText('Work laptop', { exact: true }).waitFor();
      await signOut();
      await view.button('Sign in with a passkey').click();
      await signedIn();
      await page.goto(`${origin}/console/account`);
      await view.button('Delete passkey').first().click();
      await view.dialog().getByLabel('Your password').fill(STAFF_PASSWORD);
      await view.dialog().getByRole('button', { name: 'Delete passkey' }).click();
      await eventually(
        async () => expect(await page.getByText('Work laptop', { exact: true }).count()).toBe(0),
        SHOWN_MS,
      );
      await signOut();
      await view.button('Sign in with a passkey').click();
      await page.getByRole('alert').waitFor();
      expect(await cookie()).toBe('');
    });
  });

  it('older than ten minutes asks for a confirmation before a sensitive action, and then continues it', async () => {
    await signInByPassword();
    await page.goto(`${origin}/console/account`);
    plinth.clock.move(11 * 60);
    await view.button('New token').click();
    await view.dialog().getByLabel('Name of the token').fill('CI');
    await view.dialog().getByRole('button', { name: 'Create token' }).click();
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await proof.getByLabel('Password', { exact: true }).fill('wrong password');
    await proof.getByRole('button', { name: 'Confirm identity' }).click();
    await proof.getByRole('alert').waitFor();
    await proof.getByLabel('Password', { exact: true }).fill(STAFF_PASSWORD);
    await proof.getByRole('button', { name: 'Confirm identity' }).click();
    await page.getByText('Your new token').waitFor({ timeout: SHOWN_MS });
  });

  it('older than ten minutes reads by SQL, and asks for a confirmation before it changes data or creates a user', async () => {
    const own = await plinth.createProject({ name: 'Sensitive' });
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
    const prove = async (): Promise<void> => {
      await proof.getByLabel('Password', { exact: true }).fill(STAFF_PASSWORD);
      await proof.getByRole('button', { name: 'Confirm identity' }).click();
      await proof.waitFor({ state: 'detached' });
    };
    await signInByPassword();
    plinth.clock.move(11 * 60);
    await page.goto(
      `${origin}/console/projects/${own.slug}/sql?query=${encodeURIComponent('select 42 as n')}`,
    );
    await view.button('Run SQL').click();
    await page.getByRole('cell', { name: '42' }).waitFor();
    await page.locator('.cm-content').fill('create table made (id int)');
    await view.button('Run SQL').click();
    await prove();
    await eventually(async () =>
      expect(await own.sql("select to_regclass('made') as at")).toEqual([{ at: 'made' }]),
    );
    plinth.clock.move(11 * 60);
    await page.goto(`${origin}/console/projects/${own.slug}/users`);
    await view.button('New user').click();
    await view.dialog().getByLabel('E-mail', { exact: true }).fill('grace@example.com');
    await view.button('Create user').click();
    await prove();
    await page.getByRole('button', { name: /grace@example.com/ }).waitFor({ timeout: SHOWN_MS });
  });

  describe('that has ended', () => {
    let shop: TestProject;
    let grace: TestPerson;
    const things = (): Promise<unknown[]> => shop.sql('select title from things order by id');
    const ended = (on: Page) => on.getByText('Your session has ended');
    beforeAll(async () => {
      shop = await plinth.createProject({ name: 'Shop' });
      await shop.sql(`create table things (id int primary key, title text);
        insert into things values (1, 'secret of the first')`);
      grace = await newPerson(plinth, 'operator', [], 'grace@example.com');
    });
    afterAll(() => plinth.admin.delete(`/admin/v1/projects/${shop.id}`));
    async function enter(title: string): Promise<void> {
      await page.goto(`${origin}/console/projects/${shop.slug}/tables?table=things`);
      await page.getByRole('gridcell').nth(2).dblclick();
      await page.getByLabel('title', { exact: true }).fill(title);
      await page.keyboard.press('Enter');
      await page.getByText('Unsaved changes: 1').waitFor();
    }
    async function signInAs(on: Page, email: string): Promise<void> {
      await on.getByLabel('E-mail').fill(email);
      await on.getByLabel('Password', { exact: true }).fill(STAFF_PASSWORD);
      await on.getByRole('button', { name: 'Sign in', exact: true }).click();
    }

    it('that ends in another tab hides the page immediately, and continues after a sign-in there', async () => {
      await signInByPassword();
      await enter('typed by Ada');
      const other = await browser.newPage();
      await other.goto(`${origin}/console`);
      await other.getByRole('button', { name: 'Account' }).click();
      await other.getByRole('menuitem', { name: 'Sign out' }).click();
      await ended(page).waitFor();
      await signInAs(other, ada.email);
      await ended(page).waitFor({ state: 'detached' });
      // The page uses the CSRF token of the new session.
      await view.button('Save changes').click();
      await eventually(async () => expect(await things()).toEqual([{ title: 'typed by Ada' }]), SHOWN_MS);
      await other.close();
    });

    it('shows another staff member no rows, changes or statements of the previous session', async () => {
      await page.goto(`${origin}/console/projects/${shop.slug}/sql`);
      await page.locator('.cm-content').fill("select 'statement of the first'");
      await view.button('Run SQL').click();
      await page.getByRole('cell', { name: 'statement of the first' }).waitFor();
      await page.locator('.cm-content').fill('-- draft of the first');
      // Navigates within the page, because a reload discards the draft.
      await page.getByRole('link', { name: 'Tables' }).click();
      await page.getByRole('gridcell').nth(2).dblclick();
      await page.getByLabel('title', { exact: true }).fill('unsaved of the first');
      await page.keyboard.press('Enter');
      await page.context().clearCookies();
      await view.button(/^View as/).click();
      await page.getByRole('menuitem', { name: 'Not signed in (anon)' }).click();
      await ended(page).waitFor();
      await signInAs(page, grace.email);
      await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/console/');
      await page.getByRole('link', { name: /Shop/ }).click();
      for (const screen of ['Tables', 'SQL']) {
        await page.getByRole('link', { name: screen, exact: true }).click();
        await view.loaded();
        expect(await page.locator('body').innerText()).not.toContain('of the first');
      }
      await view.button('Queries').click();
      await view.dialog().getByRole('heading', { name: 'History' }).waitFor();
      expect(await page.locator('body').innerText()).not.toContain('of the first');
      expect(await things()).toEqual([{ title: 'typed by Ada' }]);
    });

    it('is not taken over by another staff member who signed in in another tab, except on request', async () => {
      await signInByPassword();
      await enter('unsaved again');
      const other = await browser.newPage();
      await other.goto(`${origin}/console`);
      await other.getByRole('button', { name: 'Account' }).click();
      await other.getByRole('menuitem', { name: 'Sign out' }).click();
      await signInAs(other, grace.email);
      await other.getByRole('button', { name: 'Account' }).waitFor();
      await view.button(`Continue as ${grace.email}`).click();
      await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
      await view.button('Account').click();
      await page.getByText(grace.email).waitFor();
      await page.keyboard.press('Escape');
      await other.close();
    });
  });

  describe('that another site forges a request for', () => {
    const BODY = JSON.stringify({ name: 'Forged' });
    /** A form whose body is JSON, because the `=` of its `name=value` is inside a string. */
    const form = (): string => `<form method="post" enctype="text/plain" action="${origin}/admin/v1/projects">
      <input name='{"name": "Forged", "plan": "free", "slug": "' value='forged"}'></form>
      <script>document.forms[0].submit()</script>`;
    const script = (): string => `<script>
      Promise.allSettled([
        fetch('${origin}/admin/v1/projects', { method: 'POST', credentials: 'include', body: '${BODY}' }),
        fetch('${origin}/admin/v1/projects', { method: 'POST', credentials: 'include', body: '${BODY}',
          headers: { 'content-type': 'application/json', 'x-csrf-token': 'guessed' } }),
        fetch('${origin}/admin/v1/session', { credentials: 'include' }).then((answer) => answer.text()),
      ]).then((outcomes) => { document.title = outcomes.map(({ status }) => status).join(' '); });
      </script>`;
    const placeOf = (host: string): string => `http://${host}:${(foreign.address() as AddressInfo).port}/`;

    // Another port is the same site for cookies, so only the CSRF token blocks it.
    it.each(['evil.test', 'localhost'])(
      'gets nothing from http://%s, by a form or a script',
      async (host) => {
        await signInByPassword();
        const before = await cookie();
        const answered: string[] = [];
        page.on('response', (response) => {
          const isForged =
            response.request().method() === 'POST' && response.url().startsWith(`${origin}/admin`);
          if (isForged) answered.push(String(response.status()));
        });
        foreignPage = form();
        await page.goto(placeOf(host));
        await page.waitForURL(`${origin}/admin/v1/projects`);
        expect(await page.locator('body').textContent()).toContain(
          host === 'localhost' ? 'csrf_failed' : 'unauthorized',
        );
        foreignPage = script();
        await page.goto(placeOf(host));
        await page.waitForFunction('document.title !== ""');
        // The browser withholds every response, and does not send the request with a custom header at all.
        expect(await page.title()).toBe('rejected rejected rejected');
        expect(answered.filter((status) => Number(status) < 300)).toEqual([]);
        page.removeAllListeners('response');
        expect((await plinth.admin.get('/admin/v1/projects')).body).toEqual([]);
        expect(await cookie()).toBe(before);
      },
    );
  });

  describe('whose cookie is stolen', () => {
    it('is not readable by scripts, and is invalid after the sign-out', async () => {
      await signInByPassword();
      expect(await page.evaluate('document.cookie')).toBe('');
      const stolen = await cookie();
      expect((await asThief(stolen)).status).toBe(200);
      await signOut();
      expect((await asThief(stolen)).status).toBe(401);
    });

    it('ends for the thief and the owner when the thief uses it after its rotation', async () => {
      await signInByPassword();
      const stolen = await cookie();
      plinth.clock.move(16 * 60);
      await page.reload();
      await signedIn();
      await eventually(async () => expect(await cookie()).not.toBe(stolen), SHOWN_MS);
      plinth.clock.move(2 * 60);
      await page.reload();
      await signedIn();
      expect((await asThief(stolen)).status).toBe(401);
      await page.reload();
      await atSignIn();
    });

    it('of another installation gives no access', async () => {
      const other = await TestPlinth.start();
      try {
        await newPerson(other, 'owner', [], ada.email);
        const [, value = ''] = (cookieOf(await signIn(other, ada.email)) ?? '').split('=');
        expect(value).not.toBe('');
        await page.context().addCookies([{ name: COOKIE, value, url: origin }]);
        await page.goto(`${origin}/console`);
        await atSignIn();
        expect((await asThief(value)).status).toBe(401);
      } finally {
        await other.stop();
      }
    });
  });
});
