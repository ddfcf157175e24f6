/** The console for each role: every screen opens and offers exactly the actions that the route table allows. */
import type { Page } from 'playwright-core';
import { isOfProject, type Role, ROLES, ROUTE_TABLE } from '../../../src/staff/roles/route-table';
import { BROWSER_START_MS, hasBrowser, TestBrowser } from '../../support/browser';
import { assertConsoleBuilt, ConsolePage } from '../../support/console-page';
import { eventually } from '../../support/eventually';
import { IN_SOAK } from '../../support/extent';
import { TestPlinth } from '../../support/plinth';
import { newPerson, STAFF_PASSWORD } from '../../support/staff';
import type { TestProject } from '../../support/test-project';

const INSTALL: readonly Role[] = ['owner', 'operator', 'auditor'];
const SQL = 'POST /admin/v1/projects/:id/sql';

/** Texts of the console. */
const en = {
  account: 'Account',
  auditExport: 'Export entries',
  auditLog: 'Audit log',
  auditVerify: 'Verify the chain',
  deleteProject: 'Delete project',
  dismiss: 'Dismiss advice',
  downloadBackup: 'Download backup',
  email: 'E-mail',
  invitePerson: 'Invite a staff member',
  loading: 'Loading',
  newBucket: 'New bucket',
  newPolicy: 'New policy',
  newProject: 'New project',
  newTable: 'New table',
  newToken: 'New token',
  newUser: 'New user',
  password: 'Password',
  pauseProject: 'Pause project',
  people: 'Staff',
  projects: 'Projects',
  rotate: 'Rotate keys',
  save: 'Save template',
  send: 'Send test mail',
  showConnection: 'Show the database URL',
  showKeys: 'Show keys',
  signIn: 'Sign in',
  sqlRefused: 'Your role may not run SQL in this project.',
  signOut: 'Sign out',
} as const;

interface Screen {
  /** Path below /console; `*` stands for the project. */
  readonly path: string;
  /** The first call of the screen, which is not offered to roles without it. */
  readonly route: string;
  /** The route that each button uses, by the text of the button. */
  readonly actions: Readonly<Record<string, string>>;
}

const SCREENS: readonly Screen[] = [
  { path: '', route: 'GET /admin/v1/projects', actions: { [en.newProject]: 'POST /admin/v1/projects' } },
  { path: 'account', route: 'GET /admin/v1/session', actions: { [en.newToken]: 'POST /admin/v1/tokens' } },
  {
    path: 'people',
    route: 'GET /admin/v1/people',
    actions: { [en.invitePerson]: 'POST /admin/v1/invitations' },
  },
  {
    path: 'audit-log',
    route: 'GET /admin/v1/audit-log',
    actions: {
      [en.auditExport]: 'GET /admin/v1/audit-log/export',
      [en.auditVerify]: 'GET /admin/v1/audit-log/verify',
    },
  },
  {
    path: 'projects/*',
    route: 'GET /admin/v1/projects/:id',
    actions: {
      [en.deleteProject]: 'DELETE /admin/v1/projects/:id',
      [en.pauseProject]: 'POST /admin/v1/projects/:id/pause',
    },
  },
  {
    path: 'projects/*/keys',
    route: 'GET /admin/v1/projects/:id',
    actions: {
      [en.showKeys]: 'GET /admin/v1/projects/:id/keys',
      [en.rotate]: 'POST /admin/v1/projects/:id/keys/rotate',
      [en.showConnection]: 'GET /admin/v1/projects/:id/database',
    },
  },
  {
    path: 'projects/*/backups',
    route: 'GET /admin/v1/projects/:id',
    actions: { [en.downloadBackup]: 'GET /admin/v1/projects/:id/backup' },
  },
  { path: 'projects/*/tables', route: 'GET /admin/v1/projects/:id', actions: { [en.newTable]: SQL } },
  { path: 'projects/*/policies', route: 'GET /admin/v1/projects/:id', actions: { [en.newPolicy]: SQL } },
  { path: 'projects/*/users', route: 'GET /admin/v1/projects/:id', actions: { [en.newUser]: SQL } },
  { path: 'projects/*/storage', route: 'GET /admin/v1/projects/:id', actions: { [en.newBucket]: SQL } },
  {
    path: 'projects/*/people',
    route: 'GET /admin/v1/projects/:id/people',
    actions: { [en.invitePerson]: 'PUT /admin/v1/projects/:id/people/:person_id' },
  },
  { path: 'projects/*/sql', route: 'GET /admin/v1/projects/:id', actions: {} },
  { path: 'projects/*/settings', route: 'GET /admin/v1/projects/:id', actions: {} },
  {
    path: 'projects/*/mails',
    route: 'GET /admin/v1/projects/:id',
    actions: { [en.save]: 'PATCH /admin/v1/projects/:id', [en.send]: SQL },
  },
  { path: 'projects/*/schema', route: 'GET /admin/v1/projects/:id', actions: {} },
  {
    path: 'projects/*/advisor',
    route: 'GET /admin/v1/projects/:id/advice',
    actions: { [en.dismiss]: 'POST /admin/v1/projects/:id/advice/:advice_id/dismiss' },
  },
  ...Object.entries({
    charts: 'samples',
    requests: 'requests',
    queries: 'database/slow-queries',
    sessions: 'database/activity',
    limits: 'usage',
  }).map(([name, route]) => ({
    path: `projects/*/inside?view=${name}`,
    route: `GET /admin/v1/projects/:id/${route}`,
    actions: {},
  })),
];

