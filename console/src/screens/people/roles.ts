/** Roles, as the forms offer them. */
import type { Translate } from '../../i18n';

export const INSTALL_ROLES = ['owner', 'operator', 'auditor'] as const;
export type InstallRole = (typeof INSTALL_ROLES)[number];

export const PROJECT_ROLES = ['admin', 'developer', 'viewer'] as const;
export type ProjectRole = (typeof PROJECT_ROLES)[number];

export function roleOptions(
  roles: readonly (InstallRole | ProjectRole)[],
  t: Translate,
): { value: string; label: string }[] {
  return roles.map((role) => ({ value: role, label: `${t(`role_${role}`)} – ${t(`roleHint_${role}`)}` }));
}
