/**
 * Rows of a list, which are printed from the bytes that PostgreSQL sends instead of being parsed. Their types are checked once
 * a statement; lengths and values here, for each row, as StoredRow does it for rows that the driver parses.
 */
import { int32At, int64At } from '../../row-stream/binary-values';
import type { JsonForm } from '../../row-stream/json-form';
import { JsonRow } from '../../row-stream/json-row';
import { tablesAltered } from '../storage.errors';
import { FIRST_INSTANT, LAST_INSTANT } from './limits';

interface Bounds {
  readonly name: string;
  readonly form: JsonForm;
  /** Bytes of a value. */
  readonly least: number;
  readonly most: number;
  readonly isNullable: boolean;
  /** The bracket that JSON must begin with. */
  readonly opening?: number;
}

/** The brackets of an object and of a list of texts; in ASCII the closing one comes two places behind. */
const OPENINGS = { object: 0x7b, texts: 0x5b } as const;
const QUOTE = 0x22;
/** Bytes in PostgreSQL's binary format. */
const LENGTHS = { uuid: 16, int8: 8, instant: 8, boolean: 1 } as const;
/** PostgreSQL counts microseconds from here. */
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

/** @param most bytes as PostgreSQL prints it */
export function json(name: string, kind: keyof typeof OPENINGS, most: number): Bounds {
  return { name, form: 'json', least: 2, most, isNullable: false, opening: OPENINGS[kind] };
}

export function nullable(bounds: Bounds): Bounds {
  return { ...bounds, isNullable: true };
}

/** What length and type do not tell of a value. */
const [ANY, COUNT, INSTANT, JSON_TEXT] = [0, 1, 2, 3] as const;
const KINDS: Readonly<Partial<Record<JsonForm, number>>> = { int8: COUNT, instant: INSTANT, json: JSON_TEXT };
/** In the place of a length. */
const NULL_LENGTH = -1;

export class ListedRow {
  /** Prints the row; its `formats` are those that the columns must be asked for in. */
  readonly json: JsonRow;
  // Lists of numbers: a thousand rows are looked at for one page, and objects for each column cost half as much as printing.
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

  /** @param types of the columns, as OIDs @throws AppError 500 when they are not those that the values are read as */
  assertTypes(types: readonly number[]): void {
    if (!this.json.fits(types)) throw tablesAltered(`columns of storage.${this.table} have other types`);
  }

  /**
   * @param bytes a row's columns as PostgreSQL sends them, from `start`: the length of each in four bytes, and its value
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
      if (kinds[index] !== ANY && !this.isFitting(index, bytes, at)) throw this.refused(index);
      at += length;
    }
  }

  private isFitting(index: number, bytes: Buffer, at: number): boolean {
    switch (this.kinds[index]) {
      case COUNT:
        return isBetween(int64At(bytes, at), 0, Number.MAX_SAFE_INTEGER);
      case INSTANT:
        return isBetween(int64At(bytes, at), FIRST, LAST);
      default: {
        const { opening = NaN } = this.columns[index] as Bounds;
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
