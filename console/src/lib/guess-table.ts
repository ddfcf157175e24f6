/** Proposes a table for the rows of a file: names and types of its columns are guessed from a sample. Pure. */
import { BLANK_COLUMN, KEY_COLUMN, type NewColumn } from './ddl';

/**
 * Types by the texts that PostgreSQL accepts for them. A column gets the first type that accepts each value of the
 * sample.
 */
const TYPES = [
  ['boolean', /^(true|false)$/i],
  // A number with a leading zero is probably a code, which must stay text.
  ['bigint', /^-?(0|[1-9]\d{0,17})$/],
  ['numeric', /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d{1,3})?$/i],
  ['uuid', /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i],
  ['date', /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/],
  [
    'timestamptz',
    /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?$/,
  ],
] as const;

function typeOf(values: readonly string[]): string {
  if (values.length === 0) return 'text';
  const type = TYPES.find(([, pattern]) => values.every((value) => pattern.test(value)))?.[0];
  return type ?? (values.every(isJsonObject) ? 'jsonb' : 'text');
}

function isJsonObject(value: string): boolean {
  if (!/^\s*[[{]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param head names of the fields
 * @param rows a sample; null is an empty field
 */
export function guessColumns(
  head: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): NewColumn[] {
  const columns = head.map((name, field) => {
    const values = rows.map((row) => row[field] ?? null);
    const type = typeOf(values.filter((value) => value !== null));
    return { ...BLANK_COLUMN, name, type, field };
  });
  const key = columns.find(({ name }) => name.toLowerCase() === 'id');
  if (!key) return head.length === 0 ? [] : [KEY_COLUMN, ...columns];
  const values = rows.map((row) => row[key.field] ?? null);
  const isKey = !values.includes(null) && new Set(values).size === values.length;
  return columns.map((column) => (column === key ? { ...column, isKey, nullable: !isKey } : column));
}

/** The name of the file as a PostgreSQL name, for the table. */
export function tableNameOf(fileName: string): string {
  const plain = fileName
    .replace(/\.[^.]*$/, '')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return (/^\d/.test(plain) ? `t_${plain}` : plain).slice(0, 63);
}

/** Functions of newer engines that keep the text of a number, which can have more digits than a double. */
const exact = JSON as unknown as {
  readonly rawJSON?: (text: string) => object;
  readonly isRawJSON?: (value: unknown) => boolean;
};

function parsed(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' && exact.rawJSON && context?.source !== undefined
      ? exact.rawJSON(context.source)
      : value;
  return JSON.parse(text, keepDigits as Parameters<typeof JSON.parse>[1]);
}

/**
 * Converts the objects of a JSON file (an array, or one object per line) to CSV records with a header. Values
 * other than texts are written as JSON.
 * @throws SyntaxError for text that is not JSON
 */
export function recordsOfJson(text: string): (string | null)[][] {
  const objects = objectsOf(text.replace(/^\ufeff/, ''));
  const head = [...new Set(objects.flatMap((one) => Object.keys(one)))];
  const fieldOf = (one: object, name: string): string | null => {
    const value = Object.hasOwn(one, name) ? (one as Record<string, unknown>)[name] : null;
    return value === null || typeof value === 'string' ? value : JSON.stringify(value);
  };
  return [head, ...objects.map((one) => head.map((name) => fieldOf(one, name)))];
}

function objectsOf(text: string): object[] {
  const list = text.trim().startsWith('[')
    ? (parsed(text) as unknown[])
    : text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map(parsed);
  const isObject = (one: unknown): one is object =>
    typeof one === 'object' && one !== null && !Array.isArray(one) && !exact.isRawJSON?.(one);
  if (!list.every(isObject)) throw new SyntaxError('The file is no list of JSON objects');
  return list;
}
