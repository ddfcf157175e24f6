/** Passkeys of staff in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { NewPasskeyCredential, PasskeyCredential } from '../../identity/passkeys/webauthn';
import { AuditEntry, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { changesRow } from '../changes-row';
import { tooManyPasskeys } from '../staff.errors';

/** Maximum number of passkeys of a staff member. */
export const MAX_PASSKEYS = 20;

/** A passkey as its owner's list shows it. */
export interface PasskeyRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

export interface StoredPasskey extends PasskeyCredential {
  readonly id: string;
  readonly memberId: string;
}

export interface NewPasskey extends NewPasskeyCredential {
  readonly memberId: string;
  readonly name: string;
  readonly now: Date;
  /** Recovery codes to store, unless the staff member has some already. */
  readonly recoveryCodes: readonly Buffer[];
}

const RECORD = `id, name, created_at as "createdAt", last_used_at as "lastUsedAt"`;

@Injectable()
export class PasskeyRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  /** Lists passkeys, the oldest first. */
  async list(memberId: string): Promise<PasskeyRecord[]> {
    return this.dataSource.query<PasskeyRecord[]>(
      `select ${RECORD} from staff_passkeys where person_id = $1 order by created_at, id`,
      [memberId],
    );
  }

  async credentialIds(memberId: string): Promise<string[]> {
    const rows = await this.dataSource.query<{ credential_id: string }[]>(
      'select credential_id from staff_passkeys where person_id = $1',
      [memberId],
    );
    return rows.map(({ credential_id: id }) => id);
  }

  async findByCredential(credentialId: string): Promise<StoredPasskey | null> {
    const [row] = await this.dataSource.query<StoredPasskey[]>(
      `select id, person_id as "memberId", credential_id as "credentialId", public_key as "publicKey",
         counter::float8 as counter
       from staff_passkeys where credential_id = $1`,
      [credentialId],
    );
    return row ?? null;
  }

  /**
   * @returns null if the credential is already known; else the passkey, and whether the recovery codes were stored
   * @throws AppError 400 for too many passkeys
   */
  async insert(
    passkey: NewPasskey,
    entry: AuditEntry,
  ): Promise<{ record: PasskeyRecord; hasNewCodes: boolean } | null> {
    const { memberId, credentialId, publicKey, counter, transports, name, now, recoveryCodes } = passkey;
    return this.dataSource.transaction(async (manager) => {
      // Locks the staff member, so that concurrent enrolments are counted one after the other.
      await manager.query('select from staff_people where id = $1 for update', [memberId]);
      const counted = 'select from staff_passkeys where person_id = $1';
      const owned = await manager.query<unknown[]>(counted, [memberId]);
      if (owned.length >= MAX_PASSKEYS) throw tooManyPasskeys(MAX_PASSKEYS);
      const [record] = await manager.query<PasskeyRecord[]>(
        `insert into staff_passkeys (person_id, credential_id, public_key, counter, transports, name, created_at)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (credential_id) do nothing returning ${RECORD}`,
        [memberId, credentialId, publicKey, counter, transports, name, now],
      );
      if (!record) return null;
      const codes = await manager.query<unknown[]>(
        `insert into staff_recovery_codes (person_id, code_hash) select $1, unnest($2::bytea[])
         where not exists (select from staff_recovery_codes where person_id = $1) returning 1`,
        [memberId, recoveryCodes],
      );
      await this.audit.write(entry, manager);
      return { record, hasNewCodes: codes.length > 0 };
    });
  }

  /** Records a use. @returns false if the counter did not grow: another copy of the passkey was used */
  async use(id: string, counter: number, now: Date): Promise<boolean> {
    return changesRow(
      this.dataSource,
      `update staff_passkeys set counter = $2, last_used_at = $3
       where id = $1 and (counter < $2 or (counter = 0 and $2 = 0)) returning 1`,
      [id, counter, now],
    );
  }

  /** @returns null if the staff member has no such passkey */
  async rename(memberId: string, id: string, name: string): Promise<PasskeyRecord | null> {
    const [row] = await this.dataSource.query<PasskeyRecord[]>(
      `with renamed as (update staff_passkeys set name = $3 where person_id = $1 and id = $2 returning *)
       select ${RECORD} from renamed`,
      [memberId, id, name],
    );
    return row ?? null;
  }

  /** Recovery codes are deleted with the last factor. @returns false if the staff member has no such passkey */
  async remove(memberId: string, id: string, entry: AuditEntry): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      // Takes the same lock as the removal of the app: the second of the two sees that no factor is left.
      await manager.query('select from staff_people where id = $1 for update', [memberId]);
      const statement = 'delete from staff_passkeys where person_id = $1 and id = $2 returning 1';
      if (!(await changesRow(manager, statement, [memberId, id]))) return false;
      await manager.query(
        `delete from staff_recovery_codes c using staff_people p
         where c.person_id = $1 and p.id = $1 and p.totp_confirmed_at is null
           and not exists (select from staff_passkeys where person_id = $1)`,
        [memberId],
      );
      await this.audit.write(entry, manager);
      return true;
    });
  }
}
