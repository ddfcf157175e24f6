/**
 * Several statements in one round trip. PostgreSQL runs everything up to one Sync as a single implicit transaction
 * (manual, 54.2.4 "Pipelining"), so a context statement and the query it guards are atomic without BEGIN and COMMIT.
 * A node-postgres Submittable: it is given to Client.query().
 */
import { type Connection, type FieldDef, type QueryResultRow, type Submittable } from 'pg';
import * as pg from 'pg';
import { prepareValue } from 'pg/lib/utils';
import { cleanError } from '../database/sql/clean-error';
import { BINARY, type Format, MessageWriter, TEXT, type WireValue } from './message-writer';
import { type MessageTaker, type RawRow, rowIn } from './row-splitter';
import { resultTooLarge } from '../database/pools/result-too-large';
import { StatementCache } from './statement-cache';
import type { WireConnection } from './wire-connection';

export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /**
   * A name unique to the text and to whatever changes its plan (role, catalog version): the statement stays prepared
   * on the connection under it. Without a name it is parsed anew each time.
   */
  readonly name?: string;
  /**
   * Takes each row as it arrives, so that nothing is kept: for results that are written on as they are. Values come in
   * binary format, which is UTF-8 text for text and json.
   */
  readonly onRow?: (row: RawRow) => void;
  /** The same for rows of many columns. */
  readonly columns?: ColumnsTaker;
  /**
   * Bytes that the rows may have, as PostgreSQL sends them: of a statement with a taker its own rows, else all rows that the
   * pipeline has collected up to its end. More fail the pipeline with resultTooLarge(), and the rest is dropped as it arrives.
   * Default: 4 MiB for collected rows, no limit for a taker.
   */
  readonly maxBytes?: number;
  /** Bind and Execute as they are sent each time: of a statement that has a name, but neither values nor a result. */
  readonly execution?: Buffer;
}

/** Of statements that do not say; Plinth's own records are small. */
const DEFAULT_MAX_BYTES = 4 * 1024 * 1024;

/** Takes rows apart itself, where they lie in what was read. */
export interface ColumnsTaker {
  /** In which the values come, for each column; otherwise all are text. */
  readonly formats?: readonly Format[];
  /** Before the first row, once for each connection that prepares the statement. @throws to refuse them */
  onTypes?(types: readonly number[]): void;
  /** As MessageTaker.onRow(). */
  onRow(bytes: Buffer, start: number, end: number): void;
  /** As MessageTaker.onRowPart(); without it large rows are put together first. */
  onRowPart?(bytes: Buffer, start: number, end: number, isLast: boolean): void;
}

export interface StatementResult<Row extends QueryResultRow = QueryResultRow> {
  readonly rows: Row[];
  /** Rows affected or returned, as in the command tag; 0 when the tag has no count. */
  readonly rowCount: number;
}

/** What pg's Result offers and its type declarations leave out. */
interface RowParser {
  rows: QueryResultRow[];
  addFields(fields: FieldDef[]): void;
  parseRow(fields: (string | null)[]): QueryResultRow;
  addRow(row: QueryResultRow): void;
}
const RowParserClass = (pg as unknown as { Result: new () => RowParser }).Result;

/** DDL changed the result of a prepared statement. */
export const STALE_PLAN = '0A000';

/** A pipeline is written at one go, so all of them share it. */
const WRITER = new MessageWriter();

export class PipelinedQuery implements Submittable, MessageTaker {
  /** Resolves at ReadyForQuery only: a deferred constraint fails after the last CommandComplete. */
  readonly done: Promise<StatementResult[]>;
  /** The statement under way: tells which one an error belongs to. */
  current = 0;

  private resolve!: (results: StatementResult[]) => void;
  private reject!: (error: Error) => void;
  /** Of statements without a taker. */
  private readonly results: (RowParser | undefined)[];
  private readonly rowCounts: number[] = [];
  private readonly prepared: ({ fields: FieldDef[] | null | undefined } | undefined)[] = [];
  private readonly newNames: string[] = [];
  private failure: Error | undefined;
  /** Bytes of the rows that were collected. */
  private collected = 0;
  /** Bytes of the rows that the taker of the statement under way was given. */
  private taken = 0;

