/** Invitations in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import { AuditEntry, AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { InstallRole } from '../accounts/staff-member';
import type { Invitation, InvitedProject, NewInvitation } from './invitation';

interface InvitationRow {
  readonly id: string;
  readonly email: string;
  readonly email_key: string;
  readonly role: InstallRole | null;
  readonly projects: InvitedProject[];
  readonly invited_by: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly mailed: boolean;
}

export interface OpenInvitation extends Invitation {
  /** The link was mailed and shown to nobody: who has it, has the address. */
  readonly mailed: boolean;
  readonly emailKey: string;
}

const COLUMNS = `i.id, i.email, i.email_key, i.role, i.created_at, i.expires_at, i.mailed,
  (select p.email from staff_people p where p.id = i.invited_by) as invited_by,
  coalesce((select jsonb_agg(jsonb_build_object('id', t.project_id, 'role', t.role) order by t.project_id)
    from staff_invitation_projects t where t.invitation_id = i.id), '[]') as projects`;

@Injectable()
export class InvitationRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  /** The newest first, without those that are too old. */
  async list(now: Date): Promise<Invitation[]> {
    const rows = await this.dataSource.query<InvitationRow[]>(
      `select ${COLUMNS} from staff_invitations i where i.expires_at > $1 order by i.created_at desc, i.id`,
      [now],
    );
    return rows.map(toInvitation);
  }

  async find(id: string): Promise<Invitation | null> {
    const [row] = await this.dataSource.query<InvitationRow[]>(
      `select ${COLUMNS} from staff_invitations i where i.id = $1`,
      [id],
    );
    return row ? toInvitation(row) : null;
  }

  async findOpen(hash: Buffer, now: Date): Promise<OpenInvitation | null> {
    const [row] = await this.dataSource.query<InvitationRow[]>(
      `select ${COLUMNS} from staff_invitations i where i.token_hash = $1 and i.expires_at > $2`,
      [hash, now],
    );
    return row ? { ...toInvitation(row), emailKey: row.email_key, mailed: row.mailed } : null;
  }

  /** @returns the id; null if the inviter has invited the address already */
  async insert(invitation: NewInvitation, entry: AuditEntry): Promise<string | null> {
    const { hash, email, emailKey, role, projects, mailed, invitedBy, now, expiresAt } = invitation;
    return this.dataSource.transaction(async (manager) => {
      await manager.query('delete from staff_invitations where expires_at <= $1', [now]);
      const [row] = await manager.query<{ id: string }[]>(
        `insert into staff_invitations (token_hash, email, email_key, role, invited_by, created_at, expires_at, mailed)
         values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (email_key, coalesce(invited_by::text, '')) do nothing returning id`,
        [hash, email, emailKey, role, invitedBy, now, expiresAt, mailed],
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

  /** Uses an invitation up, in the transaction that creates the account. @returns false if it is gone */
  async use(id: string, manager: EntityManager): Promise<boolean> {
    const rows = await manager.query<unknown[]>(
      'with used as (delete from staff_invitations where id = $1 returning 1) select from used',
      [id],
    );
    return rows.length === 1;
  }

  async remove(id: string, entry: AuditEntry): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await this.use(id, manager);
      await this.audit.write(entry, manager);
    });
  }
}

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    projects: row.projects,
    invitedBy: row.invited_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
