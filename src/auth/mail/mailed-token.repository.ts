/**
 * Rows of auth.mailed_tokens with the mails that carry them: written in one statement, so that neither is there
 * without the other.
 */
import { Injectable } from '@nestjs/common';
import { Statement } from '../../database/pools/pipelined-query';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { ACCOUNT_COLUMNS, toAccount } from '../accounts/account-record';
import { dropTokensAfterPassword, lockAccount } from '../accounts/account-statements';
import { audited, AuditEntry } from '../audit/audit.repository';
import { EmailAddress } from '../accounts/email-address';
import { MailedTokenKind } from './mailed-token';
import { isLive, SessionOwner } from '../sessions/session.repository';

/** A token on its way, with the mail that carries it. */
export interface TokenToMail {
  readonly kind: MailedTokenKind;
  readonly hash: Buffer;
  readonly mailId: string;
  readonly sealed: Buffer;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** Whose token: an account by id, or by the address that somebody typed. */
export interface TokenRecipient {
  readonly userId?: string;
  readonly emailKey?: string;
  /** Another address than the account's: the one that is to be proved. */
  readonly newEmail?: EmailAddress;
  /** Only to an account whose address was never proved. */
  readonly unverifiedOnly?: boolean;
  /** Written by the job that sends it, because the process that was asked ended before it wrote it. */
  readonly late?: boolean;
}

/**
 * The newer token takes the older one's row; so it is spent, also when two are asked for at the same moment. A late one
 * is no newer than what was asked for since. Where an address was typed, the trail is written whether it has an account
 * or not: that takes a commit either way, so the time of what follows does not tell.
 */
const ISSUE = `
  with u as (
    select id, email, email_key from auth.users
    where (id = $1 or email_key = $2) and (not $9 or email_verified_at is null)
      and (banned_until is null or banned_until <= $5)
      and not exists (select from auth.outgoing_mails where id = $7)),
  t as (
    insert into auth.mailed_tokens (user_id, kind, token_hash, email, email_key, created_at, expires_at)
    select u.id, $3, $4, coalesce($10, u.email), coalesce($11, u.email_key), $5, $6 from u
    on conflict (user_id, kind) do update set token_hash = excluded.token_hash, email = excluded.email,
      email_key = excluded.email_key, created_at = excluded.created_at, expires_at = excluded.expires_at
    where not $12 or mailed_tokens.created_at <= excluded.created_at
    returning user_id),
  m as (
    insert into auth.outgoing_mails (id, user_id, kind, recipient, sealed, created_at, expires_at)
    select $7, u.id, $3, coalesce($10, u.email), $8, $5, $6 from u join t on t.user_id = u.id
    returning user_id as id),
  asked as (
    select id from m
    union all select null where $2 is not null and not $12 and not exists (select from m)),
  /* audit from asked */ select id from m`;

@Injectable()
export class MailedTokenRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** For a batch. Its row answers the account's id; without a row nobody has the address. */
  issuance(token: TokenToMail, recipient: TokenRecipient, audit: AuditEntry): Statement {
    const statement = {
      name: 'auth:issue-mailed-token',
      text: ISSUE,
      values: [
        recipient.userId ?? null,
        recipient.emailKey ?? null,
        token.kind,
        token.hash,
        token.now,
        token.expiresAt,
        token.mailId,
        token.sealed,
        recipient.unverifiedOnly ?? false,
        recipient.newEmail?.address ?? null,
        recipient.newEmail?.key ?? null,
        recipient.late ?? false,
      ],
    };
    return audited(statement, audit);
  }

  /** @returns false when nobody has the address, and nothing but the trail was written */
  async issue(
    project: Project,
    token: TokenToMail,
    recipient: TokenRecipient,
    audit: AuditEntry,
  ): Promise<boolean> {
    const { rows } = await this.rls.systemQuery(
      project.database,
      'a request for a mail comes without a signed-in user',
      this.issuance(token, recipient, audit),
    );
    return rows.length > 0;
  }

