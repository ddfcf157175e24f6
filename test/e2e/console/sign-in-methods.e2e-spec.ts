/** Ways to sign in by directories, passkeys and captcha in the console, and staff who sign in to it by SAML and LDAP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { BROWSER_START_MS, hasCompleteBrowser, TestBrowser } from '../../support/browser';
import { assertConsoleBuilt, ConsolePage } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import { type SamlFacts, SamlIdp } from '../../support/saml-idp';
import { BASE_DN, BIND_DN, BIND_PASSWORD, hasSlapd, SlapdServer } from '../../support/slapd-server';
import type { TestProject } from '../../support/test-project';

const PUBLIC_URL = 'http://plinth.test';
/** Uses http, because browsers warn of forms that lead from https to http. */
const IDP_PAGE = 'http://idp.example.com/sso';
const PASSWORD = 'correct horse';
const HOSTILE = `"><img src=x onerror="globalThis.wasHacked=1">`;
const ROLES = { owners: { role: 'owner' } };
const PHONE = { width: 360, height: 740 };

(hasCompleteBrowser && hasSlapd ? describe : describe.skip)(
  'ways to sign in (needs Chromium and slapd)',
  () => {
    let folder: string;
    let slapd: SlapdServer;
    let idp: SamlIdp;
    let plinth: TestPlinth;
    let browser: TestBrowser;
    let page: Page;
    let view: ConsolePage;
    let project: TestProject;
    /** Claims of the next response of the identity provider. */
    let facts: SamlFacts = {};

    jest.setTimeout(BROWSER_START_MS);
    beforeAll(async () => {
      assertConsoleBuilt();
      folder = mkdtempSync(join(tmpdir(), 'saml-'));
      idp = await SamlIdp.create('https://idp.example.com/metadata', IDP_PAGE, () => plinth.clock.now());
      const metadata = join(folder, 'metadata.xml');
      writeFileSync(metadata, idp.metadata());
      const people = ['ada', 'bob'].map((uid) => ({ uid, mail: `${uid}@example.com`, password: PASSWORD }));
      slapd = await SlapdServer.start(people, { owners: ['ada'] });
      plinth = await TestPlinth.start({
        env: {
          PUBLIC_URL,
          AUTH_ALLOWED_HOSTS: '127.0.0.1,idp.example.com',
          STAFF_SIGN_IN: JSON.stringify({
            saml: { metadata, domains: ['saml.example.com'], roles: ROLES },
            ldap: { ...directory(), domains: ['example.com'], roles: ROLES },
          }),
        },
      });
      // The headless shell does not finish a sign-in with SAML.
      const hosts = { 'plinth.test': new URL(plinth.baseUrl).host };
      browser = await TestBrowser.start({ hosts, isComplete: true });
      project = await plinth.createProject({ name: 'Ways' });
      ({ page, view } = await openConsole());
    }, BROWSER_START_MS);
    afterAll(async () => {
      await browser?.stop();
      await plinth?.stop();
      await slapd?.stop();
      rmSync(folder, { recursive: true });
    });

    const directory = () => ({
      url: `ldap://127.0.0.1:${slapd.ldapPort}`,
      ca: slapd.ca,
      bind_dn: BIND_DN,
      bind_password: BIND_PASSWORD,
      base_dn: BASE_DN,
      group_filter: '(member={dn})',
    });

    async function openConsole(): Promise<{ page: Page; view: ConsolePage }> {
      const tab = await browser.newPage();
      // The page of the identity provider, which signs its user in immediately.
      await tab.context().route(`${IDP_PAGE}**`, (route) => {
        const request = SamlIdp.requestIn(route.request().url());
        const response = Buffer.from(idp.response(request, facts)).toString('base64');
        return route.fulfill({
          contentType: 'text/html',
          body: `<form method="post" action="${request.acsUrl}"><input name="SAMLResponse" value="${response}"></form>
          <script>document.forms[0].submit()</script>`,
        });
      });
      return { page: tab, view: new ConsolePage(tab, PUBLIC_URL) };
    }

    const field = (form: string, label: string) =>
      page.getByRole('form', { name: form }).getByLabel(label, { exact: true });

    async function settings(): Promise<Record<string, unknown>> {
      return (await plinth.admin.get(`/admin/v1/projects/${project.id}`)).body.settings;
    }

    it('staff sign in with SAML', async () => {
      facts = {
        nameId: 'staff-1',
        attributes: { mail: ['eve@saml.example.com'], displayName: ['Eve'], groups: ['owners'] },
      };
      await page.goto(`${PUBLIC_URL}/console`);
      await page.getByRole('link', { name: 'Sign in with SAML' }).click();
      await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
      expect(new URL(page.url()).origin).toBe(PUBLIC_URL);
      await page.context().clearCookies();
    });

    it('staff sign in with the password of a directory', async () => {
      await page.goto(`${PUBLIC_URL}/console`);
      await page.getByRole('button', { name: /127\.0\.0\.1/ }).click();
      await page.getByLabel('Name in the directory').fill('ada');
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await view.button('Sign in').click();
      await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    });

    it('adds an identity provider of SAML, and shows the claims that it sends', async () => {
      await view.open(project.slug, 'sign-in');
      const base = `${PUBLIC_URL}/p/${project.slug}/auth/v1/sso/saml`;
      expect(await page.getByRole('textbox', { name: 'Entity ID and metadata' }).inputValue()).toBe(
        `${base}/metadata`,
      );
      expect(await page.getByRole('textbox', { name: 'Assertion consumer service (ACS)' }).inputValue()).toBe(
        `${base}/acs`,
      );
      await view.button('Add identity provider').click();
      const dialog = view.dialog();
      await dialog.getByRole('combobox', { name: 'Domains' }).fill('acme.example.com');
      await dialog.getByLabel('Metadata XML').fill(idp.metadata());
      await dialog
        .getByLabel('Attribute mapping')
        .fill('{"keys": {"groups": {"name": "memberOf", "array": true}}}');
      await view.expectAccessible();
      await dialog.getByRole('button', { name: 'Add identity provider' }).click();
      await page.getByText('Provider acme.example.com saved').waitFor();
      facts = {
        nameId: 'user-1',
        attributes: { mail: ['bob@acme.example.com'], displayName: [HOSTILE], memberOf: ['engineers'] },
      };
      const [tab] = await Promise.all([
        page.waitForEvent('popup'),
        view.button('Try sign-in with acme.example.com').click(),
      ]);
      await tab.getByText(/answered\. Nobody was signed in, and nothing was stored\./).waitFor();
      await tab.getByText('bob@acme.example.com').first().waitFor();
      await tab.getByText(/engineers/).waitFor();
      expect(await tab.evaluate(() => 'wasHacked' in globalThis)).toBe(false);
      await tab.close();
      expect(await project.sql('select from auth.users')).toEqual([]);
      await view.button('Edit acme.example.com').click();
      await view.dialog().getByLabel('Users can sign in with this provider').press('Space');
      await view.dialog().getByRole('button', { name: 'Save provider' }).click();
      await page.getByText('Disabled', { exact: true }).waitFor();
      await view.button('Remove acme.example.com').click();
      await view.dialog().getByRole('button', { name: 'Remove acme.example.com' }).click();
      await view.button('Edit acme.example.com').waitFor({ state: 'detached' });
    });

    it('configures an LDAP directory, and shows what it says about a user', async () => {
      const form = 'LDAP and Active Directory';
      const { url, ca, bind_dn, bind_password, base_dn, group_filter } = directory();
      for (const [label, text] of [
        ['Address', url],
        ['Account that searches (DN)', bind_dn],
        ['Password of the account that searches', bind_password],
        ['Base of the search (DN)', base_dn],
        ['Filter of groups', group_filter],
        ['Certificate authority (PEM)', ca],
      ] as const)
        await field(form, label).fill(text);
      await view.button(`Save settings of ${form}`).click();
      await view.button(`Try sign-in with ${form}`).click();
      await view.dialog().getByLabel('Login of a user').fill('ada');
      await view.dialog().getByLabel('Password of the user').fill('wrong');
      await view.dialog().getByRole('button', { name: 'Try sign-in' }).click();
      await view.dialog().getByRole('alert').waitFor();
      await view.dialog().getByLabel('Password of the user').fill(PASSWORD);
      await view.dialog().getByRole('button', { name: 'Try sign-in' }).click();
      await view
        .dialog()
        .getByText(/ada@example\.com[^]*owners/)
        .waitFor();
      await view.expectAccessible();
      await view.dialog().getByRole('button', { name: 'Cancel' }).click();
      expect(await project.sql('select from auth.users')).toEqual([]);
      // Another save does not change the password.
      await field(form, 'Filter of users').fill('(uid={login})');
      await view.button(`Save settings of ${form}`).click();
      await eventually(async () => {
        const guest = project.client(project.anonKey, null);
        const answer = await guest.post(`${project.auth}/ldap`, { login: 'ada', password: PASSWORD });
        expect(answer.status).toBe(200);
        expect((await settings()).ldap).toHaveProperty('user_filter');
      });
      expect((await settings()).ldap).toMatchObject({ url, base_dn });
      await view.button(`Turn off ${form}`).click();
      await view.button(`Turn off ${form}`).waitFor({ state: 'detached' });
      expect((await settings()).ldap).toBeNull();
    });

    it('turns passkeys and a captcha on and off', async () => {
      await field('Passkeys', 'Users can sign in with passkeys').press('Space');
      await field('Passkeys', 'Domain').fill('example.com');
      await view.button('Save settings of Passkeys').click();
      await page
        .getByText(/^Settings of .* saved$/)
        .first()
        .waitFor();
      await field('Captcha', 'Secret key').fill('secret of the captcha');
      await view.button('Save settings of Captcha').click();
      await view.button('Turn off Captcha').waitFor();
      expect(await settings()).toMatchObject({
        passkeys_enabled: true,
        webauthn_rp_id: 'example.com',
        captcha: { provider: 'hcaptcha' },
      });
      await view.button('Turn off Captcha').click();
      await view.button('Turn off Captcha').waitFor({ state: 'detached' });
      expect((await settings()).captcha).toBeNull();
    });

    it('registers an application, shows its secret once, and removes it', async () => {
      await field('Other applications', 'Other applications can sign users in').press('Space');
      await field('Other applications', 'Page that asks users').fill('https://app.example.com/consent');
      await view.button('Save settings of Other applications').click();
      await view.button('Register application').click();
      await view.dialog().getByLabel('Name', { exact: true }).fill(HOSTILE);
      await view.dialog().getByLabel('Addresses for answers').fill('https://calendar.example.com/callback');
      await view.dialog().getByRole('button', { name: 'Register application' }).click();
      await view.dialog().getByText('Client secret').first().waitFor();
      const [made] = await project.sql('select id, name from auth.oauth_clients');
      expect(made).toMatchObject({ name: HOSTILE });
      await view.dialog().getByText(made.id).first().waitFor();
      await page.keyboard.press('Escape');
      await view.button(`Remove application ${HOSTILE}`).click();
      await view.dialog().getByRole('button', { name: 'Remove application' }).click();
      await page.getByText('No application is registered.').waitFor();
      expect(await page.evaluate(() => 'wasHacked' in globalThis)).toBe(false);
    });

    it('is accessible in both schemes and in German, and fits a phone', async () => {
      await view.expectAccessibleInBothSchemes();
      await page.getByRole('button', { name: 'Language' }).click();
      await page.getByRole('menuitem', { name: 'Deutsch' }).click();
      await page.getByRole('form', { name: 'LDAP und Active Directory' }).waitFor();
      await page.setViewportSize(PHONE);
      expect(await view.overflowing()).toEqual([]);
      await view.expectAccessible();
    });
  },
);
