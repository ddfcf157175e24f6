/** The screens of a project, in the order of the navigation. */
import type { IconName } from './icon';

export const SCREENS = [
  { path: '/projects/$slug', icon: 'home', label: 'overview' },
  { path: '/projects/$slug/tables', icon: 'table', label: 'tables' },
  { path: '/projects/$slug/sql', icon: 'sql', label: 'sqlEditor' },
  { path: '/projects/$slug/policies', icon: 'shield', label: 'policies' },
  { path: '/projects/$slug/users', icon: 'users', label: 'users' },
  { path: '/projects/$slug/mails', icon: 'mail', label: 'mailTemplates' },
  { path: '/projects/$slug/storage', icon: 'folder', label: 'storage' },
  { path: '/projects/$slug/inside', icon: 'chart', label: 'inside' },
  { path: '/projects/$slug/advisor', icon: 'bulb', label: 'advisor' },
  { path: '/projects/$slug/people', icon: 'key', label: 'people' },
  { path: '/projects/$slug/api', icon: 'code', label: 'apiDocs' },
  { path: '/projects/$slug/settings', icon: 'settings', label: 'settings' },
] as const satisfies readonly { path: string; icon: IconName; label: string }[];

/** The views of the monitoring screen, with the call that each of them begins with. The palette lists each of them. */
export const INSIDE_VIEWS = [
  { name: 'charts', icon: 'chart', label: 'charts', route: 'GET /admin/v1/projects/:id/samples' },
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

/** Screens of the installation and of the person, with the call that each of them begins with. */
export const INSTALL_SCREENS = [
  { path: '/account', icon: 'settings', label: 'myAccount', route: 'GET /admin/v1/session' },
  { path: '/people', icon: 'users', label: 'people', route: 'GET /admin/v1/people' },
  { path: '/audit-log', icon: 'history', label: 'auditLog', route: 'GET /admin/v1/audit-log' },
] as const satisfies readonly { path: string; icon: IconName; label: string; route: string }[];
