/** Names of the columns of a result, as members of its rows in JSON. */
import type { FieldDef } from 'pg';

/** The names in the order of the columns. A repeated name gets a number: `count`, `count_2`. */
export function columnNames(fields: readonly Pick<FieldDef, 'name'>[]): string[] {
  const taken = new Set(fields.map(({ name }) => name));
  const used = new Set<string>();
  const lastNumbers = new Map<string, number>();
  return fields.map(({ name }) => {
    if (!used.has(name)) {
      used.add(name);
      return name;
    }
    let number = (lastNumbers.get(name) ?? 1) + 1;
    while (taken.has(`${name}_${number}`)) number++;
    lastNumbers.set(name, number);
    return `${name}_${number}`;
  });
}

/** Writes rows, whose values are JSON already, as JSON objects with these members, in the order of the columns. */
export function rowWriter(names: readonly string[]): (values: readonly (string | null)[]) => string {
  const heads = names.map((name, index) => `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`);
  return (values) => `{${heads.map((head, index) => head + (values[index] ?? 'null')).join('')}}`;
}
