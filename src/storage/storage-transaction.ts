/**
 * RlsTransaction for storage: each statement has the project's statement_timeout and a limit on the size of its result, because
 * the project's owner can put megabytes into any column.
 */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { AppError } from '../common/errors/app-error';
import { Statement, StatementResult } from '../database/statement';
import { isResultTooLarge } from '../database/pools/pool.errors';
import { ContextSettings, RlsContext, roleContext } from '../database/rls/rls-context';
import { RlsTransaction, TransactionScope } from '../database/rls/rls-transaction';
import { Project } from '../projects/project';
import { ANON_ROLE, SERVICE_ROLE } from '../projects/project-keys';
import { statementTimeout } from '../projects/project-settings';
import { isQuota, parseMarks, projectQuota, QuotaMark } from './quotas/quota';
import { MAX_RESULT } from './rows/stored-row';
import { quotaExceeded, tablesAltered } from './storage.errors';

/** A caller, or the context of work without a bearer token. */
export interface StorageContext extends RlsContext {
  readonly project: Project;
}

/** For signed URLs, which grant access by themselves, and for the sweep. */
export const serviceContext = (project: Project): StorageContext => contextOf(project, SERVICE_ROLE);

/** For previews, which show files that the anon key may read. */
export const anonContext = (project: Project): StorageContext => contextOf(project, ANON_ROLE);

/** The context of a role without further claims. */
export const contextOf = (project: Project, role: string): StorageContext => ({
  ...roleContext(project.database, role),
  project,
});

/** SQLSTATE that storage.charge() raises. Its hint, constraint and detail contain scope, unit and quota. */
const QUOTA_EXCEEDED = 'PL413';

/**
 * SQLSTATEs that Plinth's own statements raise only when tables, columns, functions or types differ from those of the
 * migrations: class 42 except a policy's refusal (42501), 3F, 0A, and 55000 for a view that does not accept rows.
 */
const ALTERED = /^(42(?!501)|3F|0A|55000)/;

/** Reads the setting that storage.keep_totals() sets for this transaction. */
const QUOTA_MARKS: Statement = {
  name: 'storage:quota-marks',
  text: `select current_setting('storage.quota_marks', true) as marks`,
};

@Injectable()
export class StorageTransaction {
  constructor(private readonly door: RlsTransaction) {}

  /** Runs one statement in one round trip. @param settings in addition to the project's limits */
  query(context: StorageContext, statement: Statement, settings?: ContextSettings): Promise<StatementResult> {
    return translated(this.door.query(context, bounded(statement), { ...limitsOf(context), ...settings }));
  }

  /** Runs several statements in one transaction and one round trip. */
  batch(context: StorageContext, statements: readonly Statement[]): Promise<StatementResult[]> {
    return translated(this.door.batch(context, statements.map(bounded), limitsOf(context)));
  }

  /**
   * Runs one statement that may add files, within the project's quotas, in one round trip.
   * @returns its rows, and the quota marks that were reached
   * @throws AppError 413 if a quota has no room
   */
  async add(context: StorageContext, statement: Statement): Promise<{ rows: unknown[]; marks: QuotaMark[] }> {
    const { bytes, files } = projectQuota(context.project);
    const settings = {
      ...limitsOf(context),
      'storage.quota_bytes': bytes === null ? '' : String(bytes),
      'storage.quota_files': files === null ? '' : String(files),
    };
    const statements = [bounded(statement), bounded(QUOTA_MARKS)];
    const [result, marks] = await translated(this.door.batch(context, statements, settings));
    return { rows: result?.rows ?? [], marks: parseMarks(marks?.rows[0]?.marks) };
  }

  /** Runs several round trips in one transaction, for work that depends on a result. */
  runTransaction<T>(context: StorageContext, work: (scope: TransactionScope) => Promise<T>): Promise<T> {
    const boundedWork = (scope: TransactionScope): Promise<T> =>
      work({
        query: (statement) => scope.query(bounded(statement)),
        batch: (statements) => scope.batch(statements.map(bounded)),
      });
    return translated(this.door.runTransaction(context, boundedWork, limitsOf(context)));
  }
}

function bounded(statement: Statement): Statement {
  return { maxBytes: MAX_RESULT, ...statement };
}

function limitsOf({ project, role }: StorageContext): ContextSettings {
  return { statement_timeout: String(statementTimeout(project.settings, role)) };
}

/** Replaces errors about altered tables and exceeded quotas by an AppError. */
async function translated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isResultTooLarge(error)) throw tablesAltered('they return more than Plinth reads', error);
    if (!(error instanceof DatabaseError)) throw error;
    if (error.code === QUOTA_EXCEEDED) throw quotaErrorOf(error);
    if (ALTERED.test(error.code ?? ''))
      throw tablesAltered('tables, functions or policies are not what Plinth expects', error);
    throw error;
  }
}

/** Checks the fields, because a function of the project's owner may raise the same code. */
function quotaErrorOf(error: DatabaseError): AppError {
  const { hint: scope = '', constraint: unit = '', detail } = error;
  const quota = Number(detail);
  if (!isQuota(scope, unit, quota)) return tablesAltered('storage.charge() was replaced', error);
  return quotaExceeded(scope, unit, quota);
}
