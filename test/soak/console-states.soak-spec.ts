/** Every view of the console in every state. The router and the tabs of the screens name the views, so a new one is not forgotten. */
import type { Page, Route } from 'playwright-core';
import { BROWSER_START_MS, hasBrowser, type TestBrowser } from '../support/browser';
import { type ConsolePage, startConsole, stopConsole } from '../support/console-page';
import { eventually } from '../support/eventually';
import type { TestPlinth } from '../support/plinth';
import { newPerson, STAFF_PASSWORD } from '../support/staff';
import type { TestProject } from '../support/test-project';

type Texts = Readonly<Record<string, string>>;
const { en } = jest.requireActual<{ en: Texts }>('../../console/src/i18n/en');
const { de } = jest.requireActual<{ de: Texts }>('../../console/src/i18n/de');

const SHOWN_MS = 20_000;
const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 375, height: 700 };

interface State {
  readonly project: 'full' | 'empty';
  readonly by: 'owner' | 'viewer';
  readonly language: 'en' | 'de';
  readonly colorScheme: 'light' | 'dark';
  readonly size: typeof WIDE;
}
const STATES: Readonly<Record<string, State>> = {
  'with content': { project: 'full', by: 'owner', language: 'en', colorScheme: 'light', size: WIDE },
  'on a phone, dark, in German': {
    project: 'full',
    by: 'owner',
    language: 'de',
    colorScheme: 'dark',
    size: PHONE,
  },
  empty: { project: 'empty', by: 'owner', language: 'de', colorScheme: 'light', size: WIDE },
  'empty, on a phone, dark': {
    project: 'empty',
    by: 'owner',
    language: 'en',
    colorScheme: 'dark',
    size: PHONE,
  },
  'without the right': { project: 'full', by: 'viewer', language: 'de', colorScheme: 'dark', size: WIDE },
};

/**
 * Views that need no answer that is held here: a project that does not exist is missing in the list of the frame, which has the
 * settings, too, and the SQL editor is complete without the list of tables, which is in a closed drawer on a phone.
 */
const WORKS_WITHOUT = new Set(['/projects/gone', '/projects/$slug/settings', '/projects/$slug/sql']);

/** Findings that are not faults while a view is loading, has failed, or is shown. */
const NATURAL: Readonly<Record<'loading' | 'failed' | 'shown', readonly string[]>> = {
  loading: ['blank', 'no heading', 'loads'],
  failed: ['no heading'],
  shown: [],
};

/** True for texts that German does not share. A single word without a capital may be a value of the project. */
const isEnglish = (key: string): boolean =>
  /[A-Z ]/.test(en[key] ?? '') && !Object.values(de).includes(en[key] ?? '');

/** What a reader or a keyboard cannot use, and what no screen says. Names and values of the project are left to the other tests. */
const FAULTS = (english: readonly string[], isGerman: boolean): string => `(() => {
  const main = document.querySelector('#main') ?? document.body;
  const isShown = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getClientRects().length > 0;
  const found = [];
  const text = main.innerText.trim();
  if (text.length < 12) found.push('blank');
  if (!main.querySelector('h1, h2')) found.push('no heading');
  const isCode = (node) => node.closest('pre, code, textarea, .cm-editor, .swagger-ui, [translate=no], [dir=auto], svg, style');
  const primary = [...main.querySelectorAll('button:not([data-variant]), a:not([data-variant]), [data-variant=filled]')]
    .filter((node) => node.classList.contains('mantine-Button-root') && isShown(node));
  if (primary.length > 1) found.push('primary: ' + primary.map((node) => node.innerText).join(' | '));
  const english = new Set(${JSON.stringify(english)});
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const said = node.data.trim();
    const parent = node.parentElement;
    if (said === '' || !parent || isCode(parent) || parent.closest('script, style, noscript') || said === 'not null' || !isShown(parent)) continue;
    if (/\\[object|undefined|\\bNaN\\b|TypeError|^\\s*\\{"|\\n\\s+at /.test(said)) found.push('raw: ' + said.slice(0, 80));
    if (${isGerman} && (english.has(said) || /\\b(the|and|of|is|are|not|with|this|your|from|for|to|no)\\b/i.test(said)))
      found.push('English: ' + said.slice(0, 120));
  }
  for (const node of document.body.querySelectorAll('[aria-label], [placeholder], [title]'))
    for (const name of ['aria-label', 'placeholder', 'title'])
      if (${isGerman} && !isCode(node) && english.has(node.getAttribute(name)?.trim())) found.push(name + ': ' + node.getAttribute(name));
  const REACHED = 'a[href], button, input, select, textarea, summary, [tabindex]';
  for (const node of main.querySelectorAll('*')) {
    if (getComputedStyle(node).cursor !== 'pointer' || !isShown(node)) continue;
    if (getComputedStyle(node.parentElement).cursor === 'pointer' || isCode(node)) continue;
    const label = node.closest('label');
    if (!node.closest(REACHED) && !node.querySelector(REACHED) && !label?.control) found.push('mouse only: ' + node.outerHTML.slice(0, 150));
  }
  if ([...main.querySelectorAll('.mantine-Loader-root')].some(isShown)) found.push('loads');
  return [...new Set(found)];
})()`;

