/** Runs the administrator's SQL as the project's owner, with limits on its time and its result. */
import { Injectable } from '@nestjs/common';
import { DatabaseError, FieldDef, Query, QueryArrayConfig, QueryResult } from 'pg';
import { inSlices } from '../common/time/slices';
import { BoundedClient } from '../database/pools/one-off-connection';
import { OwnerDatabase } from '../projects/owner-database';
import { ProjectEntity } from '../projects/project.entity';
import { sqlFailed, sqlTookTooLong, tooManyColumns, transactionLeftOpen } from './sql.errors';
import { columnNames, rowWriter } from './answer-columns';
import type { KeptAnswer } from './answer-json';
import { ResultCollector, MAX_COLUMNS } from './result-collector';
import { AnswerTypes } from './answer-types';
import { assertFewStatements } from './max-statements';
import { SchemaChangeService } from './schema-change.service';
import { SessionDeadline } from './session-deadline.service';

export interface SqlLimits {
  /** Values of the statement's parameters. If there are any, the extended protocol is used, which takes a single statement. */
  readonly parameters?: readonly (string | null)[];
  readonly timeoutSeconds: number;
  /** Maximum number of rows of a statement. */
  readonly maxRows: number;
  /** Returns the rows of every statement instead of the rows of the last statement. */
  readonly allResults: boolean;
  /** Returns numbers, arrays and JSON as text. */
  readonly textValues: boolean;
  /**
   * Allows only a single statement that does not write. A statement that would write fails with 25006,
   * several statements with 42601 without a position.
   */
  readonly readOnly?: boolean;
  /** Aborted when the client disconnects: the statement is cancelled, and rolled back. */
  readonly abandoned?: AbortSignal;
}

/** Where the rows go as they arrive. */
interface SqlOutput {
  readonly kept: ResultCollector;
  readonly types: AnswerTypes;
}

@Injectable()
export class OwnerSqlService {
  constructor(
    private readonly owner: OwnerDatabase,
    private readonly deadline: SessionDeadline,
    private readonly schemaChange: SchemaChangeService,
  ) {}

  /**
   * Runs a simple query, which is one transaction unless its text says otherwise. Returns the rows of the last statement
   * or, if requested, of every statement. Table REST of this process sees the change before the response is sent.
   * @throws AppError 4xx with the database's fields, after a rollback
   */
  async runSql(project: ProjectEntity, query: string, limits: SqlLimits): Promise<KeptAnswer> {
    await assertFewStatements(query);
    const kept = new ResultCollector(limits.maxRows, limits.allResults);
    const types = new AnswerTypes(limits.textValues);
    const settings = { statement_timeout: limits.timeoutSeconds * 1000, types };
    const answer = await this.owner.use(
      project,
      'the administrator runs SQL as the owner',
      (client) => this.runBounded(project, client, query, limits, { kept, types }),
      { ...settings, limits: kept },
    );
    await this.schemaChange.follow(project);
    return answer;
  }

  private async runBounded(
    project: ProjectEntity,
    client: BoundedClient,
    query: string,
    limits: SqlLimits,
    output: SqlOutput,
  ): Promise<KeptAnswer> {
    const began = performance.now();
    const work = (): Promise<KeptAnswer> =>
      collect(client, query, output, limits).catch((error: unknown) => {
        if (isTimeout(error, began, limits)) throw sqlTookTooLong(limits.timeoutSeconds, error);
        throw error instanceof DatabaseError ? sqlFailed(error, query) : error;
      });
    return this.deadline.runUntilDeadline(project, client, limits.timeoutSeconds, work, limits.abandoned);
  }
}

/**
 * SQLSTATE 57014 alone is ambiguous: a timeout that the SQL sets itself and a COPY without data raise it too.
 * @param began the start, from performance.now()
 */
function isTimeout(error: unknown, began: number, { timeoutSeconds }: SqlLimits): boolean {
  const isCancelled = error instanceof DatabaseError && error.code === '57014';
  return isCancelled && performance.now() - began >= timeoutSeconds * 1000;
}

/** Reads all rows and keeps those within the limits. */
async function collect(
  client: BoundedClient,
  text: string,
  { kept, types }: SqlOutput,
  { parameters = [], readOnly = false }: SqlLimits,
): Promise<KeptAnswer> {
  // After the first snapshot, PostgreSQL does not let a statement make the transaction read-write.
  if (readOnly) await client.query('begin read only; select 1');
  client.onResults(
    (columns) => kept.begin(columns),
    () => kept.end(),
  );
  kept.onTooManyColumns = (): void => client.abort(tooManyColumns(MAX_COLUMNS));
  client.on('notice', ({ message }) => kept.addNotice(message));
  const writers = new WeakMap<readonly FieldDef[], (values: readonly (string | null)[]) => string>();
  const writerOf = (fields: readonly FieldDef[]): ((values: readonly (string | null)[]) => string) => {
    const writer = writers.get(fields) ?? rowWriter(columnNames(fields));
    writers.set(fields, writer);
    return writer;
  };
  const results = await new Promise<QueryResult[]>((resolve, reject) => {
    const config: QueryArrayConfig & { queryMode?: string } = {
      text,
      values: [...parameters],
      rowMode: 'array',
    };
    // The extended protocol takes a single statement, so the SQL cannot contain a COMMIT before another statement.
    if (readOnly) config.queryMode = 'extended';
    const query = new Query(config);
    query.on('row', (row: (string | null)[], result) => {
      kept.add(writerOf(result?.fields ?? [])(row));
      types.nextRow();
    });
    query.on('end', (result: QueryResult | QueryResult[]) =>
      resolve(Array.isArray(result) ? result : [result]),
    );
    query.on('error', reject);
    client.query(query);
  });
  // The last results may have arrived together with the end of the connection.
  if (kept.hasTooManyColumns) throw tooManyColumns(MAX_COLUMNS);
  // A transaction that only reads is rolled back when the connection ends.
  if (!readOnly && client.getTransactionStatus() !== 'I') throw transactionLeftOpen();
  const statements = await inSlices(statementsOf(results, kept));
  const { command, row_count } = statements.at(-1) ?? { command: null, row_count: null };
  return { kept: kept.rows, command, row_count, statements, notices: kept.notices };
}

/** The rows of the last statement are returned separately. */
function* statementsOf(
  results: readonly QueryResult[],
  kept: ResultCollector,
): Generator<void, KeptAnswer['statements'][number][]> {
  const statements: KeptAnswer['statements'][number][] = [];
  for (const [index, { command, rowCount, fields }] of results.entries()) {
    const own = index === results.length - 1 ? undefined : kept.results[index];
    statements.push({
      command: command || null,
      row_count: rowCount,
      columns: columnNames(fields),
      kept: own,
    });
    yield;
  }
  return statements;
}
