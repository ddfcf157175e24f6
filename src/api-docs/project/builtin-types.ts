/** JSON Schemas of PostgreSQL's own types, as row_to_json() writes them and json_populate_record() reads them. */
import type { Schema } from '../openapi/model';

const INT2 = 32_767;

/** Formats are those of the OpenAPI format registry. Types that are not listed are written as text. */
const SCHEMAS: Readonly<Record<string, Schema>> = {
  smallint: { type: 'integer', format: 'int32', minimum: -INT2 - 1, maximum: INT2 },
  integer: { type: 'integer', format: 'int32' },
  bigint: { type: 'integer', format: 'int64' },
  oid: { type: 'integer', format: 'int64', minimum: 0 },
  real: { type: 'number', format: 'float' },
  'double precision': { type: 'number', format: 'double' },
  numeric: { type: 'number' },
  boolean: { type: 'boolean' },
  uuid: { type: 'string', format: 'uuid' },
  date: { type: 'string', format: 'date' },
  'timestamp with time zone': { type: 'string', format: 'date-time' },
  'timestamp without time zone': { type: 'string', format: 'date-time-local' },
  'time with time zone': { type: 'string', format: 'time' },
  'time without time zone': { type: 'string', format: 'time-local' },
  // Any JSON value: a schema without a type.
  json: {},
  jsonb: {},
};

/** Modifiers: the length in `character varying(20)`, the precision in `timestamp(3) with time zone`. */
const MODIFIED = /^([a-z ]+?)\((\d+)(?:,-?\d+)?\)((?: [a-z ]+)?)$/;

/** Types of PostGIS, which casts them to json as objects of GeoJSON and reads them from text. */
export const isGeometry = (name: string): boolean =>
  /^(?:.+\.)?(?:geometry|geography)(?:\(.*\))?$/.test(name);

/** @param name as format_type() writes it, without array brackets */
export function builtinSchema(name: string): Schema {
  const [, type, size, rest = ''] = MODIFIED.exec(name) ?? [];
  if (type === 'character varying' || type === 'character')
    return { type: 'string', maxLength: Number(size) };
  const plain = type === undefined ? name : `${type}${rest}`;
  const known = Object.hasOwn(SCHEMAS, plain) ? SCHEMAS[plain] : undefined;
  if (known) return known;
  // The type of an extension, in whatever schema it was installed.
  if (/^(?:\w+\.)?hstore$/.test(plain))
    return { type: 'object', additionalProperties: { type: ['string', 'null'] } };
  if (isGeometry(name)) return {};
  return { type: 'string' };
}
