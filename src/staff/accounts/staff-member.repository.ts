/** Accounts of staff and their roles in projects, in the platform database. Every change has its audit entry. */
import { Injectable } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import { getEmailAddress } from '../../identity/email-address';
import { AuditEntry, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { lastOwner, staffMemberNotFound } from '../staff.errors';
import {
  type InstallRole,
  MEMBER_COLUMNS,
  type Membership,
  type ProjectRole,
  type StaffMemberRecord,
} from './staff-member';
import { changesRow } from '../changes-row';

/** Advisory lock under which owners are added and removed, so that one always remains. The number is arbitrary. */
const OWNERS_LOCK = 7_046_111;

/** The tables of the credentials with which staff sign in. */
const CREDENTIALS = [
  'staff_recovery_codes',
  'staff_passkeys',
  'staff_identities',
  'staff_sessions',
  'staff_tokens',
] as const;

export interface NewStaffMember {
  readonly email: string;
  readonly emailKey: string;
  readonly name: string;
  readonly role: InstallRole | null;
  /** Null if the staff member signs in by single sign-on only. */
  readonly passwordHash: string | null;
  /** Null if the address is not proved. */
  readonly emailVerifiedAt: Date | null;
}

/** Absent members leave the values unchanged. */
export interface StaffMemberChange {
  /** A new address is not proved. */
  readonly email?: string;
  readonly name?: string;
  readonly role?: InstallRole | null;
  readonly disabled?: boolean;
}

/** A staff member with the data that a sign-in needs. */
export interface SignInRecord extends StaffMemberRecord {
  /** Null if the staff member has no password. */
  readonly passwordHash: string | null;
}

/** A staff member with a role in a project. */
export interface ProjectMember extends StaffMemberRecord {
  readonly projectRole: ProjectRole;
}

@Injectable()
export class StaffMemberRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  /** Sorted by address. */
  async list(): Promise<StaffMemberRecord[]> {
    return this.dataSource.query<StaffMemberRecord[]>(
      `select ${MEMBER_COLUMNS} from staff_people p order by p.email_key`,
    );
  }

  async find(id: string): Promise<StaffMemberRecord | null> {
    const statement = `select ${MEMBER_COLUMNS} from staff_people p where p.id = $1`;
    const [member] = await this.dataSource.query<StaffMemberRecord[]>(statement, [id]);
    return member ?? null;
  }

  async findByEmail(emailKey: string): Promise<SignInRecord | null> {
    const [member] = await this.dataSource.query<SignInRecord[]>(
      `select ${MEMBER_COLUMNS}, p.password_hash as "passwordHash" from staff_people p where p.email_key = $1`,
      [emailKey],
    );
    return member ?? null;
  }

  async findPasswordHash(id: string): Promise<string | null> {
    const [row] = await this.dataSource.query<{ password_hash: string | null }[]>(
      'select password_hash from staff_people where id = $1',
      [id],
    );
    return row?.password_hash ?? null;
  }

  /** @throws driver's error 23505 if the address has an account */
  async insert(member: NewStaffMember, manager: EntityManager): Promise<StaffMemberRecord> {
    const { email, emailKey, name, role, passwordHash, emailVerifiedAt } = member;
    const [row] = await manager.query<StaffMemberRecord[]>(
      `insert into staff_people as p (email, email_key, name, role, password_hash, email_verified_at)
       values ($1, $2, $3, $4, $5, $6) returning ${MEMBER_COLUMNS}`,
      [email, emailKey, name, role, passwordHash, emailVerifiedAt],
    );
    if (!row) throw new Error('the staff member was not inserted');
    return row;
  }

  /** Like insert(), with an entry of the audit log. */
  async create(member: NewStaffMember, entry: AuditEntry): Promise<StaffMemberRecord> {
    return this.dataSource.transaction(async (manager) => {
      const made = await this.insert(member, manager);
      await this.audit.write(entry, manager);
      return made;
    });
  }

  /** Sets the password, unless it was changed after `before` was read. */
  async setPassword(
    id: string,
    before: string,
    passwordHash: string,
    entry: AuditEntry | null,
  ): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.query('update staff_people set password_hash = $3 where id = $1 and password_hash = $2', [
        id,
        before,
        passwordHash,
      ]);
      if (entry) await this.audit.write(entry, manager);
    });
  }

  /**
   * Gives an account whose address was not proved to the staff member who proves the address now: the
   * account's former holder loses access. Its roles stay, because they were given to the address.
   */
  async handOver(id: string, now: Date, manager: EntityManager): Promise<void> {
    await manager.query(
      `update staff_people set email_verified_at = $2, password_hash = null, totp_secret = null, totp_confirmed_at = null
       where id = $1`,
      [id, now],
    );
    for (const table of CREDENTIALS) await manager.query(`delete from ${table} where person_id = $1`, [id]);
    await manager.query('delete from staff_invitations where invited_by = $1', [id]);
  }

  async noteSignIn(id: string, now: Date): Promise<void> {
    await this.dataSource.query('update staff_people set last_sign_in_at = $2 where id = $1', [id, now]);
  }

  /** @throws AppError 404 for an unknown staff member, 409 for the last owner */
  async updateMember(
    id: string,
    check: (before: StaffMemberRecord) => void,
    { email, name, role, disabled }: StaffMemberChange,
    now: Date,
    entry: AuditEntry,
  ): Promise<StaffMemberRecord> {
    return this.changingOwners(id, check, entry, async (manager) => {
      await manager.query(
        `update staff_people set name = coalesce($2, name),
           email = coalesce($7, email), email_key = coalesce($8, email_key),
           email_verified_at = case when $8 <> email_key then null else email_verified_at end,
           role = case when $3 then $4 else role end,
           disabled_at = case when $5::boolean is null then disabled_at when $5 then coalesce(disabled_at, $6::timestamptz) end
         where id = $1`,
        [
          id,
          name ?? null,
          role !== undefined,
          role ?? null,
          disabled ?? null,
          now,
          email ?? null,
          email === undefined ? null : getEmailAddress(email).key,
        ],
      );
      if (disabled === true) {
        await manager.query('delete from staff_sessions where person_id = $1', [id]);
        await manager.query('delete from staff_tokens where person_id = $1', [id]);
      }
      // Invitations carry the rights of the staff member who made them.
      if (disabled === true || role !== undefined)
        await manager.query('delete from staff_invitations where invited_by = $1', [id]);
    });
  }

  /** @throws AppError 404 for an unknown staff member, 409 for the last owner */
  async remove(id: string, check: (before: StaffMemberRecord) => void, entry: AuditEntry): Promise<void> {
    await this.changingOwners(id, check, entry, (manager) =>
      manager.query('delete from staff_people where id = $1', [id]),
    );
  }

  /** Whether the installation has an owner whose account is not disabled. */
  async hasOwner(manager: EntityManager = this.dataSource.manager): Promise<boolean> {
    const rows = await manager.query<unknown[]>(
      `select from staff_people where role = 'owner' and disabled_at is null limit 1`,
    );
    return rows.length > 0;
  }

  /** Runs work that no other change of owners overlaps. */
  async whileOwnersStay<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query('select pg_advisory_xact_lock($1)', [OWNERS_LOCK]);
      return work(manager);
    });
  }

  /** The projects of a staff member, in the order of their slugs. */
  async projectsOf(id: string): Promise<Membership[]> {
    return this.dataSource.query<Membership[]>(
      `select m.project_id as id, j.slug, m.role from staff_members m
       join projects j on j.id = m.project_id and j.status = 'active' where m.person_id = $1 order by j.slug`,
      [id],
    );
  }

  /** The projects whose database password the staff member may know. */
  async projectsKnownTo(id: string): Promise<{ readonly id: string; readonly slug: string }[]> {
    return this.dataSource.query(
      `select j.id, j.slug from projects j where j.status = 'active' and (
         exists (select from staff_people where id = $1 and role in ('owner', 'operator'))
         or exists (select from staff_members m where m.person_id = $1 and m.project_id = j.id and m.role <> 'viewer'))
       order by j.slug`,
      [id],
    );
  }

  /** The staff with a role in a project, in the order of their addresses. */
  async membersOf(projectId: string): Promise<ProjectMember[]> {
    return this.dataSource.query<ProjectMember[]>(
      `select ${MEMBER_COLUMNS}, m.role as "projectRole"
       from staff_members m join staff_people p on p.id = m.person_id where m.project_id = $1 order by p.email_key`,
      [projectId],
    );
  }

  async setProjectRole(
    projectId: string,
    memberId: string,
    role: ProjectRole,
    manager: EntityManager,
  ): Promise<void> {
    await manager.query(
      `insert into staff_members (project_id, person_id, role) values ($1, $2, $3)
       on conflict (project_id, person_id) do update set role = excluded.role`,
      [projectId, memberId, role],
    );
  }

  async giveProjectRole(
    projectId: string,
    memberId: string,
    role: ProjectRole,
    entry: AuditEntry,
  ): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await this.setProjectRole(projectId, memberId, role, manager);
      await withdrawInvitations(manager, projectId, memberId);
      await this.audit.write(entry, manager);
    });
  }

  /** @returns false if the staff member has no role in the project */
  async takeProjectRole(projectId: string, memberId: string, entry: AuditEntry): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const statement = 'delete from staff_members where project_id = $1 and person_id = $2 returning 1';
      if (!(await changesRow(manager, statement, [projectId, memberId]))) return false;
      await withdrawInvitations(manager, projectId, memberId);
      await this.audit.write(entry, manager);
      return true;
    });
  }

  private async changingOwners(
    id: string,
    check: (before: StaffMemberRecord) => void,
    entry: AuditEntry,
    work: (manager: EntityManager) => Promise<unknown>,
  ): Promise<StaffMemberRecord> {
    return this.whileOwnersStay(async (manager) => {
      const before = await findIn(manager, id);
      if (!before) throw staffMemberNotFound();
      check(before);
      await this.audit.write(entry, manager);
      await work(manager);
      const wasOwner = before.role === 'owner' && before.disabledAt === null;
      if (wasOwner && !(await this.hasOwner(manager))) throw lastOwner();
      return (await findIn(manager, id)) ?? before;
    });
  }
}

async function findIn(manager: EntityManager, id: string): Promise<StaffMemberRecord | null> {
  const statement = `select ${MEMBER_COLUMNS} from staff_people p where p.id = $1 for update`;
  const [member] = await manager.query<StaffMemberRecord[]>(statement, [id]);
  return member ?? null;
}

/** A changed role may no longer allow the staff member's invitations to the project. */
async function withdrawInvitations(
  manager: EntityManager,
  projectId: string,
  memberId: string,
): Promise<void> {
  await manager.query(
    `delete from staff_invitations i using staff_invitation_projects t
     where t.invitation_id = i.id and t.project_id = $1 and i.invited_by = $2`,
    [projectId, memberId],
  );
}
