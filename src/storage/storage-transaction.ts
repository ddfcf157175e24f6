/**
 * The door as the storage uses it: every statement under the project's time limit, and with a limit on what it may answer,
 * because the project's owner can put megabytes into any column.
 */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { AppError } from '../common/errors/app-error';
import { Statement, StatementResult } from '../database/statement';
import { isResultTooLarge } from '../database/pools/result-too-large';
import { ContextSettings, RlsContext } from '../database/rls/rls-context';
import { RlsTransaction, TransactionScope } from '../database/rls/rls-transaction';
import { Project } from '../projects/project';
import { statementTimeout } from '../projects/project-settings';
import { isQuota, parseMarks, projectQuota, QuotaMark } from './quotas/quota';
import { MAX_RESULT } from './rows/limits';
import { quotaExceeded, tablesAltered } from './storage.errors';

/** Who asks, or what is asked for by nobody (service-context.ts). */
export interface StorageContext extends RlsContext {
  readonly project: Project;
}

/** Raised by storage.charge(), with scope, unit and quota. */
const QUOTA_EXCEEDED = 'PL413';

/**
 * What Plinth's own statements meet only where tables, columns, functions or their types are not the ones that the
 * migrations made: class 42 but for a policy's refusal (42501), 3F, 0A, and 55000 for a view that takes no rows.
 */
const ALTERED = /^(42(?!501)|3F|0A|55000)/;

/** Set by storage.keep_totals() for this transaction alone. */
const QUOTA_MARKS: Statement = {
  name: 'storage:quota-marks',
  text: `select current_setting('storage.quota_marks', true) as marks`,
};

@Injectable()
export class StorageTransaction {
  constructor(private readonly door: RlsTransaction) {}

  /** One statement, one round trip. @param settings on top of the project's limits */
  query(context: StorageContext, statement: Statement, settings?: ContextSettings): Promise<StatementResult> {
    return told(this.door.query(context, bounded(statement), { ...limitsOf(context), ...settings }));
  }

  /** Several statements, all or none, in one round trip. */
  batch(context: StorageContext, statements: readonly Statement[]): Promise<StatementResult[]> {
    return told(this.door.batch(context, statements.map(bounded), limitsOf(context)));
  }

  /**
   * One statement that may add files, under the project's quotas, still one round trip.
   * @returns its rows, and the marks of quotas that were reached
   * @throws AppError 413 when a quota has no room
   */
  async add(context: StorageContext, statement: Statement): Promise<{ rows: unknown[]; marks: QuotaMark[] }> {
    const { bytes, files } = projectQuota(context.project);
    const settings = {
      ...limitsOf(context),
      'storage.quota_bytes': bytes === null ? '' : String(bytes),
      'storage.quota_files': files === null ? '' : String(files),
    };
    const statements = [bounded(statement), bounded(QUOTA_MARKS)];
    const [result, marks] = await told(this.door.batch(context, statements, settings));
    return { rows: result?.rows ?? [], marks: parseMarks(marks?.rows[0]?.marks) };
  }

  /** Work that needs a result before it knows whether to go on. */
  run<T>(context: StorageContext, work: (scope: TransactionScope) => Promise<T>): Promise<T> {
    const boundedWork = (scope: TransactionScope): Promise<T> =>
      work({
        query: (statement) => scope.query(bounded(statement)),
        batch: (statements) => scope.batch(statements.map(bounded)),
      });
    return told(this.door.run(context, boundedWork, limitsOf(context)));
  }
}

function bounded(statement: Statement): Statement {
  return { maxBytes: MAX_RESULT, ...statement };
}

function limitsOf({ project, role }: StorageContext): ContextSettings {
  return { statement_timeout: String(statementTimeout(project.settings, role)) };
}

/** @throws AppError in place of errors that only altered tables can cause, and of a quota without room */
async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isResultTooLarge(error)) throw tablesAltered('they answer more than Plinth reads', error);
    if (!(error instanceof DatabaseError)) throw error;
    if (error.code === QUOTA_EXCEEDED) throw withoutRoom(error);
    if (ALTERED.test(error.code ?? ''))
      throw tablesAltered('tables, functions or policies are not what Plinth expects', error);
    throw error;
  }
}

/** By the words that storage.charge() uses; a function of the owner's may raise the same code with others. */
function withoutRoom(error: DatabaseError): AppError {
  const { hint: scope = '', constraint: unit = '', detail } = error;
  const quota = Number(detail);
  if (!isQuota(scope, unit, quota)) return tablesAltered('storage.charge() was replaced', error);
  return quotaExceeded(scope, unit, quota);
}
