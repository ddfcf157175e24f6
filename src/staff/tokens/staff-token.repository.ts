/** Personal access tokens in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditEntry, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ACCESS_COLUMNS, MemberAccess } from '../accounts/staff-member';
import { changesRow } from '../changes-row';
import type { Scope } from '../roles/route-table';

export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly projectId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
}

export interface NewToken extends Pick<TokenRecord, 'name' | 'scopes' | 'projectId' | 'expiresAt'> {
  readonly memberId: string;
  readonly hash: Buffer;
  readonly now: Date;
}

const TOKEN_COLUMNS = `t.id, t.name, t.scopes, t.project_id as "projectId", t.created_at as "createdAt",
  t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt"`;

@Injectable()
export class StaffTokenRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  /** The token and its staff member, whose account is not disabled. */
  async findByHash(hash: Buffer): Promise<(TokenRecord & MemberAccess) | null> {
    const [token] = await this.dataSource.query<(TokenRecord & MemberAccess)[]>(
      `select ${TOKEN_COLUMNS}, ${ACCESS_COLUMNS}
       from staff_tokens t join staff_people p on p.id = t.person_id and p.disabled_at is null
       where t.token_hash = $1`,
      [hash],
    );
    return token ?? null;
  }

  /** The staff member of a token; null if it was deleted or has expired, or the account is disabled. */
  async accessOf(id: string, now: Date): Promise<MemberAccess | null> {
    const [access] = await this.dataSource.query<MemberAccess[]>(
      `select ${ACCESS_COLUMNS}
       from staff_tokens t join staff_people p on p.id = t.person_id and p.disabled_at is null
       where t.id = $1 and t.expires_at > $2`,
      [id, now],
    );
    return access ?? null;
  }

  async touch(id: string, now: Date): Promise<void> {
    await this.dataSource.query('update staff_tokens set last_used_at = $2 where id = $1', [id, now]);
  }

  /** Lists tokens, the newest first. */
  async listOf(memberId: string): Promise<TokenRecord[]> {
    return this.dataSource.query<TokenRecord[]>(
      `select ${TOKEN_COLUMNS} from staff_tokens t where t.person_id = $1 order by t.created_at desc, t.id`,
      [memberId],
    );
  }

  /**
   * @param most maximum number of tokens of a staff member; expired tokens are removed and not counted
   * @returns null if the staff member has that many
   */
  async insert(
    { memberId, hash, name, scopes, projectId, now, expiresAt }: NewToken,
    most: number,
    entryFor: (id: string) => AuditEntry,
  ): Promise<TokenRecord | null> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query('select from staff_people where id = $1 for update', [memberId]);
      await manager.query('delete from staff_tokens where person_id = $1 and expires_at <= $2', [
        memberId,
        now,
      ]);
      const [token] = await manager.query<TokenRecord[]>(
        `insert into staff_tokens as t (person_id, token_hash, name, scopes, project_id, created_at, expires_at)
         select p.id, $2, $3, $4, $5, $6, $7 from staff_people p
         where p.id = $1 and p.disabled_at is null
           and (select count(*) from staff_tokens o where o.person_id = $1) < $8
         returning ${TOKEN_COLUMNS}`,
        [memberId, hash, name, scopes, projectId, now, expiresAt, most],
      );
      if (!token) return null;
      await this.audit.write(entryFor(token.id), manager);
      return token;
    });
  }

  async removeAll(memberId: string): Promise<void> {
    await this.dataSource.query('delete from staff_tokens where person_id = $1', [memberId]);
  }

  /** @returns false if the staff member has no such token */
  async remove(memberId: string, id: string, entry: AuditEntry): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const statement = 'delete from staff_tokens where id = $1 and person_id = $2 returning 1';
      if (!(await changesRow(manager, statement, [id, memberId]))) return false;
      await this.audit.write(entry, manager);
      return true;
    });
  }
}