(hasBrowser ? describe : describe.skip)('every view of the console', () => {
  let plinth: TestPlinth;
  let browser: TestBrowser;
  let page: Page;
  let view: ConsolePage;
  let views: string[];
  const projects = {} as Record<State['project'], TestProject>;
  const people = {} as Record<State['by'], string>;
  let signedIn = '';

  jest.setTimeout(1_800_000);
  beforeAll(async () => {
    ({ plinth, browser, page, view } = await startConsole({
      env: { BACKUP_PASSPHRASE: 'correct-horse-battery' },
    }));
    projects.full = await plinth.createProject({ name: 'Laden' });
    projects.empty = await plinth.createProject({ name: 'Leer' });
    await fill(projects.full);
    people.owner = (await newPerson(plinth, 'owner')).email;
    const both = Object.values(projects).map(({ id }) => ({ id, role: 'viewer' as const }));
    people.viewer = (await newPerson(plinth, null, both)).email;
    await enter(STATES['with content']!);
    views = await findViews();
  }, 4 * BROWSER_START_MS);
  afterAll(() => stopConsole({ plinth, browser }));
  afterEach(async () => {
    process.stdout.write(`${expect.getState().currentTestName}: done\n`);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  async function fill(project: TestProject): Promise<void> {
    await project.sql(`
      create table items (id bigint generated always as identity primary key, name text, kopf bigint references items);
      insert into items (name) values ('eins'), ('zwei');
      create policy own on items using (true);
      create type farbe as enum ('rot', 'blau');
      create view namen as select name from items`);
    await project.signUp();
    await project.service.post(`${project.storage}/buckets`, { name: 'bilder' });
    const admin = `/admin/v1/projects/${project.id}` as const;
    await plinth.admin.post(`${admin}/api-keys`, { name: 'bericht', type: 'secret' });
    await plinth.admin.post(`${admin}/schedules`, {
      name: 'nachts',
      cron: '0 3 * * *',
      time_zone: 'UTC',
      sql: 'select 1',
    });
    await plinth.admin.post(`${admin}/webhooks`, {
      events: ['user.created'],
      url: 'https://example.com/hook',
    });
  }

  async function enter({ by, language, colorScheme, size }: State): Promise<void> {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto(`${plinth.baseUrl}/console`);
    if (signedIn !== by) {
      await page.context().clearCookies();
      await page.evaluate(`localStorage.setItem('plinth.language', 'en')`);
      await page.reload();
      await page.getByLabel('E-mail').fill(people[by]);
      await page.getByLabel('Password', { exact: true }).fill(STAFF_PASSWORD);
      await view.button('Sign in').click();
      await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
      signedIn = by;
    }
    await page.evaluate(`localStorage.setItem('plinth.language', '${language}')`);
  }

  const open = (path: string, { project }: State): Promise<unknown> =>
    page.goto(`${plinth.baseUrl}/console${path.replace('$slug', projects[project].slug)}`);

  /** Routes of the router without those of people without a session, and the tabs of each screen. */
  async function findViews(): Promise<string[]> {
    const state = STATES['with content']!;
    const paths = await page.evaluate<string[]>(`Object.keys(__TSR_ROUTER__.routesByPath)`);
    const found = new Set<string>();
    for (const path of paths.filter((one) => !['/setup', '/invitation'].includes(one))) {
      await open(path, state);
      await view.loaded();
      found.add(path);
      const tabs = page.locator('#main').getByRole('tab');
      for (let at = 0; at < (await tabs.count()); at += 1) {
        await tabs.nth(at).click();
        const { pathname, search } = new URL(page.url());
        found.add(pathname.replace('/console', '').replace(projects.full.slug, '$slug') + search);
      }
    }
    for (const more of [
      '/projects/$slug/tables?table=items&panel=structure',
      '/projects/$slug/tables?table=items&row={"id":"1"}',
      '/projects/$slug/storage?bucket=bilder',
      '/projects/gone',
    ])
      found.add(more);
    return [...found];
  }

  async function faultsOf(
    path: string,
    { language }: State,
    moment: keyof typeof NATURAL,
  ): Promise<string[]> {
    const english =
      language === 'de'
        ? Object.keys(en)
            .filter(isEnglish)
            .map((key) => en[key]!)
        : [];
    const read = (): Promise<string[]> => page.evaluate<string[]>(FAULTS(english, language === 'de'));
    let found = await read();
    for (let tried = 0; moment !== 'loading' && found.includes('loads') && tried < 100; tried += 1) {
      await page.waitForTimeout(100);
      found = await read();
    }
    const faults = found.filter((one) => !NATURAL[moment].includes(one));
    const parts = [
      ...faults,
      ...(await view.overflowing()),
      ...(await view.seriousFindings(['.swagger-ui'])),
    ];
    return parts.map((fault) => `${path} ${moment}: ${fault}`);
  }

  it.each(Object.entries(STATES))(
    '%s: says something, has one primary button, and is accessible',
    async (_name, state) => {
      await enter(state);
      const faults: string[] = [];
      const loading = state.language === 'de' ? de.loading : en.loading;
      for (const path of views) {
        await open(path, state);
        await view
          .loaded(loading)
          .catch((error: Error) => faults.push(`${path} is not loaded: ${error.message.slice(0, 200)}`));
        faults.push(...(await faultsOf(path, state, 'shown')));
      }
      expect(faults).toEqual([]);
    },
  );

  it.each(['en', 'de'] as const)(
    'every view shows that it loads, that it failed and, after a retry, its content, in %s',
    async (language) => {
      const state: State = { ...STATES['with content']!, language, size: language === 'de' ? PHONE : WIDE };
      await enter(state);
      const faults: string[] = [];
      for (const path of views) {
        const gate = await holdAnswers(page, path === '/' ? OF_SESSION : OF_FRAME);
        await open(path, state);
        await page.locator('#main').waitFor();
        await gate.begun;
        const said = page.locator('#main').locator('[role=status], [aria-busy=true], .mantine-Skeleton-root');
        const isHeld = gate.held() > 0;
        if (isHeld) {
          const isSaid = await said
            .first()
            .waitFor({ timeout: 3_000 })
            .then(
              () => true,
              () => false,
            );
          if (!isSaid && !WORKS_WITHOUT.has(path)) faults.push(`${path} does not say that it loads`);
        }
        faults.push(...(await faultsOf(path, state, 'loading')));
        gate.fail();
        const alert = page.locator('#main').getByRole('alert');
        if (isHeld) {
          const isShown = await alert
            .first()
            .waitFor({ timeout: SHOWN_MS })
            .then(
              () => true,
              () => false,
            );
          if (!isShown && !WORKS_WITHOUT.has(path)) faults.push(`${path} does not say that it failed`);
          const spinner = page
            .locator('#main')
            .getByRole('status', { name: language === 'de' ? de.loading : en.loading });
          await eventually(async () => expect(await spinner.count()).toBe(0), 10_000).catch(() =>
            faults.push(`${path} loads without end`),
          );
          faults.push(...(await faultsOf(path, state, 'failed')));
        }
        await page.unrouteAll({ behavior: 'ignoreErrors' });
        const retry = view.button((language === 'de' ? de.retry : en.retry)!);
        for (let left = await retry.count(); left > 0; left -= 1)
          await retry
            .first()
            .click({ timeout: 5_000 })
            .catch(() => undefined);
        if (isHeld)
          await eventually(async () => expect(await retry.count()).toBe(0), SHOWN_MS).catch(() =>
            faults.push(`${path} stays failed`),
          );
      }
      expect(faults).toEqual([]);
    },
  );

  it('can be entered and left with the keyboard', async () => {
    const state = STATES['with content']!;
    await enter(state);
    const faults: string[] = [];
    for (const path of views) {
      await open(path, state);
      await view.loaded();
      await page.locator('#main').focus();
      let isOut = false;
      for (let pressed = 0; pressed < 400 && !isOut; pressed += 1) {
        // In the SQL editor Tab indents, unless Escape comes before it.
        if (await page.evaluate<boolean>(`Boolean(document.activeElement?.closest('.cm-editor'))`))
          await page.keyboard.press('Escape');
        await page.keyboard.press('Tab');
        isOut = await page.evaluate<boolean>(
          `!document.querySelector('#main').contains(document.activeElement)`,
        );
      }
      if (!isOut)
        faults.push(
          `${path} ${await page.evaluate<string>('document.activeElement.outerHTML.slice(0, 150)')}`,
        );
    }
    expect(faults).toEqual([]);
  });
});

/** Calls of the frame of a screen. The first screen has the list of projects that others have in their frame. */
const OF_FRAME = /\/admin\/v1\/(session$|projects\?)/;
const OF_SESSION = /\/admin\/v1\/session$/;

interface Gate {
  /** Resolves when an answer is held, or after two seconds. */
  readonly begun: Promise<void>;
  readonly held: () => number;
  readonly fail: () => void;
}

/** Holds the answers to calls of a screen, and then fails them and all later ones. */
async function holdAnswers(page: Page, frame: RegExp): Promise<Gate> {
  let count = 0;
  let fail = (): void => undefined;
  const failed = new Promise<void>((resolve) => (fail = resolve));
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
    setTimeout(resolve, 2_000);
  });
  await page.route('**/*', async (route: Route) => {
    const request = route.request();
    if (request.resourceType() !== 'fetch' || frame.test(request.url()) || request.method() === 'HEAD')
      return route.fallback();
    count += 1;
    begin();
    await failed;
    return route.fulfill({
      status: 500,
      json: { error: { status: 500, code: 'internal_error', message: 'Internal server error' } },
    });
  });
  return { begun, held: () => count, fail };
}
