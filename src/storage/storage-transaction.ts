/** The door as the storage uses it: every statement under the project's time limit. */
import { Injectable } from '@nestjs/common';
import { Statement, StatementResult } from '../database/pools/pipelined-query';
import { ContextSettings, RlsContext } from '../database/rls/rls-context';
import { RlsTransaction, TransactionScope } from '../database/rls/rls-transaction';
import { Project } from '../projects/project';

/** Who asks, or what is asked for by nobody (service-context.ts). */
export interface StorageContext extends RlsContext {
  readonly project: Project;
}

@Injectable()
export class StorageTransaction {
  constructor(private readonly door: RlsTransaction) {}

  /** One statement, one round trip. */
  query(context: StorageContext, statement: Statement): Promise<StatementResult> {
    return this.door.query(context, statement, limitsOf(context));
  }

  /** Several statements, all or none, in one round trip. */
  batch(context: StorageContext, statements: readonly Statement[]): Promise<StatementResult[]> {
    return this.door.batch(context, statements, limitsOf(context));
  }

  /** Work that needs a result before it knows whether to go on. */
  run<T>(context: StorageContext, work: (scope: TransactionScope) => Promise<T>): Promise<T> {
    return this.door.run(context, work, limitsOf(context));
  }
}

function limitsOf({ project }: StorageContext): ContextSettings {
  return { statement_timeout: String(project.settings.statement_timeout) };
}