  /** @param cancel asks the server to stop: what it has yet to send is not wanted */
  constructor(
    private readonly statements: readonly Statement[],
    private readonly cache: StatementCache,
    private readonly cancel: () => void = () => undefined,
  ) {
    this.results = statements.map((statement) => (isTaken(statement) ? undefined : new RowParserClass()));
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  submit(connection: Connection): Error | null {
    (connection as WireConnection).running = this;
    for (const name of this.cache.takeNamesToClose()) WRITER.closeStatement(name);
    try {
      this.statements.forEach((statement, index) => this.write(statement, index));
    } catch (error) {
      // A value that cannot be serialised: what was sent before it must not be committed, so the pipeline is broken
      // on purpose, and Sync still goes out, or the connection would wait for ever.
      this.failure = asError(error);
      WRITER.parse('', 'abort the pipeline');
    }
    WRITER.sync();
    // One write, one packet.
    connection.stream.write(WRITER.take());
    return null;
  }

  private write(statement: Statement, index: number): void {
    const name = statement.name ?? '';
    if (statement.execution && this.cache.find(name)) {
      WRITER.raw(statement.execution);
      return;
    }
    // Prepared first: a value that throws must not leave half a message behind.
    const values = (statement.values ?? []).map(wireValue);
    let prepared = name ? this.cache.find(name) : undefined;
    if (!prepared) {
      WRITER.parse(name, statement.text);
      if (name) {
        this.newNames.push(name);
        prepared = this.cache.add(name);
      }
    }
    this.prepared[index] = prepared;
    WRITER.bind(name, values, formatsOf(statement));
    if (isDescribed(statement)) {
      if (prepared?.fields === undefined) WRITER.describePortal();
      else if (prepared.fields) this.results[index]?.addFields(prepared.fields);
    }
    WRITER.execute();
  }

  handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this.results[this.current]?.addFields(fields);
    const { columns } = this.statements[this.current] ?? {};
    if (columns) this.guarded(() => columns.onTypes?.(fields.map(({ dataTypeID }) => dataTypeID)));
    const prepared = this.prepared[this.current];
    // What was refused is described, and refused, each time.
    if (prepared && !this.failure) prepared.fields = fields;
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    const result = this.results[this.current];
    if (result) this.guarded(() => result.addRow(result.parseRow(message.fields)));
  }

  /** Asked once for each row, before it is put together. */
  admitsRow(bytes: number): boolean {
    if (this.failure) return false;
    const statement = this.statements[this.current] as Statement;
    const isStreamed = isTaken(statement);
    const { maxBytes = isStreamed ? Infinity : DEFAULT_MAX_BYTES } = statement;
    const total = isStreamed ? (this.taken += bytes) : (this.collected += bytes);
    if (total <= maxBytes) return true;
    this.failure = resultTooLarge(maxBytes);
    this.cancel();
    return false;
  }

  get takesRows(): boolean {
    const statement = this.statements[this.current];
    return statement !== undefined && isTaken(statement);
  }

  /** As guarded(), without a closure for each row. */
  onRow(bytes: Buffer, start: number, end: number): void {
    if (this.failure) return;
    const { columns, onRow } = this.statements[this.current] as Statement;
    try {
      if (columns) columns.onRow(bytes, start, end);
      else onRow?.(rowIn(bytes, start, end));
    } catch (error) {
      this.failure = asError(error);
    }
  }

  get takesParts(): boolean {
    return this.statements[this.current]?.columns?.onRowPart !== undefined;
  }

  onRowPart(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    this.guarded(() => this.statements[this.current]?.columns?.onRowPart?.(bytes, start, end, isLast));
  }

  /** What a taker throws fails the pipeline; it gets no further rows. */
  private guarded(take: () => void): void {
    if (this.failure) return;
    try {
      take();
    } catch (error) {
      this.failure = asError(error);
    }
  }

  handleCommandComplete(): void {
    // The splitter takes it.
  }

  onCommandComplete(rowCount: number): void {
    this.rowCounts[this.current] = rowCount;
    const prepared = this.prepared[this.current];
    if (prepared && prepared.fields === undefined && !this.failure) prepared.fields = null;
    this.current += 1;
    this.taken = 0;
  }

  handleEmptyQuery(): void {
    this.current += 1;
  }

  handlePortalSuspended(): void {
    // Never asked for: Execute goes out without a row limit.
  }

  handleCopyInResponse(connection: Connection): void {
    (connection as unknown as { sendCopyFail(reason: string): void }).sendCopyFail(
      'COPY is not available here',
    );
  }

  handleCopyData(): void {
    // COPY TO STDOUT: its data is not part of a result.
  }

  handleError(error: Error & { code?: string }): void {
    // Whose plan is stale is not told.
    if (error.code === STALE_PLAN) {
      for (const { name } of this.statements) if (name) this.cache.doubt(name);
    }
    for (const name of this.newNames) this.cache.doubt(name);
    this.reject(this.failure ?? cleanError(error));
  }

  handleReadyForQuery(): void {
    if (this.failure) this.reject(this.failure);
    else this.resolve(this.results.map((result, index) => this.resultOf(result, index)));
  }

  private resultOf(result: RowParser | undefined, index: number): StatementResult {
    return { rows: result?.rows ?? [], rowCount: this.rowCounts[index] ?? 0 };
  }
}

function isTaken({ onRow, columns }: Statement): boolean {
  return onRow !== undefined || columns !== undefined;
}

const ALL_TEXT: readonly Format[] = [TEXT];
const ALL_BINARY: readonly Format[] = [BINARY];

function formatsOf({ onRow, columns }: Statement): readonly Format[] {
  if (onRow) return ALL_BINARY;
  return columns?.formats ?? ALL_TEXT;
}

/** Most takers know what comes. */
function isDescribed(statement: Statement): boolean {
  return !isTaken(statement) || statement.columns?.onTypes !== undefined;
}

/** Most values are texts already; the others become what node-postgres would make of them. */
function wireValue(value: unknown): WireValue {
  return typeof value === 'string' ? value : (prepareValue(value) ?? null);
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
