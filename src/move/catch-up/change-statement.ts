/** Makes the statement that repeats a change of the source on the target. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import { type Statement, TextBytes } from '../../pg-pipeline';
import { changeNotFollowed, schemaChanged } from '../move.errors';
import type { FollowedTable } from './followed-tables';
import type { LogicalMessage, Value as ValueOf } from '../../replication/pgoutput';

/** Bytes above which a value is passed on unchanged. */
const MAX_DECODED = 64 * 1024;

export type MovedText = string | TextBytes;
type Value = ValueOf<MovedText>;

export const toMovedText = (value: Buffer): MovedText =>
  value.length > MAX_DECODED ? new TextBytes(value) : value.toString();

type RowChange = Extract<LogicalMessage<MovedText>, { kind: 'insert' | 'update' | 'delete' }>;

export class ChangedTable {
  private readonly target: string;
  private readonly keys: readonly { readonly at: number; readonly condition: string }[];

  /** @throws AppError 409 when the columns differ from the columns that were copied */
  constructor(
    private readonly table: FollowedTable,
    private readonly columns: readonly string[],
  ) {
    if (columns.join('\0') !== table.columns.join('\0')) throw schemaChanged();
    this.target = quoteQualified(table.schema, table.name);
    this.keys = table.keys.map(({ name, operator }) => ({
      at: columns.indexOf(name),
      condition: `${quoteIdentifier(name)} ${operator}`,
    }));
  }

  /** The relation, for TRUNCATE. */
  get name(): string {
    return `only ${this.target}`;
  }

  /** @returns null if there is nothing to do; otherwise it changes exactly one row */
  statementFor(change: RowChange): Statement | null {
    switch (change.kind) {
      case 'insert':
        return this.insert(change.row);
      case 'update':
        return this.update(change.old ?? change.row, change.row);
      case 'delete':
        return this.named(
          'd',
          (place) => `delete from only ${this.target} where ${this.match(change.old, place)}`,
        );
    }
  }

  private insert(row: readonly Value[]): Statement {
    const list = this.columns.map(quoteIdentifier).join(', ');
    return this.named('i', (place) => {
      const values = row.map(place).join(', ');
      // As in COPY, values of GENERATED ALWAYS columns are kept.
      return `insert into ${this.target} (${list}) overriding system value values (${values})`;
    });
  }

  private update(old: readonly Value[], row: readonly Value[]): Statement | null {
    const { generated } = this.table;
    if (this.keys.some(({ at }) => generated.includes(this.columns[at] ?? '') && !isSame(old[at], row[at])))
      throw changeNotFollowed(this.table.schema, this.table.name);
    const changed = this.columns.flatMap((name, at) =>
      row[at] === undefined || generated.includes(name) ? [] : [{ name, value: row[at] }],
    );
    if (changed.length === 0) return null;
    // The text depends on which columns are left out.
    const kind = `u${changed.map(({ name }) => this.columns.indexOf(name)).join(',')}`;
    return this.named(changed.length === this.columns.length ? 'u' : kind, (place) => {
      const list = changed.map(({ name, value }) => `${quoteIdentifier(name)} = ${place(value)}`).join(', ');
      return `update only ${this.target} set ${list} where ${this.match(old, place)}`;
    });
  }

  private match(row: readonly Value[], place: (value: Value) => string): string {
    return this.keys.map(({ at, condition }) => `${condition} ${place(row[at])}`).join(' and ');
  }

  /** @param kind identifies the text among the statements of this table */
  private named(kind: string, textOf: (place: (value: Value) => string) => string): Statement {
    const values: Value[] = [];
    const text = textOf((value) => `$${values.push(value ?? null)}`);
    const name = `${this.table.id}:${kind}`;
    return name.length < MAX_NAME ? { text, values, name } : { text, values };
  }
}

const isSame = (a: Value, b: Value): boolean =>
  a instanceof TextBytes && b instanceof TextBytes ? a.bytes.equals(b.bytes) : a === b;

/** PostgreSQL truncates names of 64 bytes and more, so two of them could become one. */
const MAX_NAME = 60;
