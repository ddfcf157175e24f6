/**
 * Several statements in one round trip. PostgreSQL runs everything up to one Sync as a single implicit transaction
 * (manual, 54.2.4 "Pipelining"), so a context statement and the query it guards are atomic without BEGIN and COMMIT.
 * A node-postgres Submittable: it is given to Client.query().
 */
import { type Connection, type FieldDef, type QueryResultRow, type Submittable } from 'pg';
import * as pg from 'pg';
import { prepareValue } from 'pg/lib/utils';
import { StatementCache } from './statement-cache';

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
   * binary format decoded as UTF-8, so columns must be of a type whose binary format is its text: text, json.
   */
  readonly onRow?: (values: (string | null)[]) => void;
}

export interface StatementResult<Row extends QueryResultRow = QueryResultRow> {
  readonly rows: Row[];
  /** Rows affected or returned, as in the command tag; 0 when the tag has no count. */
  readonly rowCount: number;
}

/** What pg's Result offers and its type declarations leave out. */
interface RowParser {
  rows: QueryResultRow[];
  rowCount: number | null;
  addFields(fields: FieldDef[]): void;
  parseRow(fields: (string | null)[]): QueryResultRow;
  addRow(row: QueryResultRow): void;
  addCommandComplete(message: unknown): void;
}
const RowParserClass = (pg as unknown as { Result: new () => RowParser }).Result;

/** node-postgres' connection as its own Query class uses it. */
interface WireConnection {
  stream: Connection['stream'];
  bind(config: {
    statement: string;
    values: unknown[];
    valueMapper: (value: unknown) => unknown;
    binary?: boolean;
  }): void;
  close(config: { type: 'S'; name: string }): void;
  describe(config: { type: 'P'; name: string }): void;
  parse(config: { text: string; name: string }): void;
  execute(config: { portal: string; rows?: number }): void;
  sync(): void;
}

export class PipelinedQuery implements Submittable {
  /** Resolves at ReadyForQuery only: a deferred constraint fails after the last CommandComplete. */
  readonly done: Promise<StatementResult[]>;
  /** The statement under way: tells which one an error belongs to. */
  current = 0;

  private resolve!: (results: StatementResult[]) => void;
  private reject!: (error: Error) => void;
  private readonly results: RowParser[];
  private readonly prepared: ({ fields: FieldDef[] | null | undefined } | undefined)[] = [];
  private readonly newNames: string[] = [];
  private failure: Error | undefined;

  constructor(
    private readonly statements: readonly Statement[],
    private readonly cache: StatementCache,
  ) {
    this.results = statements.map(() => new RowParserClass());
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  submit(connection: Connection): Error | null {
    const wire = connection as unknown as WireConnection;
    wire.stream.cork();
    try {
      for (const name of this.cache.takeNamesToClose()) wire.close({ type: 'S', name });
      this.statements.forEach((statement, index) => this.send(wire, statement, index));
    } catch (error) {
      // A value that cannot be serialised: what was sent before it must not be committed, so the pipeline is broken
      // on purpose, and Sync still goes out, or the connection would wait for ever.
      this.failure = error instanceof Error ? error : new Error(String(error));
      wire.parse({ text: 'abort the pipeline', name: '' });
    } finally {
      wire.sync();
      wire.stream.uncork();
    }
    return null;
  }

  private send(wire: WireConnection, statement: Statement, index: number): void {
    const name = statement.name ?? '';
    let prepared = name ? this.cache.find(name) : undefined;
    if (!prepared) {
      wire.parse({ text: statement.text, name });
      if (name) {
        this.newNames.push(name);
        prepared = this.cache.add(name);
      }
    }
    this.prepared[index] = prepared;
    const binary = statement.onRow !== undefined;
    wire.bind({ statement: name, values: [...(statement.values ?? [])], valueMapper: prepareValue, binary });
    // A taker of rows needs no description of them.
    if (binary) wire.execute({ portal: '' });
    else this.describeAndExecute(wire, prepared, index);
  }

  private describeAndExecute(
    wire: WireConnection,
    prepared: { fields: FieldDef[] | null | undefined } | undefined,
    index: number,
  ): void {
    if (prepared?.fields === undefined) wire.describe({ type: 'P', name: '' });
    else if (prepared.fields) this.results[index]?.addFields(prepared.fields);
    wire.execute({ portal: '' });
  }

  handleRowDescription(message: { fields: FieldDef[] }): void {
    this.results[this.current]?.addFields(message.fields);
    const prepared = this.prepared[this.current];
    if (prepared) prepared.fields = message.fields;
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    const result = this.results[this.current];
    if (!result || this.failure) return;
    try {
      const onRow = this.statements[this.current]?.onRow;
      if (onRow) onRow(message.fields);
      else result.addRow(result.parseRow(message.fields));
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
    }
  }

  handleCommandComplete(message: unknown): void {
    this.results[this.current]?.addCommandComplete(message);
    const prepared = this.prepared[this.current];
    if (prepared && prepared.fields === undefined) prepared.fields = null;
    this.current += 1;
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

  handleError(error: Error): void {
    for (const name of this.newNames) this.cache.doubt(name);
    this.reject(this.failure ?? error);
  }

  handleReadyForQuery(): void {
    if (this.failure) this.reject(this.failure);
    else this.resolve(this.results.map((result) => ({ rows: result.rows, rowCount: result.rowCount ?? 0 })));
  }
}
