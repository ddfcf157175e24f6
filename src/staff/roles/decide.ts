/** Decides whether the sender of a request may use a route. Pure: it depends only on the table and the sender. */
import { installRoleOf, projectRoleOf, StaffCaller } from './staff';
import { isOfProject, type Role, type RouteAccess } from './route-table';

/** `hidden`: answer as if the project did not exist. `unconfirmed`: the staff member must first prove their identity again. */
export type Decision = 'yes' | 'no' | 'hidden' | 'unconfirmed';

/**
 * @param route key in ROUTE_TABLE
 * @param access the row of that key
 * @param projectId the parameter of a project's route
 */
export function decide(
  route: string,
  access: RouteAccess,
  staff: StaffCaller,
  projectId: string | null,
): Decision {
  const ofProject = isOfProject(route);
  const roles = ofProject ? rolesIn(staff, projectId ?? '') : rolesAnywhere(staff);
  if (ofProject && (roles.length === 0 || isOutside(staff, projectId))) return 'hidden';
  if (access.roles !== null && !roles.some((role) => access.roles?.includes(role))) return 'no';
  // Tokens and PLATFORM_ADMIN_KEY cannot confirm a session. A token with the scope was created in a confirmed session.
  if (access.stepUp && staff.session?.isConfirmed === false) return 'unconfirmed';
  if (!staff.token) return 'yes';
  if (access.scope === null || !staff.token.scopes.includes(access.scope)) return 'no';
  // A token for one project gives no access to the installation; routes for all staff limit the data that the token shows.
  return !ofProject && staff.token.projectId !== null && access.roles !== null ? 'no' : 'yes';
}

/** The roles that count in a project. */
export function rolesIn(staff: StaffCaller, projectId: string): Role[] {
  return [installRoleOf(staff), projectRoleOf(staff, projectId)].filter((role) => role !== null);
}

function rolesAnywhere(staff: StaffCaller): Role[] {
  const own = staff.projects.map(({ role }) => role);
  return [installRoleOf(staff), ...own].filter((role) => role !== null);
}

const isOutside = ({ token }: StaffCaller, projectId: string | null): boolean =>
  token !== null && token.projectId !== null && token.projectId !== projectId;
