/** Built-in types, as row_to_json() writes and json_populate_record() reads them, in examples and in filters. */
import type { Schema } from './json-schema';

const INT2 = 32_767;
const TEXT: Schema = { type: 'string' };
const format = (name: string): Schema => ({ type: 'string', format: name });
const UUID = '0190d1c5-7b3e-7c64-9a51-0f5d8f6b2c11';

/** Types with the same operators. */
export type TypeFamily =
  | 'Integer'
  | 'Number'
  | 'Boolean'
  | 'Text'
  | 'Uuid'
  | 'Date'
  | 'Timestamp'
  | 'Time'
  | 'Interval'
  | 'Json'
  | 'Jsonb'
  | 'Range'
  | 'Search'
  | 'Other';

interface BuiltinType {
  readonly schema: Schema;
  /** A value for the examples of bodies and arguments, which most tables accept. */
  readonly sample: unknown;
  readonly family: TypeFamily;
}

const builtin = (family: TypeFamily, schema: Schema, sample: unknown): BuiltinType => ({
  schema,
  sample,
  family,
});
const text = (family: TypeFamily, sample: string): BuiltinType => builtin(family, TEXT, sample);

/** Formats are those of the OpenAPI format registry. Types that are not listed are written as text. */
const TYPES: Readonly<Record<string, BuiltinType>> = {
  smallint: builtin('Integer', { type: 'integer', format: 'int32', minimum: -INT2 - 1, maximum: INT2 }, 1),
  integer: builtin('Integer', { type: 'integer', format: 'int32' }, 1),
  bigint: builtin('Integer', { type: 'integer', format: 'int64' }, 1),
  oid: builtin('Integer', { type: 'integer', format: 'int64', minimum: 0 }, 1),
  real: builtin('Number', { type: 'number', format: 'float' }, 1.5),
  'double precision': builtin('Number', { type: 'number', format: 'double' }, 1.5),
  numeric: builtin('Number', { type: 'number' }, 1.5),
  money: builtin('Number', TEXT, 1.5),
  boolean: builtin('Boolean', { type: 'boolean' }, true),
  text: text('Text', 'text'),
  'character varying': text('Text', 'text'),
  character: text('Text', 'text'),
  '"char"': text('Text', 'text'),
  name: text('Text', 'text'),
  uuid: builtin('Uuid', format('uuid'), UUID),
  date: builtin('Date', format('date'), '2026-01-31'),
  'timestamp with time zone': builtin('Timestamp', format('date-time'), '2026-01-31T12:00:00Z'),
  'timestamp without time zone': builtin('Timestamp', format('date-time-local'), '2026-01-31T12:00:00'),
  'time with time zone': builtin('Time', format('time'), '12:30:00Z'),
  'time without time zone': builtin('Time', format('time-local'), '12:30:00'),
  interval: text('Interval', '1 day'),
  // Any JSON value: a schema without a type.
  json: builtin('Json', {}, {}),
  jsonb: builtin('Jsonb', {}, {}),
  inet: text('Other', '192.0.2.1'),
  cidr: text('Other', '192.0.2.0/24'),
  macaddr: text('Other', '08:00:2b:01:02:03'),
  bytea: text('Other', '\\x00'),
  point: text('Other', '(1,2)'),
  tsvector: text('Search', 'text'),
  // Only functions return these.
  record: builtin('Other', { type: 'object' }, 'text'),
  anyarray: builtin('Other', { type: 'array', items: {} }, 'text'),
  anycompatiblearray: builtin('Other', { type: 'array', items: {} }, 'text'),
};

/** Families of types, by their names without modifiers. Extensions are in whatever schema they were installed in. */
const PATTERNS: readonly (readonly [RegExp, BuiltinType])[] = [
  [/^"?any/, builtin('Other', {}, 'text')],
  [/multirange$/, text('Range', '{}')],
  [/^[a-z0-9]+range$/, text('Range', 'empty')],
  // PostGIS casts these to json as objects of GeoJSON, and reads them from text.
  [/^(.+\.)?(geometry|geography)(\(.*\))?$/, builtin('Other', {}, 'SRID=4326;POINT(10 54)')],
  [
    /^(\w+\.)?hstore$/,
    builtin('Other', { type: 'object', additionalProperties: { type: ['string', 'null'] } }, {}),
  ],
  [/^(\w+\.)?citext$/, text('Text', 'text')],
];

/** The length in `character varying(20)`, the precision in `timestamp(3) with time zone`. */
const MODIFIER = /\((\d+)(?:,-?\d+)?\)/;

/** Maximum length of an example; PostgreSQL allows 83,886,080 bits. */
const MAX_SAMPLE = 256;

/** @param name as format_type() writes it, without array brackets; domains, enums and composite types are unknown here */
export function builtinType(name: string): BuiltinType {
  const [modifier = '', size] = MODIFIER.exec(name) ?? [];
  const plain = name.replace(modifier, '');
  if (plain.startsWith('bit')) return text('Other', '1'.repeat(Math.min(Number(size ?? 1), MAX_SAMPLE)));
  if (size !== undefined && plain.startsWith('character'))
    return builtin('Text', { type: 'string', maxLength: Number(size) }, 'text'.slice(0, Number(size)));
  const known = Object.hasOwn(TYPES, plain) ? TYPES[plain] : undefined;
  return known ?? PATTERNS.find(([pattern]) => pattern.test(plain))?.[1] ?? text('Other', 'text');
}
