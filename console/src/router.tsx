/** The routes of the console. Each screen is loaded when it is opened. */
import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { CONSOLE_PATH } from './api/base-url';
import type { AuditSearch } from './screens/audit/audit-screen';
import type { InsideSearch } from './screens/inside/inside-search';
import { lazyScreen } from './lazy-screen';
import { Entrance } from './screens/entrance';
import { InvitationScreen, SetupScreen } from './screens/welcome';
import { ProjectOutlet } from './ui/project-outlet';
import { NotFound, RouteFailure } from './ui/route-states';
import { Shell } from './ui/shell';

const root = createRootRoute({ notFoundComponent: NotFound });

const setup = createRoute({ getParentRoute: () => root, path: 'setup', component: SetupScreen });
const invitation = createRoute({
  getParentRoute: () => root,
  path: 'invitation',
  component: InvitationScreen,
});

/** All routes below this route need a session. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: () => (
    <Entrance>
      <Shell />
    </Entrance>
  ),
});

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  validateSearch: (search: Record<string, unknown>): { readonly search?: string } =>
    texts(search, ['search']),
  component: lazyScreen(() => import('./screens/home'), 'HomeScreen'),
});

const people = createRoute({
  getParentRoute: () => signedIn,
  path: 'people',
  component: lazyScreen(() => import('./screens/people/people-screen'), 'PeopleScreen'),
});

const account = createRoute({
  getParentRoute: () => signedIn,
  path: 'account',
  component: lazyScreen(() => import('./screens/account/account-screen'), 'AccountScreen'),
});

const auditLog = createRoute({
  getParentRoute: () => signedIn,
  path: 'audit-log',
  validateSearch: (search: Record<string, unknown>): AuditSearch =>
    texts(search, ['actor', 'action', 'project_id', 'since', 'until']),
  component: lazyScreen(() => import('./screens/audit/audit-screen'), 'AuditScreen'),
});

const project = createRoute({
  getParentRoute: () => signedIn,
  path: 'projects/$slug',
  component: ProjectOutlet,
});

const overview = createRoute({
  getParentRoute: () => project,
  path: '/',
  component: lazyScreen(() => import('./screens/overview'), 'OverviewScreen'),
});

export interface TablesSearch {
  readonly schema?: string;
  readonly table?: string;
  /** Filters, as JSON. */
  readonly filters?: string;
  /** `column` or `-column`. */
  readonly sort?: string;
  /** Identity of "view as": `anon`, `user:<id>` or `claims:<json>`. */
  readonly as?: string;
  /** `structure` if the drawer with the structure is open. */
  readonly panel?: string;
  /** The key of the row whose drawer is open, as JSON. */
  readonly row?: string;
  /** `1` if the grid follows the changes of the table. */
  readonly live?: string;
}

const tables = createRoute({
  getParentRoute: () => project,
  path: 'tables',
  validateSearch: (search: Record<string, unknown>): TablesSearch =>
    texts(search, ['schema', 'table', 'filters', 'sort', 'as', 'panel', 'row', 'live']),
  component: lazyScreen(() => import('./screens/tables/tables-screen'), 'TablesScreen'),
});

const schema = createRoute({
  getParentRoute: () => project,
  path: 'schema',
  validateSearch: (search: Record<string, unknown>): { readonly schema?: string; readonly view?: string } =>
    texts(search, ['schema', 'view']),
  component: lazyScreen(() => import('./screens/schema/schema-screen'), 'SchemaScreen'),
});

const sql = createRoute({
  getParentRoute: () => project,
  path: 'sql',
  validateSearch: (search: Record<string, unknown>): { readonly query?: string } => texts(search, ['query']),
  component: lazyScreen(() => import('./screens/sql/sql-screen'), 'SqlScreen'),
});

interface PoliciesSearch {
  /** Search for a part of `schema.table`. */
  readonly search?: string;
  /** `1` to list tables of all schemas, not only of exposed schemas. */
  readonly all?: string;
}

const policies = createRoute({
  getParentRoute: () => project,
  path: 'policies',
  validateSearch: (search: Record<string, unknown>): PoliciesSearch => texts(search, ['search', 'all']),
  component: lazyScreen(() => import('./screens/policies/policies-screen'), 'PoliciesScreen'),
});

interface UsersSearch {
  readonly search?: string;
  /** Id of the user whose drawer is open. */
  readonly user?: string;
  /** Number of the page, from 1. */
  readonly page?: string;
}

const users = createRoute({
  getParentRoute: () => project,
  path: 'users',
  validateSearch: (search: Record<string, unknown>): UsersSearch => texts(search, ['search', 'user', 'page']),
  component: lazyScreen(() => import('./screens/users/users-screen'), 'UsersScreen'),
});

