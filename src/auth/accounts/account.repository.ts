/** Reads and changes auth.users. For password changes see passwords/, for changes by administrators admin/. */
import { Injectable } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { JsonObject } from '../../common/text/json';
import { Statement } from '../../database/statement';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { EmailAddress, localPart } from '../../identity/email-address';
import type { StandIn } from '../../identity/passwords/passwords.service';
import { AuditEntry, withAudit } from '../audit/audit-entry';
import { Account, AccountToInsert, MAX_DATA_TEXT } from './account';
import { ACCOUNT_COLUMNS, Credentials, toAccountOrNull, toCredentials } from './account-record';
import { changedJson, isLive, liveAccount, SessionOwner } from './account-statements';
import { TWO_FACTORS } from '../../access/caller';
import { secondFactorRequired } from '../auth.errors';

const REASON = 'auth.users is closed to the roles of callers';

/** The fields that a signed-in user may change in one statement. */
interface ProfileChange {
  readonly name?: string;
  readonly data?: JsonObject;
  /** True: `data` has only the members to replace; null removes a member. */
  readonly merges?: boolean;
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

  /**
   * Credentials for a sign-in with a password. An unknown address or phone always gets the hash of the same other account:
   * imported hashes take a different time to verify, so a constant hash of ours would reveal unknown addresses.
   */
  async findForPassword(
    project: Project,
    column: 'email_key' | 'phone',
    value: string,
  ): Promise<Credentials | StandIn> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: `auth:password-by-${column}`,
      text: `select ${ACCOUNT_COLUMNS}, u.encrypted_password, u.${column} is not distinct from $1 as is_known
        from auth.users u where u.id = coalesce((select id from auth.users where ${column} = $1),
          (select id from auth.users where id >= $2 order by id limit 1), (select id from auth.users order by id limit 1))`,
      values: [value, standInOf(project, value)],
    });
    const [row] = rows;
    if (row?.is_known === true) return toCredentials(row);
    return { standInHash: typeof row?.encrypted_password === 'string' ? row.encrypted_password : null };
  }

  async findCredentialsByPhone(project: Project, phone: string): Promise<Credentials | null> {
    return this.credentials(project, {
      name: 'auth:credentials-by-phone',
      text: `select ${ACCOUNT_COLUMNS}, u.encrypted_password from auth.users u where u.phone = $1`,
      values: [phone],
    });
  }

  async findCredentialsById(project: Project, id: string): Promise<Credentials | null> {
    return this.credentials(project, {
      name: 'auth:credentials-by-id',
      text: `select ${ACCOUNT_COLUMNS}, u.encrypted_password from auth.users u where u.id = $1`,
      values: [id],
    });
  }

  /** Like liveAccount(). */
  async findLive(project: Project, id: string, sessionId: string | null, now: Date): Promise<Account | null> {
    const result = await this.rls.systemQuery(project.database, REASON, liveAccount(id, sessionId, now));
    return toAccountOrNull(result);
  }

  /** True if the account has no verified second factor, or the session verified one. */
  async isStrong(project: Project, { userId, aal }: SessionOwner): Promise<boolean> {
    if (aal === TWO_FACTORS) return true;
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:has-second-factor',
      text: 'select from auth.factors where user_id = $1 and verified_at is not null limit 1',
      values: [userId],
    });
    return rows.length === 0;
  }

  /** For changes that the second factor protects: the password alone must not suffice. @throws AppError 403 */
  async assertStrong(project: Project, owner: SessionOwner): Promise<void> {
    if (!(await this.isStrong(project, owner))) throw secondFactorRequired();
  }

  /** @returns the changed account; null if the session ended in the meantime */
  async updateProfile(
    project: Project,
    { userId, sessionId }: SessionOwner,
    { name, data, merges = false }: ProfileChange,
    audit: AuditEntry,
  ): Promise<Account | null> {
    const change = {
      name: 'auth:update-profile',
      steps: {
        changed: `update auth.users u
          set name = coalesce($4, u.name), data = ${changedJson('u.data', '$5', '$6', MAX_DATA_TEXT)}, updated_at = $3
          where u.id = $1 and exists (
            select from auth.sessions s where s.id = $2 and s.user_id = u.id and ${isLive('$3')})
          returning u.*`,
      },
      audited: 'changed',
      query: `select ${ACCOUNT_COLUMNS} from changed u`,
      values: [userId, sessionId, audit.now, name ?? null, data ? JSON.stringify(data) : null, merges],
    } as const;
    return toAccountOrNull(await this.rls.systemQuery(project.database, REASON, withAudit(change, audit)));
  }

  /** Gives an anonymous user an address. Fails with 23505 on users_email_key if it is taken. */
  async adoptAddress(
    project: Project,
    { userId, sessionId }: SessionOwner,
    email: EmailAddress,
    audit: AuditEntry,
  ): Promise<void> {
    const change = {
      name: 'auth:adopt-address',
      steps: {
        changed: `update auth.users u set email = $4, email_key = $5, is_anonymous = false, updated_at = $3,
            name = coalesce(nullif(u.name, ''), $6)
          where u.id = $1 and u.is_anonymous and exists (
            select from auth.sessions s where s.id = $2 and s.user_id = u.id and ${isLive('$3')})
          returning u.id`,
      },
      audited: 'changed',
      query: 'select id from changed',
      values: [userId, sessionId, audit.now, email.address, email.key, localPart(email)],
    } as const;
    await this.rls.systemQuery(project.database, REASON, withAudit(change, audit));
  }

  /** @returns false if another account has the phone, or there is no such account */
  async setPhone(project: Project, userId: string, phone: string, audit: AuditEntry): Promise<boolean> {
    const change = {
      name: 'auth:set-phone',
      steps: {
        changed: `update auth.users u set phone = $2, phone_verified_at = $3, updated_at = $3, is_anonymous = false
          where u.id = $1 and not exists (select from auth.users o where o.phone = $2 and o.id <> $1) returning u.id`,
      },
      audited: 'changed',
      query: 'select id from changed',
      values: [userId, phone, audit.now],
    } as const;
    const { rows } = await this.rls.systemQuery(project.database, REASON, withAudit(change, audit));
    return rows.length === 1;
  }

  private async credentials(project: Project, statement: Statement): Promise<Credentials | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, statement);
    return rows[0] ? toCredentials(rows[0]) : null;
  }
}

