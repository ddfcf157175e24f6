/** Values of a result as text. */

/** Keeps the texts of values that take long to convert. */
const printed = new WeakMap<object, string>();

export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return JSON.stringify(value);
  const text = printed.get(value) ?? JSON.stringify(value);
  printed.set(value, text);
  return text;
}
