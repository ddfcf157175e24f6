/** Rows of auth.mailed_tokens, each written in one statement with the mail that carries the token. */
import { Injectable } from '@nestjs/common';
import { Statement } from '../../database/statement';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { ACCOUNT_COLUMNS, toAccountOrNull } from '../accounts/account-record';
import { EmailAddress } from '../../identity/email-address';
import {
  DROP_ADDRESS_CHANGES,
  DROP_FACTORS,
  isLive,
  isNotBanned,
  lockAccount,
  SessionOwner,
  UNPROVED,
} from '../accounts/account-statements';
import { AuditEntry } from '../audit/audit-entry';
import { withAudit } from '../audit/with-audit';
import { MailedToken } from './mailed-token';

/** A token and the mail that carries it. */
export interface TokenToMail extends MailedToken {
  readonly mailId: string;
  /** The content of the mail, as MailSealer.seal() makes it. */
  readonly sealed: Buffer;
}

/** The account that gets the token, by its id or by the key of a typed address. */
interface TokenRecipient {
  readonly userId?: string;
  readonly emailKey?: string;
  /** The address to verify, if it is not the account's current one. */
  readonly newEmail?: EmailAddress;
  /** Skip an account whose address is verified. */
  readonly unverifiedOnly?: boolean;
}

/** Requests within this time have no order: workers may find their accounts in any. */
const SIMULTANEOUS_SECONDS = 10;

/**
 * A new token takes over the row of the old one and so invalidates it, even if two are requested at the same moment. For an
 * address that was typed, the mail exists as a request: it gets the account and the token, or is deleted, and the audit entry is
 * written for an unknown address too. Such a token does not replace one that was requested later.
 */
const STEPS = {
  u: `select id, email, email_key from auth.users u
    where (id = $1 or email_key = $2) and (not $9 or email_verified_at is null) and ${isNotBanned('$5')}
      and not exists (select from auth.outgoing_mails where id = $7 and user_id is not null)`,
  t: `insert into auth.mailed_tokens (user_id, kind, token_hash, email, email_key, created_at, expires_at)
    select u.id, $3, $4, coalesce($10, u.email), coalesce($11, u.email_key), $5, $6 from u
    on conflict (user_id, kind) do update set token_hash = excluded.token_hash, email = excluded.email,
      email_key = excluded.email_key, created_at = excluded.created_at, expires_at = excluded.expires_at
    where $2 is null or mailed_tokens.created_at <= excluded.created_at + interval '${SIMULTANEOUS_SECONDS} seconds'
    returning user_id`,
  m: `insert into auth.outgoing_mails (id, user_id, kind, recipient, sealed, created_at, expires_at)
    select $7, u.id, $3, coalesce($10, u.email), $8, $5, $6 from u join t on t.user_id = u.id
    on conflict (id) do update set user_id = excluded.user_id, recipient = excluded.recipient,
      sealed = excluded.sealed, attempts = 0 where outgoing_mails.user_id is null
    returning user_id as id`,
  gone: `delete from auth.outgoing_mails where id = $7 and user_id is null and not exists (select from m) returning 1`,
  requested: 'select id from m union all select null from gone',
} as const;

const TOKEN_REASON = 'a mailed token is the only credential';

@Injectable()
export class MailedTokenRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** @returns false if no account has the address; only the audit entry was written then */
  async issue(
    project: Project,
    token: TokenToMail,
    recipient: TokenRecipient,
    audit: AuditEntry,
  ): Promise<boolean> {
    const reason = 'the user who asks for a mail is not signed in';
    const statement = tokenIssuance(token, recipient, audit);
    const { rows } = await this.rls.systemQuery(project.database, reason, statement);
    return rows.length > 0;
  }

  /**
   * For a new address that a signed-in user asks for. The account is locked here and by every change of its password: a
   * new password that is set at the same moment ends the session first, or drops the token afterwards.
   * @returns false if the session is over
   */
  async issueInSession(
    project: Project,
    token: TokenToMail,
    { userId, sessionId, newEmail }: SessionOwner & { newEmail: EmailAddress },
    audit: AuditEntry,
  ): Promise<boolean> {
    const session = {
      name: 'auth:find-live-session',
      text: `select from auth.sessions s join auth.users u on u.id = s.user_id
        where s.id = $1 and s.user_id = $2 and ${isLive('$3')}`,
      values: [sessionId, userId, token.now],
    };
    return this.rls.systemRun(project.database, 'a user changes their own address', async (scope) => {
      const [, live] = await scope.batch([lockAccount(userId), session]);
      if (live?.rows.length !== 1) return false;
      await scope.query(tokenIssuance(token, { userId, newEmail }, audit));
      return true;
    });
  }

  /**
   * Spends a token that verifies an address. The first proof of an account's address ends its sessions, factors and pending changes of the address: the
   * person who created the account need not be the one who has the address. Fails with 23505 on users_email_key if another
   * account took the new address in the meantime.
   * @returns the account; null if the token is spent, expired or unknown
   */
  async spendForAddress(project: Project, hash: Buffer, audit: AuditEntry): Promise<Account | null> {
    const change = {
      name: 'auth:spend-for-address',
      steps: {
        t: `delete from auth.mailed_tokens
          where token_hash = $1 and kind in ('verify', 'email_change') and expires_at > $2
          returning user_id, kind, email, email_key`,
        changed: `update auth.users u set email = t.email, email_key = t.email_key, updated_at = $2,
            email_verified_at = case when t.kind = 'verify' then coalesce(u.email_verified_at, $2) else $2 end
          from t where u.id = t.user_id and (t.kind = 'email_change' or u.email_key = t.email_key)
            and ${isNotBanned('$2')}
          returning u.*, t.kind`,
        // A new address was asked for by the user of the account.
        unproved: `${UNPROVED} and changed.kind = 'verify'`,
        dropped: DROP_FACTORS,
        cancelled: DROP_ADDRESS_CHANGES,
        ended: `update auth.sessions s set revoked_at = $2 from unproved
          where s.user_id = unproved.id and s.revoked_at is null`,
      },
      audited: 'changed',
      query: `select ${ACCOUNT_COLUMNS} from changed u`,
      values: [hash, audit.now],
    } as const;
    const statement = { ...withAudit(change, audit), endsSessions: true };
    return toAccountOrNull(await this.rls.systemQuery(project.database, TOKEN_REASON, statement));
  }
}

/** For a batch. Its row has the account's id; no row means that no account has the address. */
export function tokenIssuance(token: TokenToMail, recipient: TokenRecipient, audit: AuditEntry): Statement {
  const { kind, hash, now, expiresAt, mailId, sealed } = token;
  const { userId = null, emailKey = null, newEmail, unverifiedOnly = false } = recipient;
  const account = [userId, emailKey];
  const mail = [kind, hash, now, expiresAt, mailId, sealed];
  const address = [newEmail?.address ?? null, newEmail?.key ?? null];
  const issuance = {
    name: 'auth:issue-mailed-token',
    steps: STEPS,
    audited: 'requested',
    query: 'select id from m',
    values: [...account, ...mail, unverifiedOnly, ...address],
  } as const;
  return withAudit(issuance, audit);
}
