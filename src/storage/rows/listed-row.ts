/**
 * Checks the rows of a list, which are printed as JSON from PostgreSQL's bytes without being parsed: the types of the columns
 * once per statement, lengths and values for each row. StoredRow does the same for rows that the driver parses: a value that is checked here never becomes a value of JavaScript.
 */
import { int32At, int64At } from '../../row-stream/binary-values';
import type { JsonForm } from '../../row-stream/json-form';
import { JsonRow } from '../../row-stream/json-row';
import { tablesAltered } from '../storage.errors';
import { FIRST_INSTANT, LAST_INSTANT } from './limits';

interface Bounds {
  readonly name: string;
  readonly form: JsonForm;
  /** Minimum and maximum bytes of a value. */
  readonly least: number;
  readonly most: number;
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
  return { name, form, least: LENGTHS[form], most: LENGTHS[form], isNullable: false };
}

/** @param most bytes @param least bytes */
export function text(name: string, most: number, least = 1): Bounds {
  return { name, form: 'text', least, most, isNullable: false };
}

/** @param most bytes of the text that PostgreSQL prints */
export function json(name: string, kind: keyof typeof OPENINGS, most: number): Bounds {
  return { name, form: 'json', least: 2, most, isNullable: false, opening: OPENINGS[kind] };
}

export function nullable(bounds: Bounds): Bounds {
  return { ...bounds, isNullable: true };
}

/** Checks of a value beyond its length. */
const [ANY, COUNT, INSTANT, JSON_TEXT] = [0, 1, 2, 3] as const;
const KINDS: Readonly<Partial<Record<JsonForm, number>>> = { int8: COUNT, instant: INSTANT, json: JSON_TEXT };
/** PostgreSQL sends this length for NULL. */
const NULL_LENGTH = -1;

export class ListedRow {
  /** Prints the row; the statement must request its `formats`. */
  readonly json: JsonRow;
  // Typed arrays, because a page has up to 1,000 rows: reading an object per column costs half as much as printing the row.
  private readonly least: Int32Array;
  private readonly most: Int32Array;
  private readonly kinds: Uint8Array;

  /** @param table for messages */
  constructor(
    private readonly table: string,
    private readonly columns: readonly Bounds[],
  ) {
    this.json = new JsonRow(columns);
    this.least = Int32Array.from(columns, ({ least }) => least);
    this.most = Int32Array.from(columns, ({ most }) => most);
    this.kinds = Uint8Array.from(columns, ({ form }) => KINDS[form] ?? ANY);
  }

  /** @param types OIDs of the columns @throws AppError 500 when a column has another type than its values are read as */
  assertTypes(types: readonly number[]): void {
    if (!this.json.fits(types)) throw tablesAltered(`columns of storage.${this.table} have other types`);
  }

  /**
   * @param bytes holds a row as PostgreSQL sends it, from `start` on: for each column its length in four bytes, and the value
   * @throws AppError 500
   */
  assertValues(bytes: Buffer, start: number): void {
    const { least, most, kinds } = this;
    let at = start;
    for (let index = 0; index < kinds.length; index += 1) {
      const length = int32At(bytes, at);
      at += 4;
      if (length === NULL_LENGTH) {
        if (!this.columns[index]?.isNullable) throw this.refused(index);
        continue;
      }
      if (length < (least[index] as number) || length > (most[index] as number)) throw this.refused(index);
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

function isBetween(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
