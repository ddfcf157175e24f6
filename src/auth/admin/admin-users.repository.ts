/** Rows of auth.users as administrators manage them. */
import { Injectable } from '@nestjs/common';
import { JsonObject } from '../../common/text/json';
import { Statement } from '../../database/statement';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account, MAX_DATA_TEXT, NewAccount } from '../accounts/account';
import { ACCOUNT_COLUMNS, toAccount, toAccountOrNull } from '../accounts/account-record';
import { changedJson } from '../accounts/account-statements';
import { accountInsertion } from '../accounts/account.repository';
import { EmailAddress } from '../../identity/email-address';
import { AuditEntry, withAudit } from '../audit/audit-entry';
import { dropTokensAfterPassword } from '../passwords/password.repository';
import { RecordReader } from '../../database/rows/record-reader';
import type { StatementResult } from '../../pg-pipeline';
import { isResultTooLarge } from '../../database/pools/pool.errors';
import { pageTooLarge } from '../auth.errors';

const REASON = 'the service-role key manages accounts, but its role has no privileges on auth.users';

/** The new values of an account; undefined keeps the current one. */
export interface UserChange {
  readonly email?: EmailAddress;
  readonly name?: string;
  readonly data?: JsonObject;
  readonly appData?: JsonObject;
  /** True: `data` and `appData` have only the members to replace; null removes a member. */
  readonly merges?: boolean;
  /** As another system exported it, if an administrator gives it. */
  readonly passwordHash?: string;
  readonly emailVerified?: boolean;
  readonly bannedUntil?: Date | null;
}

/** Bytes of a page of users, whose `data` may be large. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

export const USER_SORTS = ['created_at', 'email', 'name', 'last_sign_in_at'] as const;
export type UserSort = (typeof USER_SORTS)[number];

/** The value of a request only chooses among these expressions; it never becomes SQL. */
const SORT_EXPRESSIONS: Readonly<Record<UserSort, string>> = {
  created_at: 'u.created_at',
  email: 'u.email_key',
  name: 'lower(u.name)',
  last_sign_in_at: 'u.last_sign_in_at',
};

const WHERE = 'where $1::text is null or u.email ilike $1 or u.email_key ilike $1 or u.name ilike $1';

interface UserPage {
  readonly search: string | null;
  readonly sort: UserSort;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

@Injectable()
export class AdminUsersRepository {
  constructor(private readonly rls: RlsTransaction) {}

  async find(project: Project, id: string): Promise<Account | null> {
    const result = await this.rls.systemQuery(project.database, REASON, {
      text: `select ${ACCOUNT_COLUMNS} from auth.users u where u.id = $1`,
      values: [id],
    });
    return toAccountOrNull(result);
  }

  /** A page of accounts, and the number of accounts on all pages. @throws AppError 400 if the page is too large */
  async list(project: Project, page: UserPage): Promise<{ total: number; accounts: Account[] }> {
    const pattern = page.search === null ? null : `%${page.search.replace(/[\\%_]/g, '\\$&')}%`;
    const order = `${SORT_EXPRESSIONS[page.sort]} ${page.descending ? 'desc' : 'asc'} nulls last, u.id`;
    const [count, rows] = await this.batch(project, page.limit, [
      { text: `select count(*)::int as total from auth.users u ${WHERE}`, values: [pattern] },
      {
        text: `select ${ACCOUNT_COLUMNS} from auth.users u ${WHERE} order by ${order} limit $2 offset $3`,
        values: [pattern, page.limit, page.offset],
        maxBytes: MAX_PAGE_BYTES,
      },
    ]);
    const total = new RecordReader('auth.users', count?.rows[0] ?? {});
    return {
      total: total.integer('total', 0, Number.MAX_SAFE_INTEGER),
      accounts: (rows?.rows ?? []).map(toAccount),
    };
  }

  private async batch(
    project: Project,
    limit: number,
    statements: readonly Statement[],
  ): Promise<StatementResult[]> {
    try {
      return await this.rls.systemBatch(project.database, REASON, statements);
    } catch (error) {
      throw isResultTooLarge(error) && limit > 1 ? pageTooLarge(error) : error;
    }
  }

  /** Fails with 23505 on users_email_key if the address is taken. */
  async create(project: Project, account: NewAccount, audit: AuditEntry): Promise<Account> {
    const statement = accountInsertion(account, audit);
    const { rows } = await this.rls.systemQuery(project.database, REASON, statement);
    return toAccount(rows[0] ?? {});
  }

