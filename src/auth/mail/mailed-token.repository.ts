/** Rows of auth.mailed_tokens, each written in one statement with the mail that carries the token. */
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { RecordReader } from '../../database/rows/record-reader';
import { Statement } from '../../database/statement';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { ACCOUNT_COLUMNS, Credentials, toCredentials } from '../accounts/account-record';
import { EmailAddress } from '../../identity/email-address';
import {
  appDataAfterProof,
  DROP_ADDRESS_CHANGES,
  DROP_FACTORS,
  DROP_IDENTITIES,
  DROP_PASSKEYS,
  isLive,
  isNotBanned,
  lockAccount,
  SessionOwner,
  UNPROVED,
} from '../accounts/account-statements';
import { AuditEntry, withAudit } from '../audit/audit-entry';
import { CodeChallenge, CodedToken } from './mail-flow';
import { MAILED_TOKEN_KINDS, MailedToken, MailedTokenKind } from './mailed-token';

/** A token and the mail that carries it. */
export interface TokenToMail extends MailedToken, CodedToken {
  /** Null: the token is returned to an administrator and not mailed. */
  readonly mailId: string | null;
  /** The content of the mail, as MailSealer.seal() makes it. */
  readonly sealed: Buffer | null;
}

/** The account that gets the token, by its id or by the key of a typed address. */
interface TokenRecipient {
  readonly userId?: string;
  readonly emailKey?: string;
  /** The address to verify, if it is not the account's current address. */
  readonly newEmail?: EmailAddress;
  /** True: skips an account whose address is verified. */
  readonly unverifiedOnly?: boolean;
}

/** Requests within this time count as simultaneous: workers may find their accounts in any order. */
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
  t: `insert into auth.mailed_tokens (user_id, kind, token_hash, email, email_key, created_at, expires_at,
      code_hash, code_challenge, code_challenge_method)
    select u.id, $3, $4, coalesce($10, u.email), coalesce($11, u.email_key), $5, $6, $12, $13, $14 from u
    where coalesce($11, u.email_key) is not null
    on conflict (user_id, kind) do update set token_hash = excluded.token_hash, email = excluded.email,
      email_key = excluded.email_key, created_at = excluded.created_at, expires_at = excluded.expires_at,
      code_hash = excluded.code_hash, code_attempts = 0, code_challenge = excluded.code_challenge,
      code_challenge_method = excluded.code_challenge_method
    where $2 is null or mailed_tokens.created_at <= excluded.created_at + interval '${SIMULTANEOUS_SECONDS} seconds'
    returning user_id`,
  m: `insert into auth.outgoing_mails (id, user_id, kind, recipient, sealed, created_at, expires_at)
    select $7, u.id, $3, coalesce($10, u.email), $8, $5, $6 from u join t on t.user_id = u.id
    where $7::uuid is not null
    on conflict (id) do update set user_id = excluded.user_id, recipient = excluded.recipient,
      sealed = excluded.sealed, attempts = 0 where outgoing_mails.user_id is null
    returning user_id as id`,
  gone: `delete from auth.outgoing_mails where id = $7 and user_id is null and not exists (select from m) returning 1`,
  issued: 'select id from m union all select user_id from t where $7::uuid is null',
  requested: 'select id from issued union all select null from gone',
} as const;

