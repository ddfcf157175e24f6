/** A cast's type as SQL. Its words come from the client, so nothing is printed that isn't known or quoted. */
import { quoteIdentifier } from '../../database/sql/identifier';
import { castName } from '../plan/plan-cast';

/** Types whose names are keywords, or several words; quoted they would be other types. */
const KEYWORD_TYPES = new Set([
  'bigint',
  'bit',
  'bit varying',
  'boolean',
  'char',
  'char varying',
  'character',
  'character varying',
  'dec',
  'decimal',
  'double precision',
  'float',
  'int',
  'integer',
  'interval',
  'json',
  'national char',
  'national character',
  'nchar',
  'numeric',
  'real',
  'smallint',
  'time',
  'time with time zone',
  'time without time zone',
  'timestamp',
  'timestamp with time zone',
  'timestamp without time zone',
  'varchar',
]);

/** Example: `select=id::double precision`. Other names are found on the search_path, like any type's. */
export function typeName(cast: string): string {
  const name = castName(cast);
  return KEYWORD_TYPES.has(name) ? name : quoteIdentifier(name);
}
