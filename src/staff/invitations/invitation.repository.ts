/** Invitations to accounts, in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import { AuditEntry, AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { InstallRole, ProjectRole } from '../accounts/staff-member';
import { changesRow } from '../changes-row';

export interface InvitedProject {
  /** The project's id. */
  readonly id: string;
  readonly role: ProjectRole;
}

export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly role: InstallRole | null;
  readonly projects: readonly InvitedProject[];
  /** Address of the staff member who invited; null: PLATFORM_ADMIN_KEY did. */
  readonly invitedBy: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface OpenInvitation extends Invitation {
  /** True if the link was mailed and nobody else has seen it, so its holder can read mail to the address. */
  readonly mailed: boolean;
  readonly emailKey: string;
}

export interface NewInvitation extends Omit<OpenInvitation, 'id'> {
  readonly hash: Buffer;
  readonly inviterId: string | null;
}

const COLUMNS = `i.id, i.email, i.role, i.created_at as "createdAt", i.expires_at as "expiresAt",
  (select p.email from staff_people p where p.id = i.invited_by) as "invitedBy",
  coalesce((select jsonb_agg(jsonb_build_object('id', t.project_id, 'role', t.role) order by t.project_id)
    from staff_invitation_projects t where t.invitation_id = i.id), '[]') as projects`;

@Injectable()
export class InvitationRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  /** Lists open invitations, the newest first. */
  async list(now: Date): Promise<Invitation[]> {
    return this.dataSource.query<Invitation[]>(
      `select ${COLUMNS} from staff_invitations i where i.expires_at > $1 order by i.created_at desc, i.id`,
      [now],
    );
  }

  async find(id: string): Promise<Invitation | null> {
    const statement = `select ${COLUMNS} from staff_invitations i where i.id = $1`;
    const [invitation] = await this.dataSource.query<Invitation[]>(statement, [id]);
    return invitation ?? null;
  }

  async findOpen(hash: Buffer, now: Date): Promise<OpenInvitation | null> {
    const [invitation] = await this.dataSource.query<OpenInvitation[]>(
      `select ${COLUMNS}, i.email_key as "emailKey", i.mailed
       from staff_invitations i where i.token_hash = $1 and i.expires_at > $2`,
      [hash, now],
    );
    return invitation ?? null;
  }

  /** @returns the id; null if the same sender has already invited the address */
  async insert(invitation: NewInvitation, entry: AuditEntry): Promise<string | null> {
    const { hash, email, emailKey, role, projects, mailed, inviterId, createdAt, expiresAt } = invitation;
    return this.dataSource.transaction(async (manager) => {
      await manager.query('delete from staff_invitations where expires_at <= $1', [createdAt]);
      const [row] = await manager.query<{ id: string }[]>(
        `insert into staff_invitations (token_hash, email, email_key, role, invited_by, created_at, expires_at, mailed)
         values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (email_key, coalesce(invited_by::text, '')) do nothing returning id`,
        [hash, email, emailKey, role, inviterId, createdAt, expiresAt, mailed],
      );
      if (!row) return null;
      await manager.query(
        `insert into staff_invitation_projects (invitation_id, project_id, role)
         select $1, * from unnest($2::text[], $3::text[])`,
        [row.id, projects.map(({ id }) => id), projects.map((one) => one.role)],
      );
      await this.audit.write(entry, manager);
      return row.id;
    });
  }

  /** Consumes an invitation, in the transaction that creates the account. @returns false if it no longer exists */
  async use(id: string, manager: EntityManager): Promise<boolean> {
    return changesRow(manager, 'delete from staff_invitations where id = $1 returning 1', [id]);
  }

  async remove(id: string, entry: AuditEntry): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await this.use(id, manager);
      await this.audit.write(entry, manager);
    });
  }
}
