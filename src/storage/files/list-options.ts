/** Options of a list of files. */
import { parseJson } from '../../common/text/json';

export const SORT_FIELDS = ['created_at', 'size', 'filename'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

export const SORT_DIRECTIONS = ['asc', 'desc'] as const;
export type SortDirection = (typeof SORT_DIRECTIONS)[number];

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 1_000;

export interface ListOptions {
  /** Plain text that the name must contain; not case-sensitive. */
  readonly search?: string;
  /** Text that the name must begin with. */
  readonly prefix?: string;
  readonly delimiter?: '/';
  readonly sortBy?: SortField;
  readonly sortDir?: SortDirection;
  readonly limit?: number;
  readonly offset?: number;
  /** From the X-Next-Cursor header of another page; includes that page's sort order. */
  readonly cursor?: string;
}

export interface Cursor {
  readonly sortBy: SortField;
  readonly sortDir: SortDirection;
  readonly key: string;
  readonly id: string;
}

/** Ascending by default. Without a field, the newest files come first. */
export function sortOf({ sortBy, sortDir }: ListOptions): { sortBy: SortField; sortDir: SortDirection } {
  return { sortBy: sortBy ?? 'created_at', sortDir: sortDir ?? (sortBy === undefined ? 'desc' : 'asc') };
}

export function formatCursor({ sortBy, sortDir, key, id }: Cursor): string {
  return Buffer.from(JSON.stringify([sortBy, sortDir, key, id])).toString('base64url');
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The years and time zone offsets that PostgreSQL accepts. */
const INSTANT_KEY = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-](0\d|1[0-5])(:\d\d)*)$/;
const KEY_FORMAT: Readonly<Record<Exclude<SortField, 'created_at'>, RegExp>> = {
  size: /^\d{1,18}$/,
  filename: /^[^\0]+$/s,
};

/** Null for text that formatCursor() did not return. */
export function parseCursor(text: string): Cursor | null {
  const parts = parseJson(Buffer.from(text, 'base64url').toString());
  if (!Array.isArray(parts) || !parts.every((part) => typeof part === 'string')) return null;
  const [field, direction, key = '', id = ''] = parts;
  const sortBy = SORT_FIELDS.find((one) => one === field);
  const sortDir = SORT_DIRECTIONS.find((one) => one === direction);
  if (!sortBy || !sortDir) return null;
  const isKey = sortBy === 'created_at' ? isInstantKey(key) : KEY_FORMAT[sortBy].test(key);
  const isValid = isKey && UUID.test(id);
  return isValid ? { sortBy, sortDir, key, id } : null;
}

/** True for a time in the form that a list's cursor contains. */
export const isInstantKey = (key: string): boolean => INSTANT_KEY.test(key) && isDate(key);

/** False for days and hours that do not exist, such as `2026-02-30`, for which PostgreSQL would raise an error. */
function isDate(text: string): boolean {
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(Date.parse(text)) && midnight.toISOString().startsWith(day);
}
