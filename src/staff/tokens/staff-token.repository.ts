/** Personal access tokens in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditEntry, AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { Identity } from '../accounts/staff-member';
import {
  IdentityRow,
  MEMBERSHIPS_COLUMN,
  MEMBER_COLUMNS,
  toIdentity,
} from '../accounts/staff-member-columns';
import type { Scope } from '../roles/scopes';

export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly projectId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
}

export interface NewToken {
  readonly memberId: string;
  readonly hash: Buffer;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly projectId: string | null;
  readonly now: Date;
  readonly expiresAt: Date;
}

interface TokenRow {
  readonly id: string;
  readonly token_name: string;
  readonly scopes: Scope[];
  readonly project_id: string | null;
  readonly token_created_at: Date;
  readonly expires_at: Date;
  readonly last_used_at: Date | null;
}

const TOKEN_COLUMNS = `t.id, t.name as token_name, t.scopes, t.project_id, t.created_at as token_created_at,
  t.expires_at, t.last_used_at`;

@Injectable()
export class StaffTokenRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  /** The token and its staff member, whose account is not disabled. */
  async findByHash(hash: Buffer): Promise<{ token: TokenRecord; identity: Identity } | null> {
    const [row] = await this.dataSource.query<(TokenRow & IdentityRow)[]>(
      `select ${TOKEN_COLUMNS}, ${MEMBER_COLUMNS}, ${MEMBERSHIPS_COLUMN}
       from staff_tokens t join staff_people p on p.id = t.person_id and p.disabled_at is null
       where t.token_hash = $1`,
      [hash],
    );
    return row ? { token: toToken(row), identity: toIdentity(row) } : null;
  }

  /** The staff member of a token; null if it was deleted or has expired, or the account is disabled. */
  async identityOf(id: string, now: Date): Promise<Identity | null> {
    const [row] = await this.dataSource.query<IdentityRow[]>(
      `select ${MEMBER_COLUMNS}, ${MEMBERSHIPS_COLUMN}
       from staff_tokens t join staff_people p on p.id = t.person_id and p.disabled_at is null
       where t.id = $1 and t.expires_at > $2`,
      [id, now],
    );
    return row ? toIdentity(row) : null;
  }

  async touch(id: string, now: Date): Promise<void> {
    await this.dataSource.query('update staff_tokens set last_used_at = $2 where id = $1', [id, now]);
  }

  /** The newest first. */
  async listOf(memberId: string): Promise<TokenRecord[]> {
    const rows = await this.dataSource.query<TokenRow[]>(
      `select ${TOKEN_COLUMNS} from staff_tokens t where t.person_id = $1 order by t.created_at desc, t.id`,
      [memberId],
    );
    return rows.map(toToken);
  }

  /**
   * @param most tokens of a staff member, expired ones not counted, which are removed
   * @returns null if the staff member has that many
   */
  async insert(
    token: NewToken,
    most: number,
    entryFor: (id: string) => AuditEntry,
  ): Promise<TokenRecord | null> {
    return this.dataSource.transaction(async (manager) => {
      const { memberId, hash, name, scopes, projectId, now, expiresAt } = token;
      await manager.query('select from staff_people where id = $1 for update', [memberId]);
      await manager.query('delete from staff_tokens where person_id = $1 and expires_at <= $2', [
        memberId,
        now,
      ]);
      const [row] = await manager.query<TokenRow[]>(
        `insert into staff_tokens as t (person_id, token_hash, name, scopes, project_id, created_at, expires_at)
         select p.id, $2, $3, $4, $5, $6, $7 from staff_people p
         where p.id = $1 and p.disabled_at is null
           and (select count(*) from staff_tokens o where o.person_id = $1) < $8
         returning ${TOKEN_COLUMNS}`,
        [memberId, hash, name, scopes, projectId, now, expiresAt, most],
      );
      if (!row) return null;
      await this.audit.write(entryFor(row.id), manager);
      return toToken(row);
    });
  }

  async removeAll(memberId: string): Promise<void> {
    await this.dataSource.query('delete from staff_tokens where person_id = $1', [memberId]);
  }

  /** @returns false if the staff member has no such token */
  async remove(memberId: string, id: string, entry: AuditEntry): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const rows = await manager.query<unknown[]>(
        `with gone as (delete from staff_tokens where id = $1 and person_id = $2 returning 1)
         select from gone`,
        [id, memberId],
      );
      if (rows.length === 0) return false;
      await this.audit.write(entry, manager);
      return true;
    });
  }
}

function toToken(row: TokenRow): TokenRecord {
  return {
    id: row.id,
    name: row.token_name,
    scopes: row.scopes,
    projectId: row.project_id,
    createdAt: row.token_created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}
