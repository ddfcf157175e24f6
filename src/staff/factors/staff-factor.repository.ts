/** Second factors and recovery codes of staff, in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditEntry, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { changesRow } from '../changes-row';

export interface StoredFactor {
  /** Encrypted with the staff member's id as purpose. */
  readonly sealed: Buffer;
  readonly confirmed: boolean;
}

@Injectable()
export class StaffFactorRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  async find(memberId: string): Promise<StoredFactor | null> {
    const [factor] = await this.dataSource.query<StoredFactor[]>(
      `select totp_secret as sealed, totp_confirmed_at is not null as confirmed
       from staff_people where id = $1 and totp_secret is not null`,
      [memberId],
    );
    return factor ?? null;
  }

  /** Replaces a factor that was not confirmed. @returns false if there is a confirmed factor */
  async begin(memberId: string, sealed: Buffer): Promise<boolean> {
    return changesRow(
      this.dataSource,
      `update staff_people set totp_secret = $2, totp_step = 0
       where id = $1 and totp_confirmed_at is null returning 1`,
      [memberId, sealed],
    );
  }

  /** Accepts each time step once. @returns false if this time step or a later one was used before */
  async useStep(memberId: string, step: number): Promise<boolean> {
    return changesRow(
      this.dataSource,
      'update staff_people set totp_step = $2 where id = $1 and totp_step < $2 returning 1',
      [memberId, step],
    );
  }

  /** Accepts each recovery code once. */
  async useRecoveryCode(memberId: string, hash: Buffer): Promise<boolean> {
    return changesRow(
      this.dataSource,
      'delete from staff_recovery_codes where person_id = $1 and code_hash = $2 returning 1',
      [memberId, hash],
    );
  }

  /** @param sealed the secret that the code was checked with @returns false if another secret has replaced it */
  async confirm(
    memberId: string,
    sealed: Buffer,
    now: Date,
    codes: readonly Buffer[],
    entry: AuditEntry,
  ): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const confirmation = `update staff_people set totp_confirmed_at = $3
        where id = $1 and totp_secret = $2 and totp_confirmed_at is null returning 1`;
      if (!(await changesRow(manager, confirmation, [memberId, sealed, now]))) return false;
      // The recovery codes that came with a passkey are replaced: a staff member has a single list of codes.
      await manager.query('delete from staff_recovery_codes where person_id = $1', [memberId]);
      await manager.query(
        `insert into staff_recovery_codes (person_id, code_hash) select $1, unnest($2::bytea[])`,
        [memberId, codes],
      );
      await this.audit.write(entry, manager);
      return true;
    });
  }

  async remove(memberId: string, entry: AuditEntry): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.query(
        'update staff_people set totp_secret = null, totp_confirmed_at = null, totp_step = 0 where id = $1',
        [memberId],
      );
      await manager.query(
        `delete from staff_recovery_codes where person_id = $1
           and not exists (select from staff_passkeys where person_id = $1)`,
        [memberId],
      );
      await this.audit.write(entry, manager);
    });
  }
}
