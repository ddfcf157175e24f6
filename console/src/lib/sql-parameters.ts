/** Parameters of a statement, `:name` or `$1`, whose values are sent separately. Pure. */
import { QUOTED } from './sql-danger';

export interface Parameters {
  /** Parameters as written, such as `:id` or `$2`, in the order of their first use. */
  readonly names: readonly string[];
  /** The statement with only `$1`, `$2`. Characters after a parameter keep their position if possible. */
  readonly sql: string;
  /** The values in the order of the numbers in the statement. */
  readonly valuesOf: (values: ReadonlyMap<string, string | null>) => (string | null)[];
}

/** `:name` must not follow a name, a bracket or a colon: `a::int`, `a[1:n]` and `:=` contain no parameters. */
const PARAMETER = /(?<![\w$:\])]):([a-z_]\w*)|(?<![\w$])\$([1-9]\d{0,3})(?!\w)/gi;
/** Statements whose bodies have parameters that are not sent. */
const WITH_OWN = /^\s*(create\b[^;]*?\b(function|procedure)\b|prepare\b)/i;

export function parametersOf(sql: string): Parameters | null {
  const hidden = sql.replace(QUOTED, (part) => part.replaceAll(/[^\n]/g, ' '));
  if (WITH_OWN.test(hidden)) return null;
  const found = [...hidden.matchAll(PARAMETER)];
  if (found.length === 0) return null;
  const names = [...new Set(found.map(([name]) => name))];
  const own = names.filter((name) => name.startsWith('$')).map((name) => Number(name.slice(1)));
  let last = Math.max(0, ...own);
  const numbers = new Map(
    names.map((name) => [name, name.startsWith('$') ? Number(name.slice(1)) : ++last] as const),
  );
  let written = '';
  let from = 0;
  for (const { 0: name, index } of found) {
    written += sql.slice(from, index) + `$${numbers.get(name)}`.padEnd(name.length);
    from = index + name.length;
  }
  return {
    names,
    sql: written + sql.slice(from),
    valuesOf: (values) => {
      const list = Array.from<string | null>({ length: last }).fill(null);
      for (const [name, number] of numbers) list[number - 1] = values.get(name) ?? null;
      return list;
    },
  };
}
