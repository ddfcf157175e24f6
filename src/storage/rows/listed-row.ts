/**
 * Checks the rows of a list, which are printed as JSON from PostgreSQL's bytes without being parsed: the
 * types of the columns once per statement, lengths and values for each row. StoredRow checks rows that the
 * driver parses; a value that is checked here never becomes a JavaScript value.
 */
import { int32At, int64At } from '../../row-stream/binary-values';
import type { JsonForm } from '../../row-stream/json-form';
import { JsonRow } from '../../row-stream/json-row';
import { tablesAltered } from '../storage.errors';
import { FIRST_INSTANT, LAST_INSTANT } from './stored-row';

interface Bounds {
  readonly name: string;
  readonly form: JsonForm;
  /** Minimum and maximum bytes of a value. */
  readonly min: number;
  readonly max: number;
  readonly isNullable: boolean;
  /** The bracket that a JSON value must begin with. */
  readonly opening?: number;
  /** Whether NULL leaves the member out. */
  readonly isOptional?: boolean;
}

/** Opening brackets; in ASCII the closing bracket is two code points higher. */
const OPENINGS = { object: 0x7b, texts: 0x5b } as const;
const QUOTE = 0x22;
/** Bytes of a value in PostgreSQL's binary format. */
const LENGTHS = { uuid: 16, int8: 8, instant: 8, boolean: 1 } as const;
/** PostgreSQL counts microseconds from this date. */
const EPOCH = Date.UTC(2000, 0, 1);
const [FIRST, LAST] = [(FIRST_INSTANT - EPOCH) * 1_000, (LAST_INSTANT - EPOCH) * 1_000];

/** A column of fixed length. */
export function fixed(name: string, form: keyof typeof LENGTHS): Bounds {
  return { name, form, min: LENGTHS[form], max: LENGTHS[form], isNullable: false };
}

/** @param max maximum bytes @param min minimum bytes */
export function text(name: string, max: number, min = 1): Bounds {
  return { name, form: 'text', min, max, isNullable: false };
}

/** @param max maximum bytes of the text that PostgreSQL prints */
export function json(name: string, kind: keyof typeof OPENINGS, max: number): Bounds {
  return { name, form: 'json', min: 2, max, isNullable: false, opening: OPENINGS[kind] };
}

export function nullable(bounds: Bounds): Bounds {
  return { ...bounds, isNullable: true };
}

/** The check of a value in addition to that of its length. */
const [ANY, COUNT, INSTANT, JSON_TEXT] = [0, 1, 2, 3] as const;
const KINDS: Readonly<Partial<Record<JsonForm, number>>> = { int8: COUNT, instant: INSTANT, json: JSON_TEXT };
/** The length that PostgreSQL sends for NULL. */
const NULL_LENGTH = -1;

export class ListedRow {
  /** Prints the row; the statement must request its `formats`. */
  readonly json: JsonRow;
  // Typed arrays, because a page has up to 1,000 rows: reading an object per column costs half as much as printing the row.
  private readonly min: Int32Array;
  private readonly max: Int32Array;
  private readonly kinds: Uint8Array;

  /** @param table the table that messages name */
  constructor(
    private readonly table: string,
    private readonly columns: readonly Bounds[],
  ) {
    this.json = new JsonRow(columns);
    this.min = Int32Array.from(columns, ({ min }) => min);
    this.max = Int32Array.from(columns, ({ max }) => max);
    this.kinds = Uint8Array.from(columns, ({ form }) => KINDS[form] ?? ANY);
  }

  /**
   * @param types OIDs of the columns
   * @throws AppError 500 if a column's type differs from the type that its values are read as
   */
  assertTypes(types: readonly number[]): void {
    if (!this.json.fits(types)) throw tablesAltered(`columns of storage.${this.table} have other types`);
  }

  /**
   * @param bytes contain a row as PostgreSQL sends it, from `start` on: for each column the length in four bytes, and the value
   * @throws AppError 500 for a value that Plinth does not write
   */
  assertValues(bytes: Buffer, start: number): void {
    const { min, max, kinds } = this;
    let at = start;
    for (let index = 0; index < kinds.length; index += 1) {
      const length = int32At(bytes, at);
      at += 4;
      if (length === NULL_LENGTH) {
        if (!this.columns[index]?.isNullable) throw this.refused(index);
        continue;
      }
      if (length < (min[index] as number) || length > (max[index] as number)) throw this.refused(index);
      if (kinds[index] !== ANY && !this.isValid(index, bytes, at)) throw this.refused(index);
      at += length;
    }
  }

  private isValid(index: number, bytes: Buffer, at: number): boolean {
    switch (this.kinds[index]) {
      case COUNT:
        return isBetween(int64At(bytes, at), 0, Number.MAX_SAFE_INTEGER);
      case INSTANT:
        return isBetween(int64At(bytes, at), FIRST, LAST);
      default: {
        const opening = this.columns[index]?.opening ?? NaN;
        const second = bytes[at + 1];
        return bytes[at] === opening && (second === QUOTE || second === opening + 2);
      }
    }
  }

  private refused(index: number): Error {
    return tablesAltered(
      `storage.${this.table}.${this.columns[index]?.name} holds what Plinth does not write`,
    );
  }
}

function isBetween(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}
