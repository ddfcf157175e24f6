/** One run of a statement in a pipeline: its messages, and the part of its result that has arrived. */
import { Result, types, utils } from 'pg';
import type { FieldDef, QueryResultRow } from 'pg';
import { type MessageWriter, TextBytes, type WireValue } from './message-writer';
import { type Format, TEXT } from './protocol';
import type { Statement, StatementResult } from './statement';
import type { PreparedStatement, StatementCache } from './statement-cache';

const ALL_TEXT: readonly Format[] = [TEXT];

export class StatementRun {
  rowCount = 0;
  /** Set if this run prepares the statement. */
  isNew = false;
  private prepared: PreparedStatement | undefined;
  /** Parses the rows that are collected. */
  private readonly parser: Result<QueryResultRow> | undefined;

  constructor(readonly statement: Statement) {
    this.parser = statement.sink ? undefined : new Result('object', types);
  }

  /** Writes the messages of the statement. @throws when a value cannot be serialised; then nothing was written */
  write(writer: MessageWriter, cache: StatementCache): void {
    const { name = '', messages, sink } = this.statement;
    const prepared = name ? cache.find(name) : undefined;
    if (prepared && messages) {
      writer.raw(messages);
      return;
    }
    // Done before Parse is written: otherwise a value that throws would leave Parse without a Bind.
    const values = (this.statement.values ?? []).map(wireValue);
    this.prepared = prepared ?? this.parse(writer, cache, name);
    writer.bind(name, values, sink ? (sink.formats ?? ALL_TEXT) : ALL_TEXT);
    if (this.needsTypes) this.describe(writer);
    writer.execute();
  }

  private parse(writer: MessageWriter, cache: StatementCache, name: string): PreparedStatement | undefined {
    writer.parse(name, this.statement.text);
    if (!name) return undefined;
    this.isNew = true;
    return cache.add(name);
  }

  /** Most sinks know the types of their columns. */
  private get needsTypes(): boolean {
    const { sink } = this.statement;
    return sink === undefined || sink.onTypes !== undefined;
  }

  private describe(writer: MessageWriter): void {
    if (this.prepared?.fields === undefined) writer.describePortal();
    else if (this.prepared.fields) this.parser?.addFields(this.prepared.fields);
  }

  /** @throws the sink's error. Each later run then describes the statement again, and fails again. */
  onFields(fields: FieldDef[]): void {
    this.parser?.addFields(fields);
    this.statement.sink?.onTypes?.(fields.map(({ dataTypeID }) => dataTypeID));
    if (this.prepared) this.prepared.fields = fields;
  }

  /** A row to collect. @throws the error of a type's parser */
  onRow(fields: (string | null)[]): void {
    this.parser?.addRow(this.parser.parseRow(fields));
  }

  /** Called when the statement has ended. @param hasFailed whether the pipeline will fail */
  complete(rowCount: number, hasFailed: boolean): void {
    this.rowCount = rowCount;
    if (this.prepared && this.prepared.fields === undefined && !hasFailed) this.prepared.fields = null;
  }

  get result(): StatementResult {
    return { rows: this.parser?.rows ?? [], rowCount: this.rowCount };
  }
}

/** Most values are texts already; node-postgres converts the others. */
function wireValue(value: unknown): WireValue {
  return typeof value === 'string' || value instanceof TextBytes
    ? value
    : (utils.prepareValue(value) ?? null);
}
