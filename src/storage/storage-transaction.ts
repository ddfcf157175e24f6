/** The door as the storage uses it: every statement under the project's time limit. */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { AppError } from '../common/errors/app-error';
import { Statement, StatementResult } from '../database/pools/pipelined-query';
import { ContextSettings, RlsContext } from '../database/rls/rls-context';
import { RlsTransaction, TransactionScope } from '../database/rls/rls-transaction';
import { Project } from '../projects/project';
import { statementTimeout } from '../projects/project-settings';
import { parseMarks, projectQuota, QuotaMark } from './quotas/quota';
import { quotaExceeded } from './storage.errors';

/** Who asks, or what is asked for by nobody (service-context.ts). */
export interface StorageContext extends RlsContext {
  readonly project: Project;
}

/** Raised by storage.charge(), with scope, unit and quota. */
const QUOTA_EXCEEDED = 'PL413';

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
    return this.door.query(context, statement, { ...limitsOf(context), ...settings });
  }

  /** Several statements, all or none, in one round trip. */
  batch(context: StorageContext, statements: readonly Statement[]): Promise<StatementResult[]> {
    return this.door.batch(context, statements, limitsOf(context));
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
    try {
      const [result, marks] = await this.door.batch(context, [statement, QUOTA_MARKS], settings);
      return {
        rows: result?.rows ?? [],
        marks: parseMarks((marks?.rows[0] as { marks: string | null } | undefined)?.marks ?? null),
      };
    } catch (error) {
      throw error instanceof DatabaseError && error.code === QUOTA_EXCEEDED ? fromDatabase(error) : error;
    }
  }

  /** Work that needs a result before it knows whether to go on. */
  run<T>(context: StorageContext, work: (scope: TransactionScope) => Promise<T>): Promise<T> {
    return this.door.run(context, work, limitsOf(context));
  }
}

function limitsOf({ project, role }: StorageContext): ContextSettings {
  return { statement_timeout: String(statementTimeout(project.settings, role)) };
}

function fromDatabase({ hint, constraint, detail }: DatabaseError): AppError {
  return quotaExceeded(hint ?? '', constraint ?? '', Number(detail));
}