  /**
   * A new password or a ban ends all sessions. A new address cancels a change of address that the user asked for. Fails with
   * 23505 on users_email_key if the address is taken.
   * @returns null if there is no such user
   */
  async updateUser(
    project: Project,
    id: string,
    change: UserChange,
    audit: AuditEntry,
  ): Promise<Account | null> {
    const { passwordHash, bannedUntil, email } = change;
    const endsSessions = passwordHash !== undefined || Boolean(bannedUntil);
    const [changed] = await this.rls.systemBatch(project.database, REASON, [
      updating(id, change, audit),
      endingSessions(id, endsSessions, audit.now),
      ...(passwordHash === undefined ? [] : [dropTokensAfterPassword(id, passwordHash)]),
      ...(email === undefined ? [] : [droppingAddressChange(id)]),
    ]);
    return toAccountOrNull(changed);
  }

  /** Deletes the sessions, factors, tokens and mails as well. @returns false if there is no such user */
  async remove(project: Project, id: string, audit: AuditEntry): Promise<boolean> {
    const change = {
      name: 'auth:admin-delete-user',
      steps: { gone: 'delete from auth.users where id = $1 returning id' },
      audited: 'gone',
      query: 'select id from gone',
      values: [id],
    } as const;
    const deletion = { ...withAudit(change, audit), endsSessions: true };
    const { rows } = await this.rls.systemQuery(project.database, REASON, deletion);
    return rows.length === 1;
  }

  /** Ends all sessions. @returns false if there is no such user */
  async signOut(project: Project, id: string, audit: AuditEntry): Promise<boolean> {
    const change = {
      name: 'auth:admin-sign-out',
      steps: {
        u: 'select id from auth.users where id = $1',
        ended: `update auth.sessions s set revoked_at = $2 from u where s.user_id = u.id and s.revoked_at is null`,
      },
      audited: 'u',
      query: 'select id from u',
      values: [id, audit.now],
    } as const;
    const ending = { ...withAudit(change, audit), endsSessions: true };
    const { rows } = await this.rls.systemQuery(project.database, REASON, ending);
    return rows.length === 1;
  }
}

const UPDATE = `update auth.users u set
    email = coalesce($3, u.email), email_key = coalesce($4, u.email_key), name = coalesce($5, u.name),
    data = ${changedJson('u.data', '$6', '$12', MAX_DATA_TEXT)}, encrypted_password = coalesce($7, u.encrypted_password),
    email_verified_at = case $8::boolean when true then coalesce(u.email_verified_at, $2)
      when false then null else u.email_verified_at end,
    banned_until = case when $9 then $10::timestamptz else u.banned_until end,
    app_data = ${changedJson('u.app_data', '$11', '$12', MAX_DATA_TEXT)},
    is_anonymous = u.is_anonymous and $4::text is null, updated_at = $2
  where u.id = $1 returning u.*`;

function updating(id: string, change: UserChange, audit: AuditEntry): Statement {
  const {
    email,
    name = null,
    data,
    appData,
    passwordHash = null,
    emailVerified = null,
    bannedUntil,
    merges = false,
  } = change;
  const address = [email?.address ?? null, email?.key ?? null];
  const values = [name, data ? JSON.stringify(data) : null, passwordHash, emailVerified];
  const ban = [bannedUntil !== undefined, bannedUntil ?? null];
  const update = {
    name: 'auth:admin-update-user',
    steps: { changed: UPDATE },
    audited: 'changed',
    query: `select ${ACCOUNT_COLUMNS} from changed u`,
    values: [id, audit.now, ...address, ...values, ...ban, appData ? JSON.stringify(appData) : null, merges],
  } as const;
  return { ...withAudit(update, audit), endsSessions: bannedUntil !== undefined };
}

const endingSessions = (userId: string, isNeeded: boolean, now: Date): Statement => ({
  name: 'auth:admin-end-sessions',
  text: 'update auth.sessions set revoked_at = $2 where user_id = $1 and revoked_at is null and $3',
  values: [userId, now, isNeeded],
  endsSessions: isNeeded,
});

const droppingAddressChange = (userId: string): Statement => ({
  name: 'auth:admin-drop-address-change',
  text: `delete from auth.mailed_tokens where user_id = $1 and kind = 'email_change'`,
  values: [userId],
});