const TABLE = 'auth.mailed_tokens';
/** Wrong guesses of a code. */
const MAX_GUESSES = 10;
/** Characters (RFC 7636, 4.2: at most 128). */
const MAX_CHALLENGE = 200;
/** SQL: whether the client that spends the token, or an administrator, chose the password of the account `u`. */
const CHOSE_PASSWORD = `exists (select from auth.audit_log a where a.user_id = u.id and (a.action = 'user_created'
  or a.action = 'sign_up' and (a.ip, a.user_agent) is not distinct from ($5::text, $6::text)))`;
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

  /** Whether the token is the first proof of the address of an account whose creator chose a password. It is not spent. */
  async provesPassword(project: Project, hash: Buffer, now: Date): Promise<boolean> {
    const { rows } = await this.rls.systemQuery(project.database, TOKEN_REASON, {
      name: 'auth:token-proves-password',
      text: `select from auth.mailed_tokens t join auth.users u on u.id = t.user_id
        where t.token_hash = $1 and t.kind = 'verify' and t.expires_at > $2 and t.email_key = u.email_key
          and u.email_verified_at is null and u.encrypted_password is not null and ${isNotBanned('$2')}`,
      values: [hash, now],
    });
    return rows.length === 1;
  }

  /**
   * Spends a token that proves an address. The first proof of an account's address ends its sessions, factors and pending
   * changes of the address, and its password: the person who created the account need not own the address. The mail that
   * completes a sign-up keeps the password if its client is the one that signed up, or if an administrator created the account,
   * since such an account has not been used. A new password from the caller replaces it in any case. Fails with 23505 on users_email_key
   * if another account took the new address in the meantime.
   * @param newHash the hash of the password that the first proof sets
   * @returns null if the token is spent, expired, unknown, or of another kind
   */
  async spend(
    project: Project,
    hash: Buffer,
    kinds: readonly MailedTokenKind[],
    audit: AuditEntry,
    newHash: string | null = null,
  ): Promise<SpentToken | null> {
    const change = {
      name: 'auth:spend-token',
      steps: {
        t: `delete from auth.mailed_tokens where token_hash = $1 and kind = any($3) and expires_at > $2
          returning user_id, kind, email, email_key, code_challenge, code_challenge_method`,
        changed: `update auth.users u set email = t.email, email_key = t.email_key, updated_at = $2,
            email_verified_at = case when t.kind = 'email_change' then $2 else coalesce(u.email_verified_at, $2) end,
            app_data = ${appDataAfterProof("t.kind <> 'email_change'")},
            is_anonymous = u.is_anonymous and t.kind <> 'email_change',
            encrypted_password = case when u.email_verified_at is null and t.kind <> 'email_change'
                and (t.kind <> 'verify' or u.last_sign_in_at is not null or $4::text is not null or not ${CHOSE_PASSWORD}) then $4
              else u.encrypted_password end
          from t where u.id = t.user_id and (t.kind = 'email_change' or u.email_key = t.email_key)
            and ${isNotBanned('$2')}
          returning u.*, t.kind, t.code_challenge, t.code_challenge_method`,
        // A new address was asked for by the user of the account.
        unproved: `${UNPROVED} and changed.kind <> 'email_change'`,
        dropped: DROP_FACTORS,
        unlinked: DROP_IDENTITIES,
        keyless: DROP_PASSKEYS,
        cancelled: DROP_ADDRESS_CHANGES,
        ended: `update auth.sessions s set revoked_at = $2 from unproved
          where s.user_id = unproved.id and s.revoked_at is null`,
      },
      audited: 'changed',
      query: `select ${ACCOUNT_COLUMNS}, u.encrypted_password, u.kind, u.code_challenge, u.code_challenge_method from changed u`,
      values: [hash, audit.now, kinds, newHash, audit.origin.ip, audit.origin.userAgent],
    } as const;
    const statement = { ...withAudit(change, audit), endsSessions: true };
    const { rows } = await this.rls.systemQuery(project.database, TOKEN_REASON, statement);
    return rows[0] ? toSpentToken(rows[0]) : null;
  }

  /**
   * Counts a guess of the code in a mail to an address, and checks it. After MAX_GUESSES the code is invalid, while the link
   * of the mail still works. A wrong guess writes the audit entry whether there is such a code or not: both cases end in a
   * commit, so the time does not tell them apart.
   * @returns the hash of the token that the code stands for; null for a wrong code
   */
  async guessCode(
    project: Project,
    { emailKey, codeHash, kinds }: { emailKey: string; codeHash: Buffer; kinds: readonly MailedTokenKind[] },
    failure: AuditEntry,
  ): Promise<Buffer | null> {
    const change = {
      name: 'auth:guess-code',
      steps: {
        guess: `update auth.mailed_tokens t set code_attempts = t.code_attempts + 1
          where t.email_key = $1 and t.kind = any($2) and t.code_hash is not null and t.expires_at > $4
            and t.code_attempts < ${MAX_GUESSES}
          returning t.token_hash, t.code_hash = $3 as is_right`,
        failed: 'select null::uuid as id where not exists (select from guess where is_right)',
      },
      audited: 'failed',
      query: 'select token_hash from guess where is_right limit 1',
      values: [emailKey, kinds, codeHash, failure.now],
    } as const;
    const { rows } = await this.rls.systemQuery(project.database, TOKEN_REASON, withAudit(change, failure));
    return rows[0] ? new RecordReader(TABLE, rows[0]).bytes('token_hash', 32) : null;
  }

  /** Spends the code that a signed-in user asked for. @returns false for a wrong code, or after MAX_GUESSES */
  async spendReauthentication(
    project: Project,
    userId: string,
    codeHash: Buffer,
    now: Date,
  ): Promise<boolean> {
    const { rows } = await this.rls.systemQuery(project.database, 'a user proves their address again', {
      name: 'auth:spend-reauthentication',
      text: `with guess as (
          update auth.mailed_tokens t set code_attempts = t.code_attempts + 1,
            expires_at = case when t.code_hash = $2 then $3 else t.expires_at end
          where t.user_id = $1 and t.kind = 'reauthentication' and t.expires_at > $3 and t.code_attempts < ${MAX_GUESSES}
          returning t.code_hash = $2 as is_right)
        select from guess where is_right`,
      values: [userId, codeHash, now],
    });
    return rows.length === 1;
  }
}

/** A token that was spent, and its account afterwards. */
export interface SpentToken extends Credentials {
  readonly kind: MailedTokenKind;
  readonly challenge: CodeChallenge | null;
}

function toSpentToken(row: QueryResultRow): SpentToken {
  const token = new RecordReader(TABLE, row);
  const challenge = token.textOrNull('code_challenge', MAX_CHALLENGE);
  return {
    ...toCredentials(row),
    kind: token.oneOf('kind', MAILED_TOKEN_KINDS),
    challenge:
      challenge === null
        ? null
        : { challenge, method: token.oneOf('code_challenge_method', ['s256', 'plain']) },
  };
}

/** For a batch. Its row has the account's id; no row means that no account has the address. */
export function tokenIssuance(token: TokenToMail, recipient: TokenRecipient, audit: AuditEntry): Statement {
  const { kind, hash, now, expiresAt, mailId, sealed, codeHash, challenge } = token;
  const { userId = null, emailKey = null, newEmail, unverifiedOnly = false } = recipient;
  const account = [userId, emailKey];
  const mail = [kind, hash, now, expiresAt, mailId, sealed];
  const address = [newEmail?.address ?? null, newEmail?.key ?? null];
  const coded = [codeHash ?? null, challenge?.challenge ?? null, challenge?.method ?? null];
  const issuance = {
    name: 'auth:issue-mailed-token',
    steps: STEPS,
    audited: 'requested',
    query: 'select id from issued',
    values: [...account, ...mail, unverifiedOnly, ...address, ...coded],
  } as const;
  return withAudit(issuance, audit);
}
