/** Staff, who administer the installation, their roles, and the SQL that reads them. */
import type { JsonObject } from '../../common/text/json';
import type { Actor, AuditEntry } from '../../install/audit/audit-log.repository';

/** Roles of the installation. */
export const INSTALL_ROLES = ['owner', 'operator', 'auditor'] as const;
export type InstallRole = (typeof INSTALL_ROLES)[number];

/** Roles of a project. */
export const PROJECT_ROLES = ['admin', 'developer', 'viewer'] as const;
export type ProjectRole = (typeof PROJECT_ROLES)[number];

/**
 * The key under which GuessThrottle counts guesses at accounts of staff. It cannot be the id of a project,
 * which has 20 characters.
 */
export const STAFF_GUESSES = Object.freeze({ id: 'staff' });

/** The account of a staff member. */
export interface StaffMember {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** Null if the staff member has roles in projects only. */
  readonly role: InstallRole | null;
  /** True once an authenticator app was confirmed. */
  readonly hasApp: boolean;
  /** True if the staff member has an authenticator app or a passkey. */
  readonly hasFactor: boolean;
}

/** The role of a staff member in a project. */
export interface Membership {
  /** The project's id. */
  readonly id: string;
  readonly slug: string;
  readonly role: ProjectRole;
}

/** A staff member with all the data that the list of staff shows. */
export interface StaffMemberRecord extends StaffMember {
  readonly disabledAt: Date | null;
  /** The time at which the address was proved, by the link in a mail or by an issuer; null if it is not proved. */
  readonly emailVerifiedAt: Date | null;
  readonly createdAt: Date;
  readonly lastSignInAt: Date | null;
}

/** A staff member and the projects in which they have a role. */
export interface MemberAccess {
  readonly member: StaffMember;
  readonly projects: readonly Membership[];
}

/** The columns of a StaffMemberRecord; `p` is staff_people. */
export const MEMBER_COLUMNS = `p.id, p.email, p.name, p.role, p.disabled_at as "disabledAt",
  p.email_verified_at as "emailVerifiedAt", p.created_at as "createdAt", p.last_sign_in_at as "lastSignInAt",
  p.totp_confirmed_at is not null as "hasApp",
  p.totp_confirmed_at is not null
    or exists (select from staff_passkeys k where k.person_id = p.id) as "hasFactor"`;

/** MemberAccess as two columns of JSON, with the data that a request needs. Only active projects are included, sorted by slug. */
export const ACCESS_COLUMNS = `jsonb_build_object('id', p.id, 'email', p.email, 'name', p.name, 'role', p.role,
    'hasApp', p.totp_confirmed_at is not null, 'hasFactor', p.totp_confirmed_at is not null
      or exists (select from staff_passkeys k where k.person_id = p.id)) as member,
  coalesce((
    select jsonb_agg(jsonb_build_object('id', m.project_id, 'slug', j.slug, 'role', m.role) order by j.slug)
    from staff_members m join projects j on j.id = m.project_id and j.status = 'active'
    where m.person_id = p.id), '[]') as projects`;

/** An entry of the audit log about a staff member or an act of theirs. */
export const auditEntry = (
  action: string,
  actor: Actor,
  details?: JsonObject,
  projectId: string | null = null,
): AuditEntry => ({ actor, action, projectId, ...(details ? { details } : {}) });
