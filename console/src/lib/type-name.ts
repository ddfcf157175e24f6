/** Short names of types: `timestamptz` for what PostgreSQL prints as `timestamp with time zone`. Pure. */

const SHORT: readonly (readonly [RegExp, string])[] = [
  [/^timestamp(\(\d\))? with time zone/, 'timestamptz$1'],
  [/^timestamp(\(\d\))? without time zone/, 'timestamp$1'],
  [/^time(\(\d\))? with time zone/, 'timetz$1'],
  [/^time(\(\d\))? without time zone/, 'time$1'],
  [/^character varying/, 'varchar'],
  [/^character\b/, 'char'],
  [/^double precision/, 'float8'],
];

export function shortType(type: string): string {
  const found = SHORT.find(([long]) => long.test(type));
  return found ? type.replace(found[0], found[1]) : type;
}
