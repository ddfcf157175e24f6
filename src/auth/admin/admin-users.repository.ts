/** Rows of auth.users as administrators manage them. */
import { Injectable } from '@nestjs/common';
import { JsonObject } from '../../common/text/json';
import { Statement, StatementResult } from '../../database/pools/pipelined-query';
import { isResultTooLarge } from '../../database/pools/result-too-large';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { ACCOUNT_COLUMNS, toAccount } from '../accounts/account-record';
import { AccountRepository, NewAccount } from '../accounts/account.repository';
import { dropTokensAfterPassword } from '../accounts/account-statements';
import { audited, AuditEntry } from '../audit/audit.repository';
import { pageTooLarge } from '../auth.errors';
import { EmailAddress } from '../accounts/email-address';

const REASON = 'the service-role key administers accounts, which no role but the login role may touch';

/** Bytes of a page of users, whose `data` may be large. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

export const USER_SORTS = ['created_at', 'email', 'name', 'last_sign_in_at'] as const;
export type UserSort = (typeof USER_SORTS)[number];

/** Column by sort: what is asked for chooses among these, and never becomes SQL. */
const SORT_COLUMNS: Readonly<Record<UserSort, string>> = {
  created_at: 'u.created_at',
  email: 'u.email_key',
  name: 'lower(u.name)',
  last_sign_in_at: 'u.last_sign_in_at',
};

export interface UserPage {
  readonly search: string | null;
  readonly sort: UserSort;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** Undefined leaves as it is. */
export interface UserChange {
  readonly email?: EmailAddress;
  readonly name?: string;
  readonly data?: JsonObject;
  readonly passwordHash?: string;
  readonly emailVerified?: boolean;
  readonly bannedUntil?: Date | null;
}

@Injectable()
export class AdminUsersRepository {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly accounts: AccountRepository,
  ) {}

  async list(project: Project, page: UserPage): Promise<{ total: number; accounts: Account[] }> {
    const pattern = page.search === null ? null : `%${page.search.replace(/[\\%_]/g, '\\$&')}%`;
    const where = `where $1::text is null or u.email ilike $1 or u.email_key ilike $1 or u.name ilike $1`;
    const order = `${SORT_COLUMNS[page.sort]} ${page.descending ? 'desc' : 'asc'} nulls last, u.id`;
    const [count, rows] = (await this.page(project, page.limit, [
      { text: `select count(*)::int as total from auth.users u ${where}`, values: [pattern] },
      {
        text: `select ${ACCOUNT_COLUMNS} from auth.users u ${where} order by ${order} limit $2 offset $3`,
        values: [pattern, page.limit, page.offset],
        maxBytes: MAX_PAGE_BYTES,
      },
    ])) as [StatementResult, StatementResult];
    return { total: count.rows[0]?.total as number, accounts: rows.rows.map(toAccount) };
  }

  private async page(
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

  async find(project: Project, id: string): Promise<Account | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      text: `select ${ACCOUNT_COLUMNS} from auth.users u where u.id = $1`,
      values: [id],
    });
    return rows[0] ? toAccount(rows[0]) : null;
  }

  /** Fails with 23505 on users_email_key for a taken address. */
  async create(project: Project, account: NewAccount, audit: AuditEntry): Promise<Account> {
    const statement = this.accounts.insertion(account, audit);
    const { rows } = await this.rls.systemQuery(project.database, REASON, statement);
    return toAccount(rows[0] ?? {});
  }

  /** A new password or a ban ends all sessions, a new address the change that the user asked for. Fails with 23505 on users_email_key for a taken address. */
  async update(
    project: Project,
    id: string,
    change: UserChange,
    now: Date,
    audit: AuditEntry,
  ): Promise<Account | null> {
    const statement = {
      name: 'auth:admin-update-user',
      text: `with changed as (
          update auth.users u set
            email = coalesce($3, u.email), email_key = coalesce($4, u.email_key), name = coalesce($5, u.name),
            data = coalesce($6::jsonb, u.data), encrypted_password = coalesce($7, u.encrypted_password),
            email_verified_at = case $8::boolean when true then coalesce(u.email_verified_at, $2)
              when false then null else u.email_verified_at end,
            banned_until = case when $9 then $10::timestamptz else u.banned_until end, updated_at = $2
          where u.id = $1 returning u.*),
        /* audit from changed */ select ${ACCOUNT_COLUMNS} from changed u`,
      values: [
        id,
        now,
        change.email?.address ?? null,
        change.email?.key ?? null,
        change.name ?? null,
        change.data ? JSON.stringify(change.data) : null,
        change.passwordHash ?? null,
        change.emailVerified ?? null,
        change.bannedUntil !== undefined,
        change.bannedUntil ?? null,
      ],
    };
    const endsSessions = change.passwordHash !== undefined || Boolean(change.bannedUntil);
    const [changed] = await this.rls.systemBatch(project.database, REASON, [
      audited(statement, audit),
      {
        name: 'auth:admin-end-sessions',
        text: 'update auth.sessions set revoked_at = $2 where user_id = $1 and revoked_at is null and $3',
        values: [id, now, endsSessions],
      },
      ...(change.passwordHash === undefined ? [] : [dropTokensAfterPassword(id, change.passwordHash)]),
      ...(change.email === undefined ? [] : [dropAddressChange(id)]),
    ]);
    return changed?.rows[0] ? toAccount(changed.rows[0]) : null;
  }

  /** With sessions, tokens and mails. @returns false when there is no such user */
  async remove(project: Project, id: string, audit: AuditEntry): Promise<boolean> {
    const statement = {
      name: 'auth:admin-delete-user',
      text: `with gone as (delete from auth.users where id = $1 returning id),
        /* audit from gone */ select id from gone`,
      values: [id],
    };
    const { rows } = await this.rls.systemQuery(project.database, REASON, audited(statement, audit));
    return rows.length === 1;
  }

  /** @returns false when there is no such user */
  async signOut(project: Project, id: string, now: Date, audit: AuditEntry): Promise<boolean> {
    const statement = {
      name: 'auth:admin-sign-out',
      text: `with u as (select id from auth.users where id = $1),
        ended as (update auth.sessions s set revoked_at = $2 from u where s.user_id = u.id and s.revoked_at is null),
        /* audit from u */ select id from u`,
      values: [id, now],
    };
    const { rows } = await this.rls.systemQuery(project.database, REASON, audited(statement, audit));
    return rows.length === 1;
  }
}

const dropAddressChange = (userId: string): Statement => ({
  name: 'auth:admin-drop-address-change',
  text: `delete from auth.mailed_tokens where user_id = $1 and kind = 'email_change'`,
  values: [userId],
});
