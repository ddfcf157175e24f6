/** The console's monitoring of a project, in a real browser against a real server. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { RequestSamples } from '../../../src/traffic/samples/request-samples.service';
import { BROWSER_START_MS, hasBrowser, TestBrowser } from '../../support/browser';
import { assertConsoleBuilt, ConsolePage } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import { MailServer } from '../../support/mail-server';
import { accessOf, asOwner, asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { ProviderServer } from '../../support/provider-server';
import { expectSucceeded } from '../../support/scheduled-backups';
import type { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';
import { WebhookReceiver } from '../../support/webhook-receiver';

const HOSTILE = `"><img src=x onerror="globalThis.wasHacked=1"><script>globalThis.wasHacked=1</script> \u202eabc`;
const LIVE = 'told_live';
const inBrowser = hasBrowser ? describe : describe.skip;
/** A page takes seconds on a busy machine. */
const SHOWN_MS = 20_000;

inBrowser('monitoring of a project', () => {
  let directory: string;
  let smtp: MailServer;
  let receiver: WebhookReceiver;
  let plinth: TestPlinth;
  let browser: TestBrowser;
  let page: Page;
  let view: ConsolePage;
  let project: TestProject;

  jest.setTimeout(BROWSER_START_MS);
  beforeAll(async () => {
    assertConsoleBuilt();
    directory = mkdtempSync(join(tmpdir(), 'plinth-inside-'));
    smtp = await MailServer.start();
    receiver = await WebhookReceiver.start();
    // A refused mail is retried later than the tests take.
    plinth = await TestPlinth.start({
      env: {
        SMTP_URL: smtp.url,
        AUTH_ALLOWED_HOSTS: '127.0.0.1',
        WEBHOOK_ALLOWED_HOSTS: receiver.host,
        BACKUP_PASSPHRASE: 'correct-horse-battery',
        BACKUP_URL: `file://${directory}?incremental=true`,
      },
      tuning: { mailRetryDelayMs: 3_600_000 },
    });
    browser = await TestBrowser.start();
    project = await plinth.createProject({ name: 'Inside' });
    await project.sql(`
      create table open_notes (id int primary key, title text);
      create table api_notes (id int primary key, owner uuid default auth.uid(), big numeric);
      create policy own on api_notes to authenticated using (owner = (select auth.uid()));
      create policy add on api_notes for insert to anon with check (id < 10);
      alter table open_notes disable row level security;
      create table "${HOSTILE.replaceAll('"', '""').slice(0, 60)}" (id int primary key);
      alter table "${HOSTILE.replaceAll('"', '""').slice(0, 60)}" disable row level security;
      grant select on all tables in schema public to anon`);
    page = await browser.newPage();
    view = new ConsolePage(page, plinth.baseUrl);
    await view.signIn();
  }, BROWSER_START_MS);
  afterAll(async () => {
    await browser?.stop();
    await plinth?.stop();
    await smtp?.stop();
    await receiver?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('realtime: makes a table live, and shows what a channel receives and sends', async () => {
    await project.sql(`create table ${LIVE} (id int primary key, title text);
      create policy everybody on ${LIVE} to anon using (true)`);
    await view.open(project.slug, 'realtime');
    await page.getByLabel(`Send the changes of public.${LIVE}`).click({ force: true });
    await page.getByText(`The changes of public.${LIVE} are sent`).waitFor();
    await page.getByRole('textbox', { name: /^Name/ }).fill('room-1');
    await page.getByRole('combobox', { name: 'Changes of' }).click();
    await page.getByRole('option', { name: `public.${LIVE}` }).click();
    await view.button('View as: Service role').click();
    await page.getByRole('menuitem', { name: 'Not signed in (anon)' }).click();
    await view.button('Join channel').click();
    await page.getByText('Joined', { exact: true }).waitFor();
    await page.getByText('Subscribed to PostgreSQL').waitFor();

    await project.sql(`insert into ${LIVE} values (7, 'told live')`);
    await page.getByText('told live').waitFor();
    await page.getByLabel('Payload').fill(JSON.stringify({ text: HOSTILE }));
    await view.button('Send message').click();
    await page.getByText('Broadcast', { exact: true }).waitFor();
    expect(await page.evaluate('globalThis.wasHacked')).toBeUndefined();
    await page.getByLabel('Payload').fill('{');
    await view.button('Send message').click();
    await page.getByText('This is not valid JSON').waitFor();
    await view.expectAccessibleInBothSchemes();

    await view.button('Leave channel').click();
    await page.getByText('Not joined').waitFor();
    await page.getByRole('checkbox', { name: 'Private' }).check();
    await view.button('Join channel').click();
    await page
      .getByRole('alert')
      .getByText(/not.*(allow|permi|read)|Unauthorized/i)
      .first()
      .waitFor();
    await view.button('Leave channel').click();
    await project.sql(`drop table ${LIVE}`);
  });

  it('live requests: shows them as text, pauses and filters', async () => {
    await view.open(project.slug, 'inside?view=requests');
    await page.getByText('Connected', { exact: true }).waitFor();
    await project.service.get('/rest/v1/open_notes?select=id');
    await page.getByText('/rest/v1/open_notes?select=***').first().waitFor();
    const path = encodeURIComponent(HOSTILE);
    await project.service.unchecked().get(`/rest/v1/${path}`);
    await project.service.unchecked().get(`/rest/v1/long?id=eq.1&${'x'.repeat(7_000)}=1`);
    await page.getByText('/rest/v1/long').first().waitFor();
    await view.expectAccessibleInBothSchemes();
    await view.button('Pause list').click();
    await project.service.get('/rest/v1/open_notes?offset=0');
    await view.button(/^Resume list \([1-9]/).waitFor();
    expect(await page.getByText('/rest/v1/open_notes?offset=***').count()).toBe(0);
    await view.button(/^Resume/).click();
    await page.getByText('/rest/v1/open_notes?offset=***').waitFor();
    await page.getByLabel('Filter by path, method, status or role').fill('offset');
    await eventually(
      async () => expect(await page.locator('#main tbody').getByRole('row').count()).toBe(1),
      SHOWN_MS,
    );
    expect(page.url()).toContain('filter=offset');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });

  it('history: finds a request, says why it failed, and explains its statement as the role', async () => {
    await project.sql('create table guarded (id int primary key)');
    const token = `eyJ${'a'.repeat(40)}`;
    await project.anon.post('/rest/v1/guarded', { id: 1 });
    await project.service.get(`/rest/v1/guarded?id=eq.1&${token}=1`);
    await view.open(project.slug, 'inside?view=history&filter=guarded');
    const rows = page.locator('#main tbody').getByRole('row');
    await eventually(async () => expect(await rows.count()).toBe(2), SHOWN_MS);
    expect(await page.getByText(/aaaaaa|eq\.1/).count()).toBe(0);
    await view.expectAccessibleInBothSchemes();
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Database errors' }).click();
    await eventually(async () => expect(await rows.count()).toBe(1), SHOWN_MS);
    expect(page.url()).toContain('status=database');
    // Uses only the keyboard.
    await rows.getByRole('button').focus();
    await page.keyboard.press('Enter');
    const drawer = view.dialog();
    await drawer.getByText('no policy of row-level security allows the row').waitFor();
    await drawer.getByLabel('Statement').filter({ hasText: 'INSERT INTO' }).waitFor();
    await drawer.getByText(/ms in total, of which .* in the database/).waitFor();
    await view.expectAccessibleInBothSchemes();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await project.service.get('/rest/v1/guarded?order=id');
    await view.open(project.slug, 'inside?view=history&filter=guarded%3Forder&source=rest');
    await page.getByText('/rest/v1/guarded?order=***').waitFor();
    await rows.first().getByRole('button').click();
    await drawer.getByRole('link', { name: 'Explain in the editor' }).click();
    await page.locator('.cm-line', { hasText: 'set local role' }).waitFor();
    await view.button(/^Run/).click();
    await page.getByText(/Scan/).first().waitFor();
    await view.open(project.slug, 'inside?view=history&filter=nowhere-at-all');
    await page.getByText('No entry matches the filters.').waitFor();
    await view.button('Clear filters').click();
    await rows.first().waitFor();
  });

  it('api: describes who may use a table, shows code with the key, and sends a call that is rolled back', async () => {
    await view.open(project.slug, 'api?table=public.api_notes');
    await page
      .getByText('Signed-in users can read, insert, change and delete rows whose owner is their user ID')
      .waitFor();
    await page.getByText('Clients that are not signed in can insert rows for which this is true:').waitFor();
    await page.getByText(project.anonKey).first().waitFor();
    for (const language of ['supabase-js', 'openapi-fetch', 'Python', 'Dart']) {
      await page.getByText(language, { exact: true }).click();
      await page.getByLabel(`List rows, ${language}`).filter({ hasText: project.anonKey }).waitFor();
    }
    await view.expectAccessibleInBothSchemes();
    const choose = async (name: string): Promise<void> => {
      await page.getByRole('combobox', { name: 'Operation' }).click();
      await page.getByRole('option', { name }).click();
    };
    await choose('Insert a row');
    await page.getByLabel('Body', { exact: true }).fill('{"id": 1, "big": 12345678901234567890}');
    const answer = page.getByRole('region', { name: 'Response' });
    await view.button('Send request').click();
    await answer.getByText('201').waitFor();
    await view.button(/^View as/).click();
    await page.getByRole('menuitem', { name: 'Service role' }).click();
    await page.waitForURL(/as=service_role/);
    await view.button('Send request').click();
    await answer.getByText('12345678901234567890').waitFor();
    await view.expectAccessibleInBothSchemes();
    // Both were dry runs.
    expect((await project.service.get('/rest/v1/api_notes')).body).toEqual([]);
    await page.getByLabel('Dry run: roll the change back').uncheck();
    await view.button('Send request').click();
    await eventually(
      async () => expect((await project.service.get('/rest/v1/api_notes')).body).toHaveLength(1),
      SHOWN_MS,
    );
  });

  it('charts: draw the samples, and announce the value that an arrow key selects', async () => {
    await project.service.get('/rest/v1/api_notes');
    await plinth.app.get(RequestSamples).write();
    await view.open(project.slug, 'inside');
    const chart = page.getByRole('slider', { name: /^Requests\. [1-9]\d* requests?/ });
    await chart.waitFor();
    // The first path is the lines behind the bars.
    expect(await chart.locator('path').nth(1).getAttribute('d')).toMatch(/^M/);
    const colours = await page.evaluate<string[]>(`[
      ...document.querySelector('[role=slider]').querySelectorAll('path')
    ].map((path) => getComputedStyle(path).fill)`);
    expect(new Set(colours.slice(1)).size).toBe(3);
    expect((await chart.locator('svg').boundingBox())?.height).toBe(140);
    await chart.focus();
    const before = await chart.getAttribute('aria-valuenow');
    await page.keyboard.press('ArrowLeft');
    expect(Number(await chart.getAttribute('aria-valuenow'))).toBe(Number(before) - 1);
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/Answered: /);
    await page.getByText('Last day').click();
    await page.waitForURL(/range=day/);
    await view.expectAccessibleInBothSchemes();
    await page.getByText('Last hour').click();
    await chart.focus();
    // On a busy machine, the last interval began after the request.
    const isAnswered = async () => /Answered: [1-9]/.test((await chart.getAttribute('aria-valuetext')) ?? '');
    await eventually(async () => {
      if (!(await isAnswered())) await page.keyboard.press('ArrowLeft');
      expect(await isAnswered()).toBe(true);
    }, SHOWN_MS);
    await page.keyboard.press('Enter');
    await page.waitForURL(/view=history&since=.*&until=/);
    await page.locator('#main tbody').getByRole('row').first().waitFor();
    await page.goBack();
    await chart.locator('svg').click();
    await page.waitForURL(/view=history/);
    await page.getByLabel('From').waitFor();
  });

  it('slow queries: lists statements, or explains what the server lacks', async () => {
    await view.open(project.slug, 'inside?view=queries');
    const lacking = page.getByText('This server has no pg_stat_statements');
    const listed = page.getByRole('article').first();
    await lacking.or(listed).first().waitFor();
    await view.expectAccessibleInBothSchemes();
  });

  it('connections: shows who blocks, cancels a statement and ends a session', async () => {
    const owner = await accessOf(plinth, project.id);
    await asOwner(owner, async (blocker) => {
      await asOwner(owner, async (blocked) => {
        await blocker.query('begin; lock table open_notes in access exclusive mode');
        const waiting = blocked
          .query(`select '${HOSTILE}', * from open_notes`)
          .catch((error: Error) => error.message);
        await view.open(project.slug, 'inside?view=sessions');
        await page.getByText(/^blocked by \d+$/).waitFor();
        await page.getByLabel('Statement').filter({ hasText: 'onerror' }).first().waitFor();
        await view.expectAccessibleInBothSchemes();
        await view.button('Cancel statement').click();
        expect(await waiting).toMatch(/cancel/);
        await page.getByText(/^The statement of session \d+ was cancelled$/).waitFor();
      });
      const { rows } = await blocker.query<{ pid: number }>('select pg_backend_pid() as pid');
      const pid = String(rows[0]?.pid);
      blocker.on('error', () => undefined);
      const card = page.getByRole('article', { name: `Session ${pid}`, exact: true });
      await card.getByRole('button', { name: 'End session' }).click();
      const end = view.dialog().getByRole('button', { name: 'End session' });
      expect(await end.isDisabled()).toBe(true);
      await view.dialog().getByLabel(`Type ${pid} to confirm`).fill(pid);
      await end.click();
      await page.getByText(`Session ${pid} ended`).waitFor();
      await card.waitFor({ state: 'detached' });
    }).catch((error: Error) => expect(error.message).toMatch(/terminat/i));
  });

  it('limits: shows the use and the queues, and sends mails that were given up or wait', async () => {
    const user = await project.signUp();
    const waiting = await project.signUp();
    smtp.mood = 'refuse';
    for (const { email } of [user, waiting])
      await project.anon.post(`${project.auth}/reset-password`, { email });
    const { database } = await accessOf(plinth, project.id);
    await asSuperuser(database, async (client) => {
      const giveUp = `update auth.outgoing_mails set failed_at = now(), last_error = $1
        where recipient = $2 and last_error is not null`;
      await eventually(async () => {
        expect((await client.query(giveUp, [HOSTILE, user.email])).rowCount).toBe(1);
      }, SHOWN_MS);
    });
    await eventually(async () => {
      const { body } = await plinth.admin.get('/admin/v1/queues');
      expect(body).toContainEqual(expect.objectContaining({ name: 'auth-mail', delayed: 2 }));
    }, SHOWN_MS);
    smtp.mood = 'accept';
    await view.open(project.slug, 'inside?view=limits');
    await page.getByText('Storage requests').waitFor();
    await page.getByText('auth-mail').waitFor();
    await page.getByLabel('Last error').getByText('onerror').waitFor();
    await view.expectAccessibleInBothSchemes();
    await view.button('Send again').click();
    await page.getByText('No failed mails.').waitFor();
    expect(smtp.to(waiting.email)).toEqual([]);
    const queue = page.getByRole('row', { name: /^auth-mail / });
    await queue.getByRole('button', { name: 'Run delayed jobs now' }).click();
    await page.getByText('The delayed jobs of auth-mail run now').waitFor();
    await smtp.mailTo(waiting.email);
    await queue.getByRole('button').waitFor({ state: 'detached' });
  });

  it('advisor: explains findings, opens their SQL in the editor, dismisses and restores them', async () => {
    await view.open(project.slug, '');
    await page.getByRole('link', { name: /Findings of the advisor: [1-9]/ }).click();
    const finding = page.getByRole('article', { name: 'public.open_notes' }).first();
    await finding.getByText('Row-level security is off').waitFor();
    await view.expectAccessibleInBothSchemes();
    await finding.getByRole('button', { name: 'Dismiss advice' }).click();
    await finding.waitFor({ state: 'detached' });
    await page.getByRole('switch', { name: 'Show dismissed (1)' }).click();
    await finding.getByRole('button', { name: 'Restore advice' }).click();
    await finding.getByRole('button', { name: 'Dismiss advice' }).waitFor();
    await finding.getByRole('link', { name: 'Open in the SQL editor' }).click();
    await page.locator('.cm-content', { hasText: 'enable row level security' }).waitFor();
    await view.button('Run SQL').click();
    await eventually(async () => {
      const [table] = await project.sql(
        `select relrowsecurity as rls from pg_class where relname = 'open_notes'`,
      );
      expect(table).toEqual({ rls: true });
    }, SHOWN_MS);
  });

  it('sign-in: adds a provider, shows what it answers, and switches a method on', async () => {
    const server = await ProviderServer.start();
    await view.open(project.slug, 'sign-in');
    await page.getByText('No providers yet').waitFor();
    await view.button('Add provider').click();
    await view.dialog().getByRole('combobox', { name: 'Provider' }).click();
    await page.getByRole('option', { name: 'Other issuer of OpenID Connect' }).click();
    await view.dialog().getByLabel('Name', { exact: true }).fill('acme');
    await view.dialog().getByLabel('Issuer URL').fill(server.url);
    await view.dialog().getByLabel('Client ID').fill('app');
    await view.dialog().getByLabel('Client secret', { exact: true }).fill('secret');
    await view.dialog().getByRole('button', { name: 'Add provider' }).click();
    await page.getByText('Provider acme saved').waitFor();
    await view.expectAccessibleInBothSchemes();
    Object.assign(server, {
      user: { sub: '1', email: 'ada@example.com', email_verified: true, name: HOSTILE },
    });
    // The browser cannot reach the public address, so the test opens the callback itself.
    const [tab, returned] = await Promise.all([
      page.waitForEvent('popup'),
      page.context().waitForEvent('request', (request) => request.url().includes('/auth/v1/callback')),
      view.button('Try sign-in with acme').click(),
    ]);
    const { pathname, search } = new URL(returned.url());
    await tab.close();
    const result = await page.context().newPage();
    await result.goto(`${plinth.baseUrl}${pathname}${search}`);
    await result.getByText('acme answered. Nobody was signed in, and nothing was stored.').waitFor();
    await result.getByText('ada@example.com').first().waitFor();
    expect(await result.evaluate(() => 'wasHacked' in globalThis)).toBe(false);
    await result.close();
    await page.getByRole('switch', { name: 'Anonymous users' }).click({ force: true });
    await page.getByText(/^Settings of .* saved$/).waitFor();
    await view.button('Remove acme').click();
    await view.dialog().getByRole('button', { name: 'Remove acme' }).click();
    await page.getByText('No providers yet').waitFor();
    await server.stop();
    const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}`);
    expect(body.settings.anonymous_signin_enabled).toBe(true);
  });

  it('webhooks: creates one, shows its attempts, sends again, and deletes it', async () => {
    receiver.answer('/notes', (response) => response.writeHead(500).end(HOSTILE));
    await view.open(project.slug, 'webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await view.button('Create webhook').click();
    await view.dialog().getByRole('combobox', { name: 'Table' }).click();
    await page.getByRole('option', { name: 'public.open_notes' }).click();
    await view.dialog().getByRole('checkbox', { name: 'INSERT' }).check();
    await view.dialog().getByLabel('Condition').fill('new.id > 0');
    await view.dialog().getByLabel('URL').fill(receiver.url('/notes'));
    await view.dialog().getByRole('button', { name: 'Create webhook' }).click();
    await view
      .dialog()
      .getByText(/^whsec_/)
      .waitFor();
    await page.getByText('Webhook public.open_notes created').waitFor();
    await page.getByRole('dialog', { name: 'Secret of the webhook public.open_notes' }).waitFor();
    await view.expectAccessibleInBothSchemes();
    await view.button('Done').click();
    await project.sql(`insert into open_notes values (500, 'told')`);
    await view.button('Deliveries').click();
    await view.button(/^Waiting INSERT · 500/).click();
    await view
      .dialog()
      .getByText(/^Attempt 1 .* status 500$/)
      .waitFor();
    await view.dialog().getByText('"><img src=x').waitFor();
    expect(await page.evaluate(() => 'wasHacked' in globalThis)).toBe(false);
    await view.expectAccessibleInBothSchemes();
    receiver.answer('/notes');
    await project.sql(`update hooks.deliveries set next_attempt_at = now() where state = 'waiting';
      select pg_notify('plinth_hooks', 'again')`);
    await view.button(/^Delivered INSERT · 200/).waitFor();
    await view
      .dialog()
      .getByText(/^Attempt 2 .* status 200$/)
      .waitFor();
    await view.button('Send again').click();
    await view
      .dialog()
      .getByText(/^Attempt 3 .* status 200$/)
      .waitFor();
    expect(receiver.at('/notes')).toHaveLength(3);
    await page.keyboard.press('Escape');
    await view.button('New secret for the webhook public.open_notes').click();
    await view.button('Create a new secret').click();
    await view
      .dialog()
      .getByText(/^whsec_/)
      .waitFor();
    await view.button('Done').click();
    await view.button('Change the webhook public.open_notes').click();
    await view.dialog().getByRole('switch', { name: 'Send requests' }).click({ force: true });
    await view.dialog().getByRole('button', { name: 'Save webhook' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    await view.expectAccessibleInBothSchemes();
    const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}/webhooks`);
    expect(body).toMatchObject([{ enabled: false, condition: 'new.id > 0', columns: null }]);
    await view.button('Delete the webhook public.open_notes').click();
    await view.dialog().getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByText('No webhooks yet').waitFor();
  });

  it('schedules: creates one, shows its runs, changes and deletes it', async () => {
    await view.open(project.slug, 'webhooks');
    await view.button('Create schedule').click();
    await view.dialog().getByLabel('Name', { exact: true }).fill('tick');
    await view.dialog().getByLabel('Times (cron)').fill('* * * * *');
    await view.dialog().getByRole('textbox', { name: 'SQL' }).fill('insert into open_notes values (600)');
    await view.expectAccessibleInBothSchemes();
    await view.dialog().getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('Schedule tick created').waitFor();
    await project.sql(`update hooks.schedules set last_due_at = now() - interval '2 minutes';
      select pg_notify('plinth_hooks', 'again')`);
    await view.button('History').click();
    await view.dialog().getByText('INSERT 1').waitFor();
    await view.expectAccessibleInBothSchemes();
    await page.keyboard.press('Escape');
    await view.button('Change the schedule tick').click();
    await view.dialog().getByText('Request', { exact: true }).click();
    await view.dialog().getByLabel('URL').fill(receiver.url('/tick'));
    await view.dialog().getByRole('button', { name: 'Save schedule' }).click();
    await view.dialog().getByText('http_post_needed').waitFor();
    await view.dialog().getByRole('button', { name: 'Cancel' }).click();
    await view.button('Delete the schedule tick').click();
    await view.dialog().getByRole('button', { name: 'Delete schedule' }).click();
    await page.getByText('No schedules yet').waitFor();
    expect((await plinth.admin.get(`/admin/v1/projects/${project.id}/schedules`)).body).toEqual([]);
  });

  it('named keys: creates one, shows it once, and revokes it', async () => {
    await view.open(project.slug, 'keys');
    await page.getByText('No named keys yet.').waitFor();
    await view.button('Create key').click();
    await view.dialog().getByLabel('Name').fill('nightly report');
    await view.dialog().getByText('Secret', { exact: true }).click();
    await view.dialog().getByLabel('Role').fill('nobody');
    await view.dialog().getByRole('button', { name: 'Create key' }).click();
    await view
      .dialog()
      .getByText(/cannot have the role "nobody"/)
      .waitFor();
    await view.expectAccessibleInBothSchemes();
    await view.dialog().getByLabel('Role').fill('');
    await view.dialog().getByLabel('Days until it expires').fill('90');
    await view.dialog().getByRole('button', { name: 'Create key' }).click();
    const key = await view.dialog().getByLabel('nightly report', { exact: true }).last().textContent();
    expect(key).toMatch(/^plinth_secret_/);
    await view.button('Done').click();
    await page.getByRole('cell', { name: /service_role/ }).waitFor();
    await view.expectAccessibleInBothSchemes();
    await view.button('Revoke nightly report').click();
    await view.dialog().getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('No named keys yet.').waitFor();
  });

  it('S3 keys: creates one, shows the secret once, and deletes it', async () => {
    await view.open(project.slug, 'keys');
    await page.getByText('No S3 keys yet.').waitFor();
    await view.button('Create S3 key').click();
    await view.dialog().getByLabel('Name', { exact: true }).fill('backups');
    await view.dialog().getByLabel('User ID').fill('nobody');
    await view.dialog().getByLabel('Read only').check();
    await view.dialog().getByRole('button', { name: 'Create S3 key' }).click();
    await view
      .dialog()
      .getByText(/user_id/)
      .waitFor();
    await view.dialog().getByLabel('User ID').fill('');
    await view.dialog().getByLabel('Bucket').fill('pictures');
    await view.dialog().getByRole('button', { name: 'Create S3 key' }).click();
    const secret = await view
      .dialog()
      .getByLabel('Secret of the S3 key', { exact: true })
      .last()
      .textContent();
    expect(secret).toMatch(/^[\w-]{30,}/);
    await view.expectAccessibleInBothSchemes();
    await view.button('Done').click();
    await page.getByText('service_role · pictures').waitFor();
    await view.expectAccessibleInBothSchemes();
    const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}/s3-keys`);
    expect(body).toMatchObject([{ name: 'backups', user_id: null, bucket: 'pictures', read_only: true }]);
    await view.button('Delete the S3 key backups').click();
    await view.dialog().getByRole('button', { name: 'Delete key' }).click();
    await page.getByText('No S3 keys yet.').waitFor();
  });

  it('mails: previews a draft without its scripts, saves it, and sends it as a test', async () => {
    await view.open(project.slug, 'mails?kind=invite');
    await page.getByLabel('Subject').fill('Come in, {{ name }}');
    await page.getByRole('textbox', { name: 'HTML' }).fill(`<h1>Hello</h1>${HOSTILE}`);
    await page.getByText('Come in, Ada Lovelace').waitFor();
    await page.frameLocator('#main iframe').getByRole('heading', { name: 'Hello' }).waitFor();
    await view.expectAccessibleInBothSchemes();
    await page.getByLabel('Test mail to').fill('grace@example.com');
    // The test mail has the current text, even before the preview shows it.
    await page.getByLabel('Subject').fill('Do come in, {{ name }}');
    await view.button('Send test mail').click();
    await page.getByText('The mail to grace@example.com was sent').waitFor();
    expect(smtp.to('grace@example.com').map(({ subject }) => subject)).toEqual(['Do come in, Ada Lovelace']);
    await view.button('Save template').click();
    await view.button('Use the default text').waitFor();
    const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}`);
    expect(body.settings.mail_templates.invite?.subject).toBe('Do come in, {{ name }}');
  });

  it('backups: downloads a backup, and the home screen shows when it was made', async () => {
    await view.open(project.slug, 'backups');
    await view.button('Download backup').click();
    await view.dialog().getByLabel('Passphrase').fill('correct-horse-battery');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      view.dialog().getByRole('button', { name: 'Download backup' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${project.slug}.tar.gz`);
    await view.expectAccessibleInBothSchemes();
    await page.getByRole('link', { name: /^Plinth: / }).click();
    await page.getByText(/^Last backup: /).waitFor();
    await view.expectAccessibleInBothSchemes();
  });

  it('a row of a backup: is found, compared, and restored', async () => {
    await project.sql(`create table kept (id int generated always as identity primary key, title text, note text);
      insert into kept (title, note) values ('Milk', '${HOSTILE}'), ('Bread', null)`);
    await project.service.post(`${project.storage}/buckets`, { name: 'kept' });
    for (const name of ['a', 'b']) await upload(project.service, project.storage, 'kept', 'same', { name });
    await plinth.admin.post('/admin/v1/backups/runs', { project_id: project.id });
    await expectSucceeded(project.id, 1, plinth);
    await project.sql(`delete from kept where id = 1; update kept set note = 'changed' where id = 2`);
    await view.open(project.slug, 'backups');
    await page.getByText('Files of the kept archives: 4 bytes. 4 bytes more if each archive had').waitFor();
    await page.getByText('8 bytes of files, 4 bytes copied').waitFor();
    await page.getByRole('combobox', { name: 'Table' }).click();
    await page.getByRole('option', { name: 'public.kept' }).click();
    await page.getByLabel('Text in the row').fill('milk');
    await view.button('Find rows').click();
    await view.button('Compare row').click();
    await view.dialog().getByText('The row is missing now').waitFor();
    await view.expectAccessibleInBothSchemes();
    await view.dialog().getByRole('button', { name: 'Restore row' }).click();
    await page.getByText('Row 1 of kept restored').waitFor();

    await page.getByLabel('Text in the row').fill('bread');
    await view.button('Find rows').click();
    await page.getByRole('cell', { name: 'Bread' }).waitFor();
    await view.button('Compare row').click();
    await view.dialog().getByText('differs', { exact: true }).waitFor();
    await view.dialog().getByText('SQL that runs').click();
    await view
      .dialog()
      .getByText(/^update "public"."kept"\s+set "note" = null\s+where "id" = '2';/)
      .waitFor();
    await view.dialog().getByRole('button', { name: 'Restore row' }).click();
    await page.getByText('Row 2 of kept restored').waitFor();
    await view.dialog().waitFor({ state: 'detached' });
    expect(await project.sql('select id, title, note from kept order by id')).toEqual([
      { id: 1, title: 'Milk', note: HOSTILE },
      { id: 2, title: 'Bread', note: null },
    ]);
    expect(await page.evaluate('globalThis.wasHacked')).toBeUndefined();
  });

  it('the audit log names the project, and shows the types of statements without their digest', async () => {
    await project.sql('create table noted (id bigint primary key)');
    await view.openPath(`audit-log?action=project.sql&project_id=${project.id}`);
    const row = page.getByRole('row').filter({ hasText: 'commands: CREATE' }).first();
    await row.getByText('Inside', { exact: true }).waitFor();
    expect(await row.textContent()).not.toMatch(/sha256|[0-9a-f]{40}/);
    await view.expectAccessibleInBothSchemes();
    await page.setViewportSize({ width: 390, height: 800 });
    await view.expectAccessible();
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('the palette leads to each view, and all fit a phone in German', async () => {
    await view.open(project.slug, '');
    await page.keyboard.press('Control+k');
    // Input is lost until the search field has the focus.
    const search = page.getByLabel('Search projects, screens, tables, settings and docs');
    await search.fill('Connections and locks');
    await page.locator('[data-selected]').getByText('Connections and locks').waitFor();
    await search.press('Enter');
    await page.waitForURL(/view=sessions/);
    await search.waitFor({ state: 'detached' });
    const choose = async (text: string, label: string, description = '') => {
      await page.keyboard.press('Control+k');
      await search.fill(text);
      await page
        .locator('[data-selected]')
        .filter({ hasText: label })
        .filter({ hasText: description })
        .waitFor();
      await search.press('Enter');
      await search.waitFor({ state: 'detached' });
    };
    // A setting by its label and by its name.
    for (const text of ['rows per response', 'max_rows']) {
      await choose(text, 'Rows per response', 'max_rows');
      await page.waitForURL(/settings\?search=max_rows/);
      await page.getByLabel('Rows per response max_rows', { exact: true }).waitFor();
      await view.expectAccessibleInBothSchemes();
    }
    const person = { email: 'palette@example.com', name: 'Grace Painter' };
    const { body: created } = await project.service.post(`${project.auth}/admin/users`, person);
    for (const text of ['palette@ex', 'ce paint']) {
      await choose(text, person.email, person.name);
      await page.waitForURL(new RegExp(`users\\?user=${created.user.id}`));
      await view.dialog().getByText(person.email).first().waitFor();
      await page.keyboard.press('Escape');
      await view.dialog().waitFor({ state: 'detached' });
    }
    // The command works on its screen and on another screen.
    for (const [label, title] of [
      ['New user', 'New user'],
      ['Rotate keys', 'Rotate keys and secrets'],
    ] as const) {
      await choose(label, label);
      await page.getByRole('dialog', { name: title }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    const pages = page.context().waitForEvent('page');
    await choose('policies: a cook', 'Policies: a cookbook');
    const guide = await pages;
    await guide.waitForURL(/\/docs\/guides\//);
    await guide.close();
    await page.getByRole('button', { name: 'Language' }).click();
    await page.getByRole('menuitem', { name: 'Deutsch' }).click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 390, height: 800 });
    const screens = {
      'inside?view=requests': 'Logs und Metriken',
      'inside?view=history': 'Logs und Metriken',
      'inside?view=charts': 'Logs und Metriken',
      'inside?view=limits': 'Logs und Metriken',
      advisor: 'Ratgeber',
      mails: 'Mailvorlagen',
    };
    for (const [screen, title] of Object.entries(screens)) {
      await view.open(project.slug, screen);
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      await eventually(async () => {
        const width = await page.evaluate('document.documentElement.scrollWidth');
        expect([screen, width]).toEqual([screen, 390]);
      }, SHOWN_MS);
    }
    // Long names wrap, and the button of a drawer remains visible.
    const long = await plinth.createProject({ name: 'Verzeichnis'.repeat(12) });
    await long.service.post(`/p/${long.slug}/storage/buckets`, { name: 'b'.repeat(60) });
    const email = `${'e'.repeat(60)}@example.com`;
    const { body } = await long.service.post(`${long.auth}/admin/users`, { email });
    for (const screen of ['', 'storage', 'policies', `users?user=${body.user.id}`]) {
      await view.open(long.slug, screen);
      await view.loaded('Lädt');
      expect([screen, await view.overflowing()]).toEqual([screen, []]);
    }
    await view.dialog().getByRole('button', { name: 'Schließen' }).click();
    await view.dialog().waitFor({ state: 'detached' });
  });

  it('runs no foreign code, and violates no policy but that of the preview', async () => {
    expect(await page.evaluate(() => 'wasHacked' in globalThis)).toBe(false);
    const elsewhere = browser.observed.requests.filter(
      (one) =>
        !one.includes(` ${plinth.baseUrl}/`) &&
        !/ (data|blob|about):/.test(one) &&
        // The test of a provider opened another origin.
        !/\/(authorize|callback)\?/.test(one),
    );
    expect(elsewhere).toEqual([]);
  });
});