const signInMethods = createRoute({
  getParentRoute: () => project,
  path: 'sign-in',
  component: lazyScreen(
    () => import('./screens/sign-in-methods/sign-in-methods-screen'),
    'SignInMethodsScreen',
  ),
});

const mails = createRoute({
  getParentRoute: () => project,
  path: 'mails',
  validateSearch: (search: Record<string, unknown>): { readonly kind?: string; readonly language?: string } =>
    texts(search, ['kind', 'language']),
  component: lazyScreen(() => import('./screens/mails'), 'MailsScreen'),
});

interface StorageSearch {
  readonly bucket?: string;
  readonly folder?: string;
  /** Search for file names in all folders. */
  readonly search?: string;
  /** Id of the file whose drawer is open. */
  readonly file?: string;
}

const storage = createRoute({
  getParentRoute: () => project,
  path: 'storage',
  validateSearch: (search: Record<string, unknown>): StorageSearch =>
    texts(search, ['bucket', 'folder', 'search', 'file']),
  component: lazyScreen(() => import('./screens/storage/storage-screen'), 'StorageScreen'),
});

const inside = createRoute({
  getParentRoute: () => project,
  path: 'inside',
  validateSearch: (search: Record<string, unknown>): InsideSearch =>
    texts(search, ['view', 'range', 'filter', 'status', 'source', 'slower', 'since', 'until', 'order']),
  component: lazyScreen(() => import('./screens/inside/inside-screen'), 'InsideScreen'),
});

const advisor = createRoute({
  getParentRoute: () => project,
  path: 'advisor',
  validateSearch: (search: Record<string, unknown>): { readonly dismissed?: string } =>
    texts(search, ['dismissed']),
  component: lazyScreen(() => import('./screens/advisor'), 'AdvisorScreen'),
});

const members = createRoute({
  getParentRoute: () => project,
  path: 'people',
  component: lazyScreen(() => import('./screens/people/members-screen'), 'MembersScreen'),
});

interface ApiSearch {
  /** Identity of "view as". */
  readonly as?: string;
  /** `all` to list every operation. */
  readonly view?: string;
  /** `schema.table`. */
  readonly table?: string;
}

const apiDocs = createRoute({
  getParentRoute: () => project,
  path: 'api',
  validateSearch: (search: Record<string, unknown>): ApiSearch => texts(search, ['as', 'view', 'table']),
  component: lazyScreen(() => import('./screens/api/api-screen'), 'ApiScreen'),
});

const keys = createRoute({
  getParentRoute: () => project,
  path: 'keys',
  component: lazyScreen(() => import('./screens/keys'), 'KeysScreen'),
});

const realtime = createRoute({
  getParentRoute: () => project,
  path: 'realtime',
  component: lazyScreen(() => import('./screens/realtime/realtime-screen'), 'RealtimeScreen'),
});

const webhooks = createRoute({
  getParentRoute: () => project,
  path: 'webhooks',
  component: lazyScreen(() => import('./screens/webhooks/webhooks-screen'), 'WebhooksScreen'),
});

const backups = createRoute({
  getParentRoute: () => project,
  path: 'backups',
  component: lazyScreen(() => import('./screens/project-backups'), 'BackupsScreen'),
});

const settings = createRoute({
  getParentRoute: () => project,
  path: 'settings',
  validateSearch: (search: Record<string, unknown>): { readonly group?: string; readonly search?: string } =>
    texts(search, ['group', 'search']),
  component: lazyScreen(() => import('./screens/settings'), 'SettingsScreen'),
});

const screens = [
  overview,
  tables,
  schema,
  sql,
  policies,
  users,
  signInMethods,
  mails,
  storage,
  inside,
  advisor,
  members,
  apiDocs,
  keys,
  realtime,
  webhooks,
  backups,
  settings,
];

export const router = createRouter({
  routeTree: root.addChildren([
    setup,
    invitation,
    signedIn.addChildren([home, people, account, auditLog, project.addChildren(screens)]),
  ]),
  basepath: CONSOLE_PATH,
  defaultPreload: 'intent',
  defaultErrorComponent: RouteFailure,
  defaultNotFoundComponent: NotFound,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** The text members of a URL's query. A number in the URL is parsed as a number, so it is converted back to text. */
function texts<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const entries = names.flatMap((name) => {
    const value = search[name];
    if (value === undefined || value === null || value === '') return [];
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  return Object.fromEntries(entries) as Partial<Record<Name, string>>;
}
