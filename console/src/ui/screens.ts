/** The screens of a project, in the order of the navigation. */
import type { IconName } from './icon';

export const GROUPS = ['data', 'auth', 'storage', 'observe', 'project'] as const;

interface Screen {
  readonly path: string;
  readonly icon: IconName;
  readonly label: string;
  /** Null to list the screen above the groups. */
  readonly group: (typeof GROUPS)[number] | null;
  /** Search parameters of a view of the screen. */
  readonly search?: Readonly<Record<string, string>>;
}

export const SCREENS = [
  { path: '/projects/$slug', icon: 'home', label: 'overview', group: null },
  { path: '/projects/$slug/tables', icon: 'table', label: 'tables', group: 'data' },
  { path: '/projects/$slug/sql', icon: 'sql', label: 'sqlEditor', group: 'data' },
  { path: '/projects/$slug/schema', icon: 'tree', label: 'schemaPicture', group: 'data' },
  { path: '/projects/$slug/policies', icon: 'shield', label: 'policies', group: 'data' },
  { path: '/projects/$slug/realtime', icon: 'broadcast', label: 'realtime', group: 'data' },
  { path: '/projects/$slug/users', icon: 'users', label: 'users', group: 'auth' },
  { path: '/projects/$slug/sign-in', icon: 'lock', label: 'signInSettings', group: 'auth' },
  { path: '/projects/$slug/mails', icon: 'mail', label: 'mailTemplates', group: 'auth' },
  { path: '/projects/$slug/storage', icon: 'folder', label: 'storage', group: 'storage' },
  {
    path: '/projects/$slug/inside',
    icon: 'pulse',
    label: 'logs',
    group: 'observe',
    search: { view: 'history' },
  },
  { path: '/projects/$slug/inside', icon: 'chart', label: 'metrics', group: 'observe' },
  { path: '/projects/$slug/advisor', icon: 'bulb', label: 'advisor', group: 'observe' },
  { path: '/projects/$slug/keys', icon: 'key', label: 'keys', group: 'project' },
  { path: '/projects/$slug/webhooks', icon: 'link', label: 'webhooks', group: 'project' },
  { path: '/projects/$slug/api', icon: 'code', label: 'apiDocs', group: 'project' },
  { path: '/projects/$slug/backups', icon: 'archive', label: 'backups', group: 'project' },
  { path: '/projects/$slug/people', icon: 'users', label: 'team', group: 'project' },
  { path: '/projects/$slug/settings', icon: 'settings', label: 'settings', group: 'project' },
] as const satisfies readonly Screen[];

/** The views of the monitoring screen, with the first call of each. The palette lists each view. */
export const INSIDE_VIEWS = [
  { name: 'charts', icon: 'chart', label: 'charts', route: 'GET /admin/v1/projects/:id/samples' },
  { name: 'history', icon: 'history', label: 'history', route: 'GET /admin/v1/projects/:id/history' },
  { name: 'requests', icon: 'pulse', label: 'liveRequests', route: 'GET /admin/v1/projects/:id/requests' },
  {
    name: 'queries',
    icon: 'clock',
    label: 'slowQueries',
    route: 'GET /admin/v1/projects/:id/database/slow-queries',
  },
  {
    name: 'sessions',
    icon: 'database',
    label: 'databaseSessions',
    route: 'GET /admin/v1/projects/:id/database/activity',
  },
  { name: 'limits', icon: 'gauge', label: 'limits', route: 'GET /admin/v1/projects/:id/usage' },
] as const satisfies readonly { name: string; icon: IconName; label: string; route: string }[];

export type InsideView = (typeof INSIDE_VIEWS)[number]['name'];

/** Dialogs that the palette opens, with their screen and the call that they make. */
export const ACTIONS = [
  {
    path: '/projects/$slug/tables',
    icon: 'table',
    label: 'newTable',
    route: 'POST /admin/v1/projects/:id/sql',
  },
  {
    path: '/projects/$slug/users',
    icon: 'users',
    label: 'newUser',
    route: 'POST /admin/v1/projects/:id/sql',
  },
  {
    path: '/projects/$slug/people',
    icon: 'mail',
    label: 'invitePerson',
    route: 'PUT /admin/v1/projects/:id/people/:person_id',
  },
  {
    path: '/projects/$slug/keys',
    icon: 'key',
    label: 'rotate',
    route: 'POST /admin/v1/projects/:id/keys/rotate',
  },
] as const satisfies readonly { path: string; icon: IconName; label: string; route: string }[];

/** Screens of the installation and of the staff member, with the first call of each. */
export const INSTALL_SCREENS = [
  { path: '/account', icon: 'settings', label: 'myAccount', route: 'GET /admin/v1/session' },
  { path: '/people', icon: 'users', label: 'people', route: 'GET /admin/v1/people' },
  { path: '/audit-log', icon: 'history', label: 'auditLog', route: 'GET /admin/v1/audit-log' },
] as const satisfies readonly { path: string; icon: IconName; label: string; route: string }[];