  /**
   * For a change that a signed-in user asks for. A new password that is set at the same moment ends the session or drops
   * the token: the account is locked by both.
   * @returns false when the session is over
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
      await scope.query(this.issuance(token, { userId, newEmail }, audit));
      return true;
    });
  }

  /** Whose valid token it is, without spending it. */
  async findOwner(
    project: Project,
    hash: Buffer,
    kinds: readonly MailedTokenKind[],
    now: Date,
  ): Promise<string | null> {
    const { rows } = await this.rls.systemQuery(project.database, 'a mailed token is the only credential', {
      name: 'auth:find-mailed-token',
      text: `select t.user_id from auth.mailed_tokens t join auth.users u on u.id = t.user_id
        where t.token_hash = $1 and t.kind = any($2) and t.expires_at > $3 and t.email_key = u.email_key
          and (u.banned_until is null or u.banned_until <= $3)`,
      values: [hash, [...kinds], now],
    });
    return rows[0] ? new RecordReader('auth.mailed_tokens', rows[0]).uuid('user_id') : null;
  }

  /**
   * Spends a token for a new password and ends all sessions. Of parallel uses one deletes the row, the others find
   * none. @returns the account; null when the token is spent, too old or unknown, or was mailed to a former address
   */
  async spendForPassword(
    project: Project,
    spending: {
      hash: Buffer;
      kinds: readonly MailedTokenKind[];
      userId: string;
      passwordHash: string;
      now: Date;
    },
    audit: AuditEntry,
  ): Promise<Account | null> {
    const { hash, kinds, userId, passwordHash, now } = spending;
    const spend = {
      name: 'auth:spend-for-password',
      text: `with t as (
          delete from auth.mailed_tokens
          where token_hash = $1 and kind = any($2) and user_id = $3 and expires_at > $5
          returning user_id, email_key),
        changed as (
          update auth.users u set encrypted_password = $4, updated_at = $5,
            email_verified_at = coalesce(u.email_verified_at, $5)
          from t where u.id = t.user_id and u.email_key = t.email_key and (u.banned_until is null or u.banned_until <= $5)
          returning u.*),
        /* audit from changed */ select ${ACCOUNT_COLUMNS} from changed u`,
      values: [hash, [...kinds], userId, passwordHash, now],
    };
    const [, spent] = await this.rls.systemBatch(project.database, 'a mailed token is the only credential', [
      // Two tokens of one account would wait for each other.
      lockAccount(userId),
      audited(spend, audit),
      // A statement of its own: it sees sessions that began while the one before waited for the row.
      {
        name: 'auth:end-sessions-after-reset',
        text: `update auth.sessions set revoked_at = $3 where user_id = $1 and revoked_at is null
            and exists (select from auth.users u where u.id = $1 and u.encrypted_password = $2)`,
        values: [userId, passwordHash, now],
      },
      dropTokensAfterPassword(userId, passwordHash),
    ]);
    return spent?.rows[0] ? toAccount(spent.rows[0]) : null;
  }

  /**
   * Spends a token that proves an address. Fails with 23505 on users_email_key when somebody else took the new address
   * meanwhile. @returns the account; null when the token is spent, too old or unknown
   */
  async spendForAddress(
    project: Project,
    hash: Buffer,
    now: Date,
    audit: AuditEntry,
  ): Promise<Account | null> {
    const statement = {
      name: 'auth:spend-for-address',
      text: `with t as (
          delete from auth.mailed_tokens
          where token_hash = $1 and kind in ('verify', 'email_change') and expires_at > $2
          returning user_id, kind, email, email_key),
        changed as (
          update auth.users u set email = t.email, email_key = t.email_key, updated_at = $2,
            email_verified_at = case when t.kind = 'verify' then coalesce(u.email_verified_at, $2) else $2 end
          from t where u.id = t.user_id and (t.kind = 'email_change' or u.email_key = t.email_key)
            and (u.banned_until is null or u.banned_until <= $2)
          returning u.*),
        /* audit from changed */ select ${ACCOUNT_COLUMNS} from changed u`,
      values: [hash, now],
    };
    const { rows } = await this.rls.systemQuery(
      project.database,
      'a mailed token is the only credential',
      audited(statement, audit),
    );
    return rows[0] ? toAccount(rows[0]) : null;
  }
}
