/** Names and values in SQL. Every statement that the console writes is shown before it runs. */

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Reserved words of PostgreSQL, which must be quoted as names. */
const RESERVED = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
  concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp
  current_user default deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having
  ilike in initially inner intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not
  notnull null offset on only or order outer overlaps placing primary references returning right select session_user similar
  some symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when where window
  with`.split(/\s+/),
);

/** A name as a person would write it, quoted only if necessary. */
export function shortIdentifier(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) && !RESERVED.has(name) ? name : identifier(name);
}

export function qualified(schema: string, name: string): string {
  return `${identifier(schema)}.${identifier(name)}`;
}

/** A string constant. The escape form is used if a backslash occurs, so that `standard_conforming_strings` does not matter. */
export function literal(value: string): string {
  const quoted = value.replaceAll("'", "''");
  return value.includes('\\') ? `E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`;
}
