/** Computes the roles that groups give, and the changes of roles that follow. Pure. */
import type { GroupRoles } from '../../config/app-config';
import { INSTALL_ROLES, InstallRole, PROJECT_ROLES, ProjectRole } from '../accounts/staff-member';

/** Roles by the name of the group. */
export type GroupMapping = Readonly<Record<string, GroupRoles>>;

/** Roles by project. The key is the project's slug or id. */
export type ProjectRoles = Readonly<Record<string, ProjectRole>>;

export interface GrantedRoles {
  readonly role: InstallRole | null;
  readonly projects: ProjectRoles;
}

export const NO_ROLES: GrantedRoles = { role: null, projects: {} };

/** The highest role of all groups, for the installation and for each project (by slug). */
export function rolesOfGroups(groups: readonly string[], mappings: readonly GroupMapping[]): GrantedRoles {
  return highestRoles(
    mappings.flatMap((mapping) =>
      groups.flatMap((group) => (Object.hasOwn(mapping, group) ? [mapping[group] as GroupRoles] : [])),
    ),
  );
}

export function highestRoles(found: readonly GrantedRoles[]): GrantedRoles {
  const projects: Record<string, ProjectRole> = {};
  for (const [project, role] of found.flatMap((one) => Object.entries(one.projects)))
    projects[project] = highest(PROJECT_ROLES, [projects[project], role]) ?? role;
  const roles = found.map(({ role }) => role);
  return { role: highest(INSTALL_ROLES, roles), projects };
}

/**
 * The role after a sign-in: the role that the groups give, unless a staff member gave another role.
 * @param current the role now
 * @param before the role that the groups gave at the previous sign-in
 * @param now the role that the groups give today
 */
export function nextRole<Role>(current: Role | null, before: Role | null, now: Role | null): Role | null {
  return current === null || current === before ? now : current;
}

/** @param order all roles, the highest first */
function highest<Role>(order: readonly Role[], roles: readonly (Role | null | undefined)[]): Role | null {
  return order.find((role) => roles.includes(role)) ?? null;
}
