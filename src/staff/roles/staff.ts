/** The outcome of StaffGuard: the sender of a request to the administration. Immutable. */
import { Actor } from '../../install/audit/audit-log.repository';
import { Identity, InstallRole, Person, ProjectRole } from '../accounts/person';
import { Scope } from './scopes';

/** What a personal access token is limited to. */
export interface TokenLimits {
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** Null: all projects of the person. */
  readonly projectId: string | null;
  readonly expiresAt: Date;
}

/** The session whose cookie a request has. */
export interface SessionOfRequest {
  readonly id: string;
  readonly expiresAt: Date;
  /** True for ten minutes after the sign-in, or after another proof of the person. */
  readonly isConfirmed: boolean;
}

export interface Staff {
  /** Null for PLATFORM_ADMIN_KEY. */
  readonly identity: Identity | null;
  /** Null unless the request has a session's cookie. */
  readonly session: SessionOfRequest | null;
  /** Null unless the request has a personal access token. */
  readonly token: TokenLimits | null;
}

/** The session of the request; its route must use StaffSessionGuard. */
export function sessionOf({ session }: Staff): SessionOfRequest {
  if (!session) throw new Error('this route lacks StaffSessionGuard');
  return session;
}

/** The person of the request; null for PLATFORM_ADMIN_KEY. */
export const personOf = ({ identity }: Staff): Person | null => identity?.person ?? null;

/** PLATFORM_ADMIN_KEY is an owner. */
export function installRoleOf({ identity }: Staff): InstallRole | null {
  return identity === null ? 'owner' : identity.person.role;
}

/** True for senders who manage the installation, and not only read it. */
export const isOperator = (staff: Staff): boolean =>
  ['owner', 'operator'].includes(installRoleOf(staff) ?? '');

/** The person's role in a project, without that of the installation. */
export function projectRoleOf({ identity }: Staff, projectId: string): ProjectRole | null {
  return identity?.projects.find(({ id }) => id === projectId)?.role ?? null;
}

/** Ids of the projects that the request may know of; null: all. */
export function visibleProjects(staff: Staff): readonly string[] | null {
  const limit = staff.token?.projectId ?? null;
  if (installRoleOf(staff) !== null) return limit === null ? null : [limit];
  const own = staff.identity?.projects.map(({ id }) => id) ?? [];
  return limit === null ? own : own.filter((id) => id === limit);
}

/** The author of changes, for the audit log. @param address of the client */
export function actorOf(staff: Staff, address: string | null): Actor {
  const person = personOf(staff);
  return { name: person ? nameOf(person) : ADMIN_KEY_NAME, address };
}

const ADMIN_KEY_NAME = 'platform-admin-key';

/** The address can be given to another person later, the id cannot. */
const nameOf = ({ email, id }: Person): string => `${email} (${id})`;

/** The actor of a request that signs a person in, or sets their account up. */
export const actorAs = (person: Person, address: string): Actor => ({ name: nameOf(person), address });

/** The actor of a request without a valid credential. */
export const anonymousActor = (address: string): Actor => ({ name: 'anonymous', address });
