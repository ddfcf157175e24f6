/** Names and values in SQL. Every statement that the console writes is shown before it runs. */

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function qualified(schema: string, name: string): string {
  return `${identifier(schema)}.${identifier(name)}`;
}

/** A string constant. The escape form is used if a backslash occurs, so that `standard_conforming_strings` does not matter. */
export function literal(value: string): string {
  const quoted = value.replaceAll("'", "''");
  return value.includes('\\') ? `E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`;
}
