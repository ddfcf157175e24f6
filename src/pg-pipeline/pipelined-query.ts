/**
 * Several statements in one round trip. PostgreSQL runs everything up to one Sync as a single implicit
 * transaction (manual, 54.2.4 "Pipelining"), so either all of them succeed or none, without BEGIN and COMMIT.
 */
import type { Connection, FieldDef } from 'pg';
import type { DriverQuery } from './driver-internals';
import { ResultTooLargeError, type RowSink, type Statement, type StatementResult } from './statement';
import { MessageWriter } from './message-writer';
import type { RunningQuery } from './row-splitter';
import type { StatementCache } from './statement-cache';
import { StatementRun } from './statement-run';
import type { WireConnection } from './wire-connection';

/** Maximum bytes of all rows that a pipeline collects, unless its statements have their own limit. */
const DEFAULT_MAX_BYTES = 4 * 1024 * 1024;

/** SQLSTATE of a prepared statement whose result was changed by DDL. */
export const STALE_PLAN = '0A000';

/** Shared, because a pipeline is written without interruption. */
const WRITER = new MessageWriter();

/** The parts of a connection that a pipeline uses. */
export interface PipelineHost {
  readonly wire: WireConnection;
  readonly statements: StatementCache;
  /** Asks the server to stop the pipeline: the rest of a result is not needed. */
  cancel(): void;
  /** Called when the pipeline has failed. @returns the error that its promise rejects with */
  onFailure(error: Error): Error;
}

export class PipelinedQuery implements DriverQuery, RunningQuery {
  /** Resolves only when the transaction has ended: a deferred constraint fails after the last statement. */
  readonly done: Promise<StatementResult[]>;
  /** Index of the current statement, or, after a failure, of the failed statement. */
  current = 0;

  private resolve!: (results: StatementResult[]) => void;
  private reject!: (error: Error) => void;
  private readonly runs: readonly StatementRun[];
  private readonly afterwards: StatementRun | null;
  /** True once the transaction of the statements has ended, and that of `afterwards` runs. */
  private isOver = false;
  private failure: Error | undefined;
  /** Bytes of the rows that were collected. */
  private collected = 0;
  /** Bytes of the rows of the current statement that its sink received. */
  private streamed = 0;

  /**
   * @param afterwards runs in the same round trip after the statements were committed or have failed, in a
   * separate transaction; its failure is ignored
   */
  constructor(
    statements: readonly Statement[],
    private readonly host: PipelineHost,
    afterwards: Statement | null = null,
  ) {
    this.runs = statements.map((statement) => new StatementRun(statement));
    this.afterwards = afterwards && new StatementRun(afterwards);
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  submit(connection: Connection): Error | null {
    const { wire, statements } = this.host;
    wire.running = this;
    for (const name of statements.takeNamesToClose()) WRITER.closeStatement(name);
    try {
      for (const run of this.runs) run.write(WRITER, statements);
    } catch (error) {
      // A value cannot be serialised. The messages before it must not be committed, so a syntax error follows.
      this.fail(error);
      WRITER.parse('', 'abort the pipeline');
    }
    WRITER.sync();
    if (this.afterwards) {
      this.afterwards.write(WRITER, statements);
      WRITER.sync();
    }
    // A single write sends a single packet, unless a value is large.
    if (WRITER.hasLarge) for (const part of WRITER.takeParts()) connection.stream.write(part);
    else connection.stream.write(WRITER.take());
    return null;
  }

  get sink(): RowSink | undefined {
    return this.run?.statement.sink;
  }

  onReady(): boolean {
    const isFirst = this.afterwards !== null && !this.isOver;
    this.isOver = true;
    return isFirst;
  }

  admitsRow(bytes: number): boolean {
    if (this.failure) return false;
    const { sink, maxBytes = sink ? Infinity : DEFAULT_MAX_BYTES } = this.run?.statement ?? {};
    const total = sink ? (this.streamed += bytes) : (this.collected += bytes);
    if (total <= maxBytes) return true;
    this.fail(new ResultTooLargeError(maxBytes));
    this.host.cancel();
    return false;
  }

  onCommandComplete(rowCount: number): void {
    this.run?.complete(rowCount, this.failure !== undefined);
    if (this.isOver) return;
    this.current += 1;
    this.streamed = 0;
  }

  /** The pipeline fails as soon as the server has finished it. The first error counts. */
  fail(error: unknown): void {
    this.failure ??= error instanceof Error ? error : new Error(String(error));
  }

  handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this.attempt(() => this.run?.onFields(fields));
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.attempt(() => this.run?.onRow(fields));
  }

  handleCommandComplete(): void {
    // RowSplitter handles it.
  }

  handleEmptyQuery(): void {
    this.current += 1;
  }

  handlePortalSuspended(): void {
    // Does not occur: Execute asks for all rows.
  }

  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('COPY is not available here');
    // While the server waited for COPY data, it ignored the Sync of the pipeline (manual, 54.2.6).
    connection.sync();
  }

  handleCopyData(): void {
    // The data of COPY TO STDOUT is no part of a result.
  }

  handleError(error: Error & { code?: string }): void {
    // The error does not tell which statement has the stale plan.
    const isStale = error.code === STALE_PLAN;
    for (const { statement, isNew } of this.afterwards ? [...this.runs, this.afterwards] : this.runs) {
      if (statement.name && (isNew || isStale)) this.host.statements.markUncertain(statement.name);
    }
    // The statements are committed already.
    if (this.isOver && !this.failure) this.resolve(this.runs.map(({ result }) => result));
    else this.reject(this.host.onFailure(this.failure ?? error));
  }

  handleReadyForQuery(): void {
    if (this.failure) this.reject(this.host.onFailure(this.failure));
    else this.resolve(this.runs.map(({ result }) => result));
  }

  /** Undefined after the last statement. */
  private get run(): StatementRun | undefined {
    return this.isOver ? (this.afterwards ?? undefined) : this.runs[this.current];
  }

  private attempt(handle: () => void): void {
    if (this.failure) return;
    try {
      handle();
    } catch (error) {
      this.fail(error);
    }
  }
}
