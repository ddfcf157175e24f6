/** Permissions of a staff member, from the table that the server uses. The console hides actions that the server would refuse. Pure. */
import { isOfProject, type Role, ROUTE_TABLE } from '../../../src/staff/roles/route-table';
import type { Session } from '../api/session';

/**
 * @param route key of the table: `DELETE /admin/v1/people/:id`
 * @param projectId for a route of a project
 */
export function isAllowed(
  session: Session | null,
  route: keyof typeof ROUTE_TABLE,
  projectId?: string,
): boolean {
  const row = ROUTE_TABLE[route];
  if (!session || !row) return false;
  if (row.roles === null) return true;
  return rolesOf(session, isOfProject(route) ? projectId : null).some((role) => row.roles?.includes(role));
}

/** @param projectId null: the roles in all projects count */
function rolesOf(session: Session, projectId: string | null | undefined): Role[] {
  if (session.by === 'key') return ['owner'];
  const { person, projects } = session.answer;
  const own = projects
    .filter(({ id }) => projectId === null || id === projectId)
    .map(({ role }) => role as Role);
  return person.role === null ? own : [person.role, ...own];
}

/** Only an owner may create, change or remove an owner. */
export function isOwner(session: Session | null): boolean {
  return session?.by === 'key' || session?.answer.person.role === 'owner';
}