/** The id from which findForPassword() searches for the other account. A client cannot predict it. */
const standInOf = ({ id, dataSecret }: Project, value: string): string => {
  const hex = createHmac('sha256', dataSecret).update(`stand-in:${id}:${value}`).digest('hex');
  return hex.slice(0, 32);
};

/** For a batch that creates an account. Fails with 23505 on users_email_key if the address is taken. */
export function accountInsertion(account: AccountToInsert, audit: AuditEntry): Statement {
  const insertion = {
    name: 'auth:insert-account',
    steps: {
      u: `insert into auth.users (id, email, email_key, name, encrypted_password, data, app_data, is_anonymous,
          email_verified_at, banned_until, invited_at, created_at, updated_at, phone, phone_verified_at)
        values ($1, $2, $3, $4, $5, $6, $7, $3::text is null and $12::text is null, $8, $9, $10, $11, $11,
          $12, case when $12::text is not null then $11::timestamptz end) returning *`,
    },
    audited: 'u',
    query: `select ${ACCOUNT_COLUMNS} from u`,
    values: insertedValues(account),
  } as const;
  return withAudit(insertion, audit);
}

const insertedValues = ({ email, ...account }: AccountToInsert): unknown[] => [
  account.id,
  email?.address ?? '',
  email?.key ?? null,
  account.name,
  account.passwordHash,
  JSON.stringify(account.data),
  JSON.stringify(account.appData ?? {}),
  account.emailVerifiedAt ?? null,
  account.bannedUntil ?? null,
  account.invitedAt ?? null,
  account.now,
  account.phone ?? null,
];
