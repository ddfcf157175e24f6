/** Rows of auth.passkeys, read and checked: their owner may have altered them. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { QueryResultRow } from 'pg';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import type { NewPasskeyCredential, PasskeyCredential } from '../../identity/passkeys/webauthn';
import type { Project } from '../../projects/project';
import type { SessionOwner } from '../accounts/account-statements';
import { isLive, lockAccount } from '../accounts/account-statements';
import { type AuditEntry, withAudit } from '../audit/audit-entry';

const REASON = 'auth.passkeys is closed to the roles of callers';
/** Maximum number of passkeys of a user. */
export const MAX_PASSKEYS = 20;
const MAX_COUNTER = 2 ** 32 - 1;

export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

export interface StoredPasskey extends PasskeyCredential {
  readonly id: string;
  readonly userId: string;
  readonly rpId: string;
}

const COLUMNS = 'p.id, p.name, p.created_at, p.last_used_at';

function toPasskey(row: QueryResultRow): Passkey {
  const record = new RecordReader('auth.passkeys', row);
  return {
    id: record.uuid('id'),
    name: record.text('name', 640),
    createdAt: record.date('created_at'),
    lastUsedAt: record.dateOrNull('last_used_at'),
  };
}

@Injectable()
export class PasskeyRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** The oldest first. */
  async list(project: Project, userId: string): Promise<Passkey[]> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:list-passkeys',
      text: `select ${COLUMNS} from auth.passkeys p where p.user_id = $1 order by p.created_at, p.id limit 100`,
      values: [userId],
    });
    return rows.map(toPasskey);
  }

  async credentialIds(project: Project, userId: string): Promise<string[]> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:credentials-of-user',
      text: 'select credential_id from auth.passkeys where user_id = $1 limit 100',
      values: [userId],
    });
    return rows.map((row) => new RecordReader('auth.passkeys', row).text('credential_id', 2_000));
  }

  async find(project: Project, credentialId: string): Promise<StoredPasskey | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:find-passkey',
      text: `select id, user_id, public_key, counter::float8 as counter, rp_id from auth.passkeys where credential_id = $1`,
      values: [credentialId],
    });
    if (!rows[0]) return null;
    const record = new RecordReader('auth.passkeys', rows[0]);
    return {
      id: record.uuid('id'),
      userId: record.uuid('user_id'),
      credentialId,
      publicKey: record.bytes('public_key', 4_096),
      counter: record.integer('counter', 0, MAX_COUNTER),
      rpId: record.text('rp_id', 253),
    };
  }

  /** @returns null if the session is over, the credential is known, or the user has MAX_PASSKEYS */
  async insert(
    project: Project,
    { userId, sessionId }: SessionOwner,
    { credentialId, publicKey, counter, rpId }: NewPasskeyCredential,
    name: string,
    audit: AuditEntry,
  ): Promise<Passkey | null> {
    const change = {
      name: 'auth:insert-passkey',
      steps: {
        p: `insert into auth.passkeys as p (id, user_id, credential_id, public_key, counter, rp_id, name, created_at)
          select $1, s.user_id, $4, $5, $6, $7, $8, $9 from auth.sessions s join auth.users u on u.id = s.user_id
          where s.id = $3 and s.user_id = $2 and ${isLive('$9')}
            and (select count(*) from auth.passkeys o where o.user_id = $2) < ${MAX_PASSKEYS}
          on conflict (credential_id) do nothing returning p.*`,
        happened_to: 'select user_id as id from p',
      },
      audited: 'happened_to',
      query: `select ${COLUMNS} from p`,
      values: [randomUUID(), userId, sessionId, credentialId, publicKey, counter, rpId, name, audit.now],
    } as const;
    const [, result] = await this.rls.systemBatch(project.database, REASON, [
      lockAccount(userId),
      withAudit(change, audit),
    ]);
    const [row] = result?.rows ?? [];
    return row ? toPasskey(row) : null;
  }

  /** @returns false if another copy of the passkey was used, or the passkey was removed */
  async use(project: Project, id: string, counter: number, now: Date): Promise<boolean> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:use-passkey',
      // Authenticators that do not count always say zero.
      text: `update auth.passkeys set counter = $2, last_used_at = $3
        where id = $1 and (counter < $2 or (counter = 0 and $2 = 0)) returning 1`,
      values: [id, counter, now],
    });
    return rows.length > 0;
  }

  async rename(project: Project, userId: string, id: string, name: string): Promise<Passkey | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:rename-passkey',
      text: `update auth.passkeys p set name = $3 where p.id = $2 and p.user_id = $1 returning ${COLUMNS}`,
      values: [userId, id, name],
    });
    return rows[0] ? toPasskey(rows[0]) : null;
  }

  /** @returns false if the user has no such passkey */
  async remove(project: Project, userId: string, id: string, audit: AuditEntry): Promise<boolean> {
    const change = {
      name: 'auth:remove-passkey',
      steps: { gone: 'delete from auth.passkeys where id = $2 and user_id = $1 returning user_id as id' },
      audited: 'gone',
      query: 'select from gone',
      values: [userId, id],
    } as const;
    const { rows } = await this.rls.systemQuery(project.database, REASON, withAudit(change, audit));
    return rows.length > 0;
  }
}
