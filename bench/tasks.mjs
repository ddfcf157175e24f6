// Tasks in the console, as somebody does them who knows where they are: clicks, and seconds from the first to the result.
// Typing and waiting for the screen count as time, not as clicks. Needs chromium, and the console to be built
// (npm run build --prefix console).
//   npm run bench -- tasks
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { ADMIN_KEY, startPlinth } from './lib/plinth.mjs';

const BROWSERS = process.env.CHROMIUM ?? '/usr/bin/chromium';
const COUNT = `globalThis.clicks = 0; addEventListener('click', ({ isTrusted, detail }) => {
  if (isTrusted && detail > 0) globalThis.clicks += 1; }, true)`;

const plinth = await startPlinth({ BACKUP_PASSPHRASE: 'correct horse battery' });
const browser = await chromium.launch({ executablePath: BROWSERS, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const project = await plinth.admin('POST', '/admin/v1/projects', { name: 'Tasks', slug: 'tasks' });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(15_000);
  await signIn(page);
  console.log('| Task | Clicks | Seconds |\n|---|---|---|');
  for (const [name, run] of Object.entries(tasksOf(page, project))) {
    await page.evaluate('globalThis.clicks = 0');
    const began = performance.now();
    const failure = await run().then(
      () => null,
      (error) => error.message.split('\n')[0],
    );
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const clicks = await page.evaluate('globalThis.clicks');
    console.log(`| ${name} | ${failure === null ? `${clicks} | ${seconds}` : `failed: ${failure} | –`} |`);
    if (failure !== null) await page.keyboard.press('Escape');
  }
} finally {
  await browser.close();
  await plinth.stop();
}

async function signIn(page) {
  await page.addInitScript(COUNT);
  await page.goto(`${plinth.baseUrl}/console/projects/tasks`);
  const byKey = page.getByRole('button', { name: 'Use the platform admin key' });
  await byKey
    .or(page.getByLabel('Platform admin key', { exact: true }))
    .first()
    .waitFor();
  if (await byKey.isVisible()) await byKey.click();
  await page.locator('input[type=password]').fill(ADMIN_KEY);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor();
}

/** Each begins where the one before it ended. */
function tasksOf(page, project) {
  const button = (name) => page.getByRole('button', { name, exact: true });
  const dialog = page.getByRole('dialog');
  const inDialog = (name) => dialog.getByRole('button', { name, exact: true });
  const screen = (name) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
  const choose = async (label, option) => {
    await page.getByRole('combobox', { name: label }).click();
    await page.getByRole('option', { name: option }).click();
  };
  const call = (key, method, path, body) =>
    fetch(`${plinth.baseUrl}/p/${project.slug}${path}`, {
      method,
      headers: { apikey: key, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  return {
    'First table with a row and a policy': async () => {
      await screen('Tables');
      await button('New table').last().click();
      await dialog.getByLabel('Name of the table').fill('todos');
      await inDialog('Create table').click();
      await page.getByRole('heading', { name: 'todos', level: 1 }).waitFor();
      await button('Insert row').click();
      await dialog.getByLabel('title', { exact: true }).fill('buy milk');
      await button('Apply to the grid').click();
      await button('Save changes').click();
      await page.getByText(/^Unsaved changes/).waitFor({ state: 'detached' });
    },
    'Code that connects an application': async () => {
      await button('Connect').click();
      await dialog
        .getByLabel('supabase-js', { exact: true })
        .filter({ hasText: project.anon_key })
        .first()
        .waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    },
    'Why a request failed': async () => {
      await call(project.anon_key, 'POST', '/rest/v1/todos', { title: 'not mine' });
      await screen('Logs');
      await page.getByRole('row').filter({ hasText: 'anon' }).getByRole('button').first().click();
      await dialog.getByText(/no policy of row-level security|A required column/).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    },
    'Add a column and an index': async () => {
      await screen('Tables');
      await page
        .getByRole('link', { name: 'todos' })
        .or(page.getByRole('heading', { name: 'todos' }))
        .first()
        .waitFor();
      await button('Add column').click();
      await dialog
        .getByLabel('Name', { exact: true })
        .or(dialog.getByLabel('Column', { exact: true }))
        .first()
        .fill('due');
      await inDialog('Add column').click();
      await page.getByText('Column due added').waitFor();
      await button('Structure').click();
      await button('Add index').click();
      await dialog.last().getByLabel('Columns').fill('due');
      await page.getByRole('option', { name: 'due' }).click();
      await page.keyboard.press('Escape');
      await button('Create index').click();
      await page.getByText(/^Index on .* created/).waitFor();
      await button('Close').first().click();
    },
    'Invite a user': async () => {
      await screen('Users');
      await button('New user').first().click();
      await dialog.getByLabel('E-mail', { exact: true }).fill('ann@example.com');
      await dialog.getByRole('button', { name: /^(Invite|Create user)$/ }).click();
      await page.getByText('ann@example.com').first().waitFor();
    },
    'Upload a file': async () => {
      await screen('Storage');
      await button('New bucket').first().click();
      await dialog.getByLabel('Name', { exact: true }).fill('files');
      await inDialog('Create bucket').click();
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button('Upload files').click()]);
      await chooser.setFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
      await page.getByRole('button', { name: 'a.txt' }).waitFor();
    },
    'A key for a server': async () => {
      await screen('Keys');
      await button('Create key').click();
      await dialog.getByLabel('Name').fill('report');
      await dialog.getByText('Secret', { exact: true }).click();
      await inDialog('Create key').click();
      await button('Done').click();
    },
    'Rows as a client without a sign-in': async () => {
      await screen('Tables');
      await page.getByRole('button', { name: /^View as/ }).click();
      await page.getByRole('menuitem', { name: 'Not signed in (anon)' }).click();
      await page.getByText('No rows').first().waitFor();
    },
    'What anon may insert, by a call that is rolled back': async () => {
      await screen('API');
      await choose('Operation', 'Insert a row');
      await button('Send request').click();
      await page.getByRole('region', { name: 'Response' }).waitFor();
    },
    'The plan of a statement': async () => {
      await call(project.service_role_key, 'GET', '/rest/v1/todos?order=title');
      await screen('Logs');
      await page
        .getByRole('button', { name: /GET .*todos.*order/ })
        .first()
        .click();
      await dialog.getByRole('link', { name: 'Explain in the editor' }).click();
      await button('Run SQL').click();
      await page.getByText(/Scan/).first().waitFor();
    },
    'Change a setting': async () => {
      await screen('Settings');
      await page
        .getByRole('textbox', { name: /Rows per response|Rows of a response/ })
        .or(page.getByLabel(/max_rows/))
        .first()
        .fill('500');
      await button('Save settings').click();
      await page.getByText(/^Settings of .* saved$/).waitFor();
    },
    'Download a backup': async () => {
      await screen('Backups');
      await button('Download backup').click();
      await dialog.getByLabel('Passphrase').fill('correct horse battery');
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: /Download/ }).click(),
      ]);
      await file.path();
    },
    'Restore a row from a backup': async () => {
      await plinth.admin('POST', '/admin/v1/backups/runs', { project_id: project.id });
      for (;;) {
        if ((await plinth.admin('GET', `/admin/v1/projects/${project.id}/backups`)).length > 0) break;
        await sleep(200);
      }
      await plinth.admin('POST', `/admin/v1/projects/${project.id}/sql`, { query: 'delete from todos' });
      await screen('Tables');
      await page.evaluate('globalThis.clicks = 0');
      await screen('Backups');
      await page.getByLabel('Text in the row').fill('milk');
      await button('Find rows').click();
      await button('Compare row').click();
      await inDialog('Restore row').click();
      await page.getByText(/^Row .* of todos restored$/).waitFor();
    },
  };
}
