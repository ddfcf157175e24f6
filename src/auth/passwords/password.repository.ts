/** Replaces passwords in auth.users, and ends the sessions and mailed tokens that the old password protected. */
import { Injectable } from '@nestjs/common';
import { Statement } from '../../database/statement';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import {
  appDataAfterProof,
  DROP_FACTORS,
  DROP_IDENTITIES,
  DROP_PASSKEYS,
  isNotBanned,
  lockAccount,
  UNPROVED,
} from '../accounts/account-statements';
import { AuditEntry, withAudit } from '../audit/audit-entry';

/** The kinds of mailed tokens that set a password. */
const KINDS = ['reset', 'invite'];

const TOKEN_REASON = 'a mailed token is the only credential';

interface PasswordChange {
  readonly userId: string;
  /** The hash that the current password was verified with. */
  readonly oldHash: string | null;
  readonly newHash: string;
  /** The session of the request, which is not ended. */
  readonly keepSessionId: string | null;
}

interface PasswordReset {
  /** Hash of the mailed token. */
  readonly tokenHash: Buffer;
  readonly userId: string;
  readonly newHash: string;
}

@Injectable()
export class PasswordRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** @returns false if the password was changed after it had been verified */
  async change(project: Project, change: PasswordChange, audit: AuditEntry): Promise<boolean> {
    const { userId, oldHash, newHash, keepSessionId } = change;
    const update = {
      name: 'auth:change-password',
      steps: {
        u: `update auth.users set encrypted_password = $2, updated_at = $4
          where id = $1 and encrypted_password is not distinct from $3 returning id`,
      },
      audited: 'u',
      query: 'select id from u',
      values: [userId, newHash, oldHash, audit.now],
    } as const;
    const [changed] = await this.rls.systemBatch(project.database, 'a user changes their own password', [
      withAudit(update, audit),
      endSessionsAfterPassword(userId, newHash, keepSessionId, audit.now),
      dropTokensAfterPassword(userId, newHash),
    ]);
    return changed?.rows.length === 1;
  }

  /** The owner of a valid token, without spending it. */
  async findTokenOwner(project: Project, tokenHash: Buffer, now: Date): Promise<string | null> {
    const { rows } = await this.rls.systemQuery(project.database, TOKEN_REASON, {
      name: 'auth:find-mailed-token',
      text: `select t.user_id from auth.mailed_tokens t join auth.users u on u.id = t.user_id
        where t.token_hash = $1 and t.kind = any($2) and t.expires_at > $3 and t.email_key = u.email_key
          and ${isNotBanned('$3')}`,
      values: [tokenHash, KINDS, now],
    });
    return rows[0] ? new RecordReader('auth.mailed_tokens', rows[0]).uuid('user_id') : null;
  }

  /**
   * Spends a token to set a password, and ends all sessions. Of parallel uses, one deletes the token's row and the others
   * find none. If the address was not proved before, the factors of the account's creator are deleted.
   * @returns false if the token is spent, expired or unknown, or was mailed to a former address
   */
  async reset(project: Project, reset: PasswordReset, audit: AuditEntry): Promise<boolean> {
    const { userId, newHash } = reset;
    const [, spent] = await this.rls.systemBatch(project.database, TOKEN_REASON, [
      // Without the lock, two tokens of one account would wait for each other.
      lockAccount(userId),
      spending(reset, audit),
      endSessionsAfterPassword(userId, newHash, null, audit.now),
      dropTokensAfterPassword(userId, newHash),
    ]);
    return spent?.rows.length === 1;
  }
}

function spending({ tokenHash, userId, newHash }: PasswordReset, audit: AuditEntry): Statement {
  const change = {
    name: 'auth:spend-for-password',
    steps: {
      t: `delete from auth.mailed_tokens
        where token_hash = $1 and kind = any($2) and user_id = $3 and expires_at > $5
        returning user_id, email_key`,
      changed: `update auth.users u set encrypted_password = $4, updated_at = $5,
          email_verified_at = coalesce(u.email_verified_at, $5), app_data = ${appDataAfterProof('true')}
        from t where u.id = t.user_id and u.email_key = t.email_key and ${isNotBanned('$5')}
        returning u.id`,
      unproved: UNPROVED,
      dropped: DROP_FACTORS,
      unlinked: DROP_IDENTITIES,
      keyless: DROP_PASSKEYS,
    },
    audited: 'changed',
    query: 'select id from changed',
    values: [tokenHash, KINDS, userId, newHash, audit.now],
  } as const;
  return withAudit(change, audit);
}

/** A separate statement: it sees the sessions that began while the statement before it waited for the account's row. */
const endSessionsAfterPassword = (
  userId: string,
  newHash: string,
  keepSessionId: string | null,
  now: Date,
): Statement => ({
  name: 'auth:end-sessions-after-password',
  text: `update auth.sessions set revoked_at = $4
    where user_id = $1 and revoked_at is null and id is distinct from $3
      and exists (select from auth.users u where u.id = $1 and u.encrypted_password = $2)`,
  values: [userId, newHash, keepSessionId, now],
  endsSessions: true,
});

/**
 * For a batch, after a statement that sets a password: tokens of reset mails and invitations become void, and so does a
 * pending change of the address, which a thief may have asked for.
 * @param newHash if the account does not have this hash, no token is dropped
 */
export const dropTokensAfterPassword = (userId: string, newHash: string): Statement => ({
  name: 'auth:drop-tokens-after-password',
  text: `delete from auth.mailed_tokens where user_id = $1 and kind in ('reset', 'invite', 'email_change')
      and exists (select from auth.users u where u.id = $1 and u.encrypted_password = $2)`,
  values: [userId, newHash],
});
