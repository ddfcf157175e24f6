/** The screens of a project, in the order of the navigation. */
import type { IconName } from './icon';

export const SCREENS = [
  { path: '/projects/$slug', icon: 'home', label: 'overview' },
  { path: '/projects/$slug/tables', icon: 'table', label: 'tables' },
  { path: '/projects/$slug/sql', icon: 'sql', label: 'sqlEditor' },
  { path: '/projects/$slug/policies', icon: 'shield', label: 'policies' },
  { path: '/projects/$slug/users', icon: 'users', label: 'users' },
  { path: '/projects/$slug/storage', icon: 'folder', label: 'storage' },
  { path: '/projects/$slug/api', icon: 'code', label: 'apiDocs' },
  { path: '/projects/$slug/settings', icon: 'settings', label: 'settings' },
] as const satisfies readonly { path: string; icon: IconName; label: string }[];