/** Screens that axe reads in `npm test`, in both schemes; the soak has them all, for each role. */
const READ_BY_AXE = ['account', 'people', 'audit-log', 'projects/*/people'];

let plinth: TestPlinth;
let project: TestProject;
let browser: TestBrowser;
let page: Page;
let view: ConsolePage;
let refused: string[] = [];

const allows = (role: Role, route: string): boolean => {
  const roles = ROUTE_TABLE[route]?.roles ?? ROLES;
  return roles.includes(role);
};

// Only `npm run soak` runs these tests, which take about half a minute for each role.
const inBrowser = hasBrowser && IN_SOAK ? describe : describe.skip;

inBrowser('the console', () => {
  jest.setTimeout(IN_SOAK ? 600_000 : 120_000);
  beforeAll(async () => {
    assertConsoleBuilt();
    plinth = await TestPlinth.start();
    project = await plinth.createProject({ name: 'Shop' });
    await project.sql('create table items (id bigint primary key); create policy p on items using (true)');
    await newPerson(plinth, 'auditor', [{ id: project.id, role: 'viewer' }]);
    browser = await TestBrowser.start();
    page = await browser.newPage();
    view = new ConsolePage(page, plinth.baseUrl);
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (response.status() >= 400)
        refused.push(`${response.request().method()} ${pathname} ${response.status()}`);
    });
  }, BROWSER_START_MS);
  afterAll(async () => {
    await browser?.stop();
    await plinth?.stop();
  });

  it.each([...ROLES])('offers %s exactly what the role may do', async (role) => {
    const isInstall = INSTALL.includes(role);
    const member = { id: project.id, role: role as 'admin' };
    const { email } = await newPerson(
      plinth,
      isInstall ? (role as 'owner') : null,
      isInstall ? [] : [member],
    );
    await signInAs(email);
    for (const screen of SCREENS.filter(({ route }) => allows(role, route))) {
      refused = [];
      await open(screen.path);
      await expectActions(role, screen);
      expect([role, screen.path, refused]).toEqual([role, screen.path, []]);
      await expectAccessible(role, screen.path);
    }
    await expectNoMore(role);
    await page.getByRole('button', { name: en.account }).click();
    await page.getByRole('menuitem', { name: en.signOut }).click();
    await page.getByLabel(en.email).waitFor();
  });
});

async function signInAs(email: string): Promise<void> {
  // The previous staff member is still signed in if that test failed.
  await page.context().clearCookies();
  await page.goto(`${plinth.baseUrl}/console`);
  await page.getByLabel(en.email).fill(email);
  await page.getByLabel(en.password, { exact: true }).fill(STAFF_PASSWORD);
  await view.button(en.signIn).click();
  await page.getByRole('heading', { name: en.projects, exact: true }).waitFor();
}

async function open(path: string): Promise<void> {
  await page.goto(`${plinth.baseUrl}/console/${path.replace('*', project.slug)}`);
  await view.loaded(en.loading);
}

async function expectActions(role: Role, { path, actions }: Screen): Promise<void> {
  const offered = (name: string): Promise<boolean> => view.button(name).first().isVisible();
  const expected = Object.entries(actions).map(([name, route]) => [name, allows(role, route)] as const);
  await eventually(async () => {
    const found = await Promise.all(expected.map(async ([name]) => [name, await offered(name)] as const));
    expect([role, path, found]).toEqual([role, path, expected]);
    const alerts = await page.getByRole('alert').allTextContents();
    expect(alerts.filter((text) => text !== en.sqlRefused)).toEqual([]);
  });
}

/** Asserts that a role gets no screens of the installation beyond the account menu. */
async function expectNoMore(role: Role): Promise<void> {
  await page.getByRole('button', { name: en.account }).click();
  await page.getByRole('menuitem', { name: en.signOut }).waitFor();
  const items = await page.getByRole('menuitem').allTextContents();
  await page.keyboard.press('Escape');
  const hidden = [
    [en.people, 'GET /admin/v1/people'],
    [en.auditLog, 'GET /admin/v1/audit-log'],
  ] as const;
  const expected = hidden.filter(([, route]) => allows(role, route)).map(([name]) => name);
  expect(items.filter((item) => hidden.some(([name]) => name === item))).toEqual(expected);
}

async function expectAccessible(role: Role, path: string): Promise<void> {
  const isSample = role === 'owner' && READ_BY_AXE.includes(path);
  if (!isSample && !IN_SOAK) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([role, path, colorScheme, await view.seriousFindings()]).toEqual([role, path, colorScheme, []]);
  }
}

it('names a route of the table for each action', () => {
  const routes = SCREENS.flatMap(({ route, actions }) => [route, ...Object.values(actions)]);
  expect(routes.filter((route) => !ROUTE_TABLE[route])).toEqual([]);
  expect(routes.some(isOfProject)).toBe(true);
});
