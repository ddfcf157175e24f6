/** The ways in which a value becomes JSON, and the types to which they apply. */
import { types } from 'pg';
import { BINARY, type Format, TEXT } from '../pg-pipeline';

/**
 * - `json`: text that is JSON already.
 * - `number`: text, in quotes where JSON has no such number (`NaN`).
 * - `text`: in quotes.
 * - `utc` and `zoned`: two columns of one timestamp with time zone, first as it is, which prints nothing, then in the
 *   session's time zone.
 * - `instant`: a timestamp with time zone as Date.toISOString() prints it.
 * - The others are named after their type, whose binary format is printed.
 */
export type JsonForm =
  | 'json'
  | 'number'
  | 'text'
  | 'boolean'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'uuid'
  | 'date'
  | 'timestamp'
  | 'utc'
  | 'zoned'
  | 'instant';

const { builtins } = types;

/** The types of each form, and the format in which their values are requested. */
export const FORMS: Readonly<
  Record<JsonForm, { readonly format: Format; readonly oids: readonly number[] }>
> = {
  json: { format: TEXT, oids: [builtins.JSON, builtins.JSONB] },
  number: { format: TEXT, oids: [builtins.FLOAT4, builtins.FLOAT8, builtins.NUMERIC] },
  text: { format: BINARY, oids: [builtins.TEXT, builtins.VARCHAR, builtins.BPCHAR] },
  boolean: { format: BINARY, oids: [builtins.BOOL] },
  int2: { format: BINARY, oids: [builtins.INT2] },
  int4: { format: BINARY, oids: [builtins.INT4] },
  int8: { format: BINARY, oids: [builtins.INT8] },
  uuid: { format: BINARY, oids: [builtins.UUID] },
  date: { format: BINARY, oids: [builtins.DATE] },
  timestamp: { format: BINARY, oids: [builtins.TIMESTAMP] },
  utc: { format: BINARY, oids: [builtins.TIMESTAMPTZ] },
  zoned: { format: BINARY, oids: [builtins.TIMESTAMP] },
  instant: { format: BINARY, oids: [builtins.TIMESTAMPTZ] },
};

/** PostgreSQL's own types, as format_type() writes them without length and precision. */
const FORM_BY_NAME: ReadonlyMap<string, JsonForm> = new Map([
  ['boolean', 'boolean'],
  ['bigint', 'int8'],
  ['smallint', 'int2'],
  ['integer', 'int4'],
  ['real', 'number'],
  ['double precision', 'number'],
  ['numeric', 'number'],
  ['text', 'text'],
  ['bpchar', 'text'],
  ['character', 'text'],
  ['character varying', 'text'],
  ['uuid', 'uuid'],
  ['json', 'json'],
  ['jsonb', 'json'],
  ['date', 'date'],
  ['timestamp without time zone', 'timestamp'],
  ['timestamp with time zone', 'zoned'],
]);

/**
 * @param type as format_type() writes it: `numeric(5,2)`, but also `numeric(5,2)[]`
 * @returns null for types of which PostgreSQL has to make JSON (arrays, records, intervals ...)
 */
export function jsonFormOf(type: string): JsonForm | null {
  return FORM_BY_NAME.get(type.replace(/\([^)]*\)/, '')) ?? null;
}
