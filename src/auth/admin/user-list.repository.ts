/** Lists, searches and sorts the accounts of a project. */
import { Injectable } from '@nestjs/common';
import { Statement, StatementResult } from '../../database/statement';
import { isResultTooLarge } from '../../database/pools/pool.errors';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { ACCOUNT_COLUMNS, toAccount } from '../accounts/account-record';
import { pageTooLarge } from '../auth.errors';

const REASON = 'the service-role key manages accounts, but its role has no privileges on auth.users';

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
export class UserListRepository {
  constructor(private readonly rls: RlsTransaction) {}

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
}
