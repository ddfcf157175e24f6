/** Rows of auth.phone_codes: codes that were sent to phones. */
import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../common/text/json';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import type { Project } from '../../projects/project';
import { MAX_DATA_TEXT } from '../accounts/account';
import { type AuditEntry, withAudit } from '../audit/audit-entry';

const REASON = 'auth.phone_codes is closed to the roles of callers';
const TABLE = 'auth.phone_codes';
/** Wrong guesses after which a code is invalid. */
const MAX_GUESSES = 10;

export interface PhoneCode {
  readonly id: string;
  readonly phone: string;
  readonly userId: string | null;
  readonly codeHash: Buffer;
  readonly account: JsonObject | null;
  readonly expiresAt: Date;
}

export type SpentPhoneCode = Pick<PhoneCode, 'phone' | 'userId' | 'account'>;

@Injectable()
export class PhoneCodeRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** Replaces an earlier code for the same purpose. */
  async save(
    project: Project,
    { id, phone, userId, codeHash, account, expiresAt }: PhoneCode,
    { now, keepsAccount }: { readonly now: Date; readonly keepsAccount: boolean },
  ): Promise<void> {
    await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:save-phone-code',
      text: `with old as (delete from auth.phone_codes where expires_at < $7 and id <> $1)
        insert into auth.phone_codes (id, phone, user_id, code_hash, account, expires_at)
        values ($1, $2, $3, $4, $5, $6)
        on conflict (id) do update set phone = excluded.phone, user_id = excluded.user_id, code_hash = excluded.code_hash,
          attempts = 0, account = case when $8 then phone_codes.account else excluded.account end, expires_at = excluded.expires_at`,
      values: [id, phone, userId, codeHash, account && JSON.stringify(account), expiresAt, now, keepsAccount],
    });
  }

  /**
   * Counts the guess first.
   * @param failure the entry of a wrong guess. Without a pending code nothing else is written, so the time reveals nothing.
   * @returns null for a wrong code, after MAX_GUESSES, and for all but one of parallel uses
   */
  async spend(
    project: Project,
    id: string,
    codeHash: Buffer,
    failure: AuditEntry | { readonly now: Date },
  ): Promise<SpentPhoneCode | null> {
    const values = [id, codeHash, failure.now];
    const spent = `delete from auth.phone_codes where id = $1 and code_hash = $2 and expires_at > $3 and attempts <= ${MAX_GUESSES}
      returning phone, user_id, account::text as account`;
    const failed = 'select null::uuid as id where not exists (select from spent)';
    const [, result] = await this.rls.systemBatch(project.database, REASON, [
      {
        name: 'auth:count-phone-guess',
        text: `update auth.phone_codes set attempts = attempts + 1 where id = $1 and attempts <= ${MAX_GUESSES}`,
        values: [id],
      },
      'action' in failure
        ? withAudit(
            {
              name: 'auth:spend-phone-code',
              steps: { spent, failed },
              audited: 'failed',
              query: 'select * from spent',
              values,
            },
            failure,
          )
        : { name: 'auth:spend-factor-code', text: spent, values },
    ]);
    if (!result?.rows[0]) return null;
    const record = new RecordReader(TABLE, result.rows[0]);
    return {
      phone: record.text('phone', 20),
      userId: record.uuidOrNull('user_id'),
      account: record.isNull('account') ? null : record.jsonObject('account', MAX_DATA_TEXT),
    };
  }
}
