/** SQL and rows of staff, for the repositories that read them. `p` is staff_people. */
import type { Identity, InstallRole, Membership, StaffMemberRecord } from './staff-member';

export const MEMBER_COLUMNS = `p.id as person_id, p.email, p.name, p.role, p.disabled_at, p.email_verified_at, p.created_at,
  p.last_sign_in_at, p.totp_confirmed_at is not null as has_app,
  p.totp_confirmed_at is not null
    or exists (select from staff_passkeys k where k.person_id = p.id) as has_factor`;

/** The active projects of the staff member, in the order of their slugs. */
export const MEMBERSHIPS_COLUMN = `coalesce((
    select jsonb_agg(jsonb_build_object('id', m.project_id, 'slug', j.slug, 'role', m.role) order by j.slug)
    from staff_members m join projects j on j.id = m.project_id and j.status = 'active'
    where m.person_id = p.id), '[]') as memberships`;

export interface StaffMemberRow {
  readonly person_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: InstallRole | null;
  readonly disabled_at: Date | null;
  readonly email_verified_at: Date | null;
  readonly created_at: Date;
  readonly last_sign_in_at: Date | null;
  readonly has_app: boolean;
  readonly has_factor: boolean;
}

export interface IdentityRow extends StaffMemberRow {
  readonly memberships: readonly Membership[];
}

/** @param row with PERSON_COLUMNS */
export function toStaffMember(row: StaffMemberRow): StaffMemberRecord {
  return {
    id: row.person_id,
    email: row.email,
    name: row.name,
    role: row.role,
    hasApp: row.has_app,
    hasFactor: row.has_factor,
    disabledAt: row.disabled_at,
    emailVerifiedAt: row.email_verified_at,
    createdAt: row.created_at,
    lastSignInAt: row.last_sign_in_at,
  };
}

/** @param row with PERSON_COLUMNS and MEMBERSHIPS_COLUMN */
export function toIdentity(row: IdentityRow): Identity {
  return { member: toStaffMember(row), projects: row.memberships };
}
