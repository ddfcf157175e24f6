/** Rows of auth.users. Account management for administrators is in admin-users.repository.ts. */
import { Injectable } from '@nestjs/common';
import { JsonObject } from '../../common/text/json';
import { Statement } from '../../database/pools/pipelined-query';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account } from './account';
import { ACCOUNT_COLUMNS, Credentials, toAccount, toCredentials } from './account-record';
import { dropTokensAfterPassword } from './account-statements';
import { audited, AuditEntry } from '../audit/audit.repository';
import { EmailAddress } from './email-address';

const REASON = "accounts are read before anybody is signed in, and belong to no caller's rights";

export interface NewAccount {
  readonly id: string;
  readonly email: EmailAddress;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly data: JsonObject;
  readonly emailVerifiedAt: Date | null;
  readonly invitedAt: Date | null;
  readonly now: Date;
}

/** What a signed-in user may change about themself. */
export interface ProfileChange {
  readonly name?: string;
  readonly data?: JsonObject;
}

@Injectable()
export class AccountRepository {
  constructor(private readonly rls: RlsTransaction) {}

  async findCredentials(project: Project, emailKey: string): Promise<Credentials | null> {
    return this.credentials(project, {
      name: 'auth:credentials-by-email',
      text: `select ${ACCOUNT_COLUMNS}, u.encrypted_password from auth.users u where u.email_key = $1`,
      values: [emailKey],
    });
  }

  async findCredentialsById(project: Project, id: string): Promise<Credentials | null> {
    return this.credentials(project, {
      name: 'auth:credentials-by-id',
      text: `select ${ACCOUNT_COLUMNS}, u.encrypted_password from auth.users u where u.id = $1`,
      values: [id],
    });
  }

  /**
   * The account behind a token that is still good: not banned, and its session, if the token names one, not over.
   * @param sessionId null for a token that the project's own backend signed
   */
  async findLive(project: Project, id: string, sessionId: string | null, now: Date): Promise<Account | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:live-account',
      text: `select ${ACCOUNT_COLUMNS} from auth.users u
        where u.id = $1 and (u.banned_until is null or u.banned_until <= $3)
          and ($2::uuid is null or exists (
            select from auth.sessions s
            where s.id = $2 and s.user_id = u.id and s.revoked_at is null and s.expires_at > $3))`,
      values: [id, sessionId, now],
    });
    return rows[0] ? toAccount(rows[0]) : null;
  }

  /** True when the account has a second factor that its owner verified. */
  async hasSecondFactor(project: Project, id: string): Promise<boolean> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:has-second-factor',
      text: 'select from auth.factors where user_id = $1 and verified_at is not null limit 1',
      values: [id],
    });
    return rows.length > 0;
  }

  /** For a batch with what belongs to the new account. Fails with 23505 on users_email_key for a taken address. */
  insertion(account: NewAccount, audit: AuditEntry): Statement {
    const statement = {
      name: 'auth:insert-account',
      text: `with u as (
          insert into auth.users (id, email, email_key, name, encrypted_password, data, email_verified_at,
            invited_at, created_at, updated_at)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) returning *),
        /* audit from u */ select ${ACCOUNT_COLUMNS} from u`,
      values: [
        account.id,
        account.email.address,
        account.email.key,
        account.name,
        account.passwordHash,
        JSON.stringify(account.data),
        account.emailVerifiedAt,
        account.invitedAt,
        account.now,
      ],
    };
    return audited(statement, audit);
  }

  /** @returns the changed account; null when the session ended meanwhile */
  async updateProfile(
    project: Project,
    { userId, sessionId, now }: { userId: string; sessionId: string; now: Date },
    change: ProfileChange,
    audit: AuditEntry,
  ): Promise<Account | null> {
    const statement = {
      name: 'auth:update-profile',
      text: `with changed as (
          update auth.users u set name = coalesce($4, u.name), data = coalesce($5::jsonb, u.data), updated_at = $3
          where u.id = $1 and (u.banned_until is null or u.banned_until <= $3) and exists (
            select from auth.sessions s
            where s.id = $2 and s.user_id = u.id and s.revoked_at is null and s.expires_at > $3)
          returning u.*),
        /* audit from changed */ select ${ACCOUNT_COLUMNS} from changed u`,
      values: [userId, sessionId, now, change.name ?? null, change.data ? JSON.stringify(change.data) : null],
    };
    const { rows } = await this.rls.systemQuery(
      project.database,
      'a user changes their own profile',
      audited(statement, audit),
    );
    return rows[0] ? toAccount(rows[0]) : null;
  }

  /**
   * Replaces a password that was not changed since it was checked, and ends all sessions but one, and mailed tokens.
   * @param keepSessionId the session in which the user did it
   */
  async changePassword(
    project: Project,
    change: {
      userId: string;
      oldHash: string | null;
      newHash: string;
      keepSessionId: string | null;
      now: Date;
    },
    audit: AuditEntry,
  ): Promise<boolean> {
    const { userId, oldHash, newHash, keepSessionId, now } = change;
    const statement = {
      name: 'auth:change-password',
      text: `with u as (
          update auth.users set encrypted_password = $2, updated_at = $4
          where id = $1 and encrypted_password is not distinct from $3 returning id),
        /* audit from u */ select id from u`,
      values: [userId, newHash, oldHash, now],
    };
    const [updated] = await this.rls.systemBatch(project.database, 'a user changes their own password', [
      audited(statement, audit),
      // A statement of its own: it sees sessions that began while the one before waited for the row.
      {
        name: 'auth:end-sessions-after-change',
        text: `update auth.sessions set revoked_at = $4
          where user_id = $1 and revoked_at is null and id is distinct from $3
            and exists (select from auth.users u where u.id = $1 and u.encrypted_password = $2)`,
        values: [userId, newHash, keepSessionId, now],
      },
      dropTokensAfterPassword(userId, newHash),
    ]);
    return updated?.rows.length === 1;
  }

  private async credentials(project: Project, statement: Statement): Promise<Credentials | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, statement);
    return rows[0] ? toCredentials(rows[0]) : null;
  }
}
