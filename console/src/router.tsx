/** The routes of the console. Each screen is loaded when it is opened. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router';
import { CONSOLE_PATH } from './api/base-url';
import type { AuditSearch } from './screens/audit/audit-screen';
import { Entrance } from './screens/entrance';
import { InvitationScreen, SetupScreen } from './screens/welcome';
import { NotFound, RouteFailure } from './ui/route-states';
import { Shell } from './ui/shell';

const root = createRootRoute({ notFoundComponent: NotFound });

const setup = createRoute({ getParentRoute: () => root, path: 'setup', component: SetupScreen });
const invitation = createRoute({
  getParentRoute: () => root,
  path: 'invitation',
  component: InvitationScreen,
});

/** Everything below needs a session. */
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
  component: lazyRouteComponent(() => import('./screens/home'), 'HomeScreen'),
});

const people = createRoute({
  getParentRoute: () => signedIn,
  path: 'people',
  component: lazyRouteComponent(() => import('./screens/people/people-screen'), 'PeopleScreen'),
});

const account = createRoute({
  getParentRoute: () => signedIn,
  path: 'account',
  component: lazyRouteComponent(() => import('./screens/account/account-screen'), 'AccountScreen'),
});

const auditLog = createRoute({
  getParentRoute: () => signedIn,
  path: 'audit-log',
  validateSearch: (search: Record<string, unknown>): AuditSearch =>
    texts(search, ['actor', 'action', 'project_id', 'since', 'until']),
  component: lazyRouteComponent(() => import('./screens/audit/audit-screen'), 'AuditScreen'),
});

const project = createRoute({
  getParentRoute: () => signedIn,
  path: 'projects/$slug',
  component: Outlet,
});

const overview = createRoute({
  getParentRoute: () => project,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/overview'), 'OverviewScreen'),
});

export interface TablesSearch {
  readonly schema?: string;
  readonly table?: string;
  /** Filters as JSON. */
  readonly filters?: string;
  /** `column` or `-column`. */
  readonly sort?: string;
}

const tables = createRoute({
  getParentRoute: () => project,
  path: 'tables',
  validateSearch: (search: Record<string, unknown>): TablesSearch =>
    texts(search, ['schema', 'table', 'filters', 'sort']),
  component: lazyRouteComponent(() => import('./screens/tables/tables-screen'), 'TablesScreen'),
});

const sql = createRoute({
  getParentRoute: () => project,
  path: 'sql',
  validateSearch: (search: Record<string, unknown>): { readonly query?: string } => texts(search, ['query']),
  component: lazyRouteComponent(() => import('./screens/sql/sql-screen'), 'SqlScreen'),
});

const policies = createRoute({
  getParentRoute: () => project,
  path: 'policies',
  component: lazyRouteComponent(() => import('./screens/policies'), 'PoliciesScreen'),
});

const users = createRoute({
  getParentRoute: () => project,
  path: 'users',
  validateSearch: (search: Record<string, unknown>): { readonly search?: string } =>
    texts(search, ['search']),
  component: lazyRouteComponent(() => import('./screens/users/users-screen'), 'UsersScreen'),
});

const storage = createRoute({
  getParentRoute: () => project,
  path: 'storage',
  validateSearch: (search: Record<string, unknown>): { readonly bucket?: string; readonly folder?: string } =>
    texts(search, ['bucket', 'folder']),
  component: lazyRouteComponent(() => import('./screens/storage/storage-screen'), 'StorageScreen'),
});

const members = createRoute({
  getParentRoute: () => project,
  path: 'people',
  component: lazyRouteComponent(() => import('./screens/people/members-screen'), 'MembersScreen'),
});

const apiDocs = createRoute({
  getParentRoute: () => project,
  path: 'api',
  component: lazyRouteComponent(() => import('./screens/api-docs'), 'ApiDocsScreen'),
});

const settings = createRoute({
  getParentRoute: () => project,
  path: 'settings',
  component: lazyRouteComponent(() => import('./screens/settings'), 'SettingsScreen'),
});

const screens = [overview, tables, sql, policies, users, storage, members, apiDocs, settings];

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

/** The members of a URL's query that are texts. A number in the URL is parsed as one, so it is written as text again. */
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
