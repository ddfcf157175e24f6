/** The only functions that put a name into SQL text. Values are always parameters. */

/**
 * Quotes an SQL identifier (PostgreSQL manual, 4.1.1).
 * @throws TypeError when the name is empty or holds a NUL, which PostgreSQL cannot represent.
 */
export function quoteIdentifier(name: string): string {
  if (name.length === 0 || name.includes('\0')) throw new TypeError('not an SQL identifier');
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes `schema.name`. */
export function quoteQualified(schema: string, name: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

/**
 * Quotes a string literal for the few utility statements that take no parameters (CREATE ROLE ... PASSWORD, ALTER
 * DATABASE ... SET). Everything else binds parameters.
 */
export function quoteLiteral(value: string): string {
  if (value.includes('\0')) throw new TypeError('not an SQL literal');
  const escaped = value.replaceAll("'", "''").replaceAll('\\', '\\\\');
  return value.includes('\\') ? ` E'${escaped}'` : `'${escaped}'`;
}
