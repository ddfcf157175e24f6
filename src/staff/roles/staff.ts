/** The outcome of StaffGuard: the sender of a request to the administration. Immutable. */
import { Actor } from '../../install/audit/audit-log.repository';
import { Membership, InstallRole, StaffMember, ProjectRole } from '../accounts/staff-member';
import { Scope } from './route-table';

/** The limits of a personal access token. */
export interface TokenLimits {
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** Null if the token is valid for all projects of the staff member. */
  readonly projectId: string | null;
  readonly expiresAt: Date;
}

/** The session whose cookie a request has. */
export interface SessionOfRequest {
  readonly id: string;
  readonly expiresAt: Date;
  /** True for ten minutes after the sign-in, or after another proof of identity. */
  readonly isConfirmed: boolean;
}

export interface StaffCaller {
  /** Null for PLATFORM_ADMIN_KEY. */
  readonly member: StaffMember | null;
  readonly projects: readonly Membership[];
  /** Null unless the request has a session's cookie. */
  readonly session: SessionOfRequest | null;
  /** Null unless the request has a personal access token. */
  readonly token: TokenLimits | null;
}

/** PLATFORM_ADMIN_KEY is an owner. */
export const installRoleOf = ({ member }: StaffCaller): InstallRole | null =>
  member ? member.role : 'owner';

/** True for senders who manage the installation, rather than only read it. */
export const isOperator = (staff: StaffCaller): boolean =>
  ['owner', 'operator'].includes(installRoleOf(staff) ?? '');

/** The staff member's role in a project; the role in the installation is not considered. */
export const projectRoleOf = ({ projects }: StaffCaller, projectId: string): ProjectRole | null =>
  projects.find(({ id }) => id === projectId)?.role ?? null;

/** Ids of the projects that the sender may know of; null for all. */
export function visibleProjects(staff: StaffCaller): readonly string[] | null {
  const limit = staff.token?.projectId ?? null;
  if (installRoleOf(staff) !== null) return limit === null ? null : [limit];
  const own = staff.projects.map(({ id }) => id);
  return limit === null ? own : own.filter((id) => id === limit);
}

/** The author of changes, for the audit log. @param address of the client */
export function actorOf(staff: StaffCaller, address: string | null): Actor {
  return { name: staff.member ? nameOf(staff.member) : ADMIN_KEY_NAME, address };
}

const ADMIN_KEY_NAME = 'platform-admin-key';

/** An address can be given to another staff member later, an id cannot. */
const nameOf = ({ email, id }: StaffMember): string => `${email} (${id})`;

/** The actor of a request that signs a staff member in, or sets their account up. */
export const actorAs = (member: StaffMember, address: string): Actor => ({ name: nameOf(member), address });

/** The actor of a request without a valid credential. */
export const anonymousActor = (address: string): Actor => ({ name: 'anonymous', address });
