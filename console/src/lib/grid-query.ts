/** Requests of the grid to table REST: filters and sort as URL parameters, and pages by keyset. Pure. */
import type { Column, Relation } from '../queries/catalog-types';

export const OPERATORS = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'ilike', 'is', 'in', 'cs'] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Filter {
  readonly column: string;
  readonly operator: Operator;
  readonly value: string;
}

export interface Sort {
  readonly column: string;
  readonly descending: boolean;
}

type Ordered = Pick<Relation, 'columns' | 'primaryKey'>;

/**
 * A column of the order. Conditions on null are omitted for columns without nulls, because they prevent the use of an
 * index.
 */
interface Term extends Sort {
  readonly nullable: boolean;
  /** Nulls come last in both directions, and first if the whole order is reversed. */
  readonly nulls: 'last' | 'first';
}

/** Values as PostgreSQL prints them. */
export type Row = Readonly<Record<string, string | null>>;

export interface GridQuery {
  readonly filters: readonly Filter[];
  readonly sort: Sort | null;
}

/**
 * The position of a page: the rows after or before a row, the last rows, or an offset. Offsets are used for relations
 * without a key, and for jumps to rows whose neighbours are not loaded.
 */
export type Place = { readonly after: Row } | { readonly before: Row } | { readonly offset: number } | 'last';

export const FIRST_PAGE: Place = { offset: 0 };

/** A name in a parameter of table REST. */
function name(column: string): string {
  return `"${column.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** A value within a logical condition, in which commas and parentheses are syntax. */
function quoted(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Columns as text, so that no digit of a bigint or numeric is lost in JavaScript. */
export function selectOf(columns: readonly Column[]): string {
  return columns.map((column) => `${name(column.name)}::text`).join(',');
}

/** PostgreSQL cuts a value that is cast to its type for identifiers after this many bytes, at a whole character. */
const CUT_BYTES = 63;
const MAX_CHARACTER_BYTES = 4;
/**
 * The mark at the end of a value that may be cut. The invisible word joiner distinguishes it from an ellipsis in the
 * data.
 */
const CUT_MARK = '\u2026\u2060';

const isLong = ({ type }: Column): boolean =>
  /^(text|json|jsonb|xml|character|bytea|tsvector)\b|\[\]$/.test(type);

/** Like selectOf(), but with only the beginnings of long values, except in the key. */
function briefSelectOf({ columns, primaryKey }: Ordered): string {
  const isCuttable = (column: Column): boolean => isLong(column) && !primaryKey.includes(column.name);
  return columns.map((column) => `${name(column.name)}::${isCuttable(column) ? 'name' : 'text'}`).join(',');
}

/** Marks values of a brief page that may be cut. */
export function markCut({ columns, primaryKey }: Ordered, row: Row): Row {
  const marked = columns
    .filter((column) => isLong(column) && !primaryKey.includes(column.name))
    .flatMap(({ name: one }): [string, string][] => {
      const value = row[one] ?? '';
      const size = new TextEncoder().encode(value).length;
      return size > CUT_BYTES - MAX_CHARACTER_BYTES ? [[one, value + CUT_MARK]] : [];
    });
  return { ...row, ...Object.fromEntries(marked) };
}

/** True if only the beginning of the value is known. */
export function isCut(value: string | null | undefined): boolean {
  return value?.endsWith(CUT_MARK) === true;
}

/** Sort columns with the key last, which makes the order total. */
function orderOf({ primaryKey, columns }: Ordered, sort: Sort | null): readonly Term[] {
  const key = primaryKey
    .filter((column) => column !== sort?.column)
    .map((column): Term => ({ column, descending: false, nullable: false, nulls: 'last' }));
  if (!sort) return key;
  const { nullable = true } = columns.find(({ name: one }) => one === sort.column) ?? {};
  return [{ ...sort, nullable, nulls: 'last' }, ...key];
}

function reversed(order: readonly Term[]): Term[] {
  return order.map((term) => ({
    ...term,
    descending: !term.descending,
    nulls: term.nulls === 'last' ? 'first' : 'last',
  }));
}

function conditionOf({ column, operator, value }: Filter): string {
  if (operator === 'in') return `${name(column)}.in.(${value})`;
  if (operator === 'ilike')
    return `${name(column)}.ilike.${quoted(value.includes('*') ? value : `*${value}*`)}`;
  if (operator === 'is') return `${name(column)}.is.${value}`;
  return `${name(column)}.${operator}.${quoted(value)}`;
}

/** The rows after a row in the given order: for `a, b` rows with a greater `a`, or an equal `a` and a greater `b`. */
function afterRow(order: readonly Term[], row: Row): string {
  const alternatives = order.flatMap((term, index) => {
    const equal = order.slice(0, index).map((one) => equalTo(one.column, row[one.column] ?? null));
    return beyond(term, row[term.column] ?? null).map((last) => allOf([...equal, last]));
  });
  return `or(${alternatives.join(',')})`;
}

/** A condition implied by `afterRow` for several columns, which an index on the first column can use. */
function boundOf([first, ...others]: readonly Term[], row: Row): string[] {
  const value = first === undefined ? null : (row[first.column] ?? null);
  if (!first || first.nullable || value === null || others.length === 0) return [];
  return [`${name(first.column)}.${first.descending ? 'lte' : 'gte'}.${quoted(value)}`];
}

/** Alternative conditions for rows after the value in this column. */
function beyond({ column, descending, nullable, nulls }: Term, value: string | null): string[] {
  if (value === null) return nulls === 'first' ? [`${name(column)}.not.is.null`] : [];
  const further = `${name(column)}.${descending ? 'lt' : 'gt'}.${quoted(value)}`;
  return nullable && nulls === 'last' ? [`${name(column)}.is.null`, further] : [further];
}

function equalTo(column: string, value: string | null): string {
  return value === null ? `${name(column)}.is.null` : `${name(column)}.eq.${quoted(value)}`;
}

function allOf(conditions: readonly string[]): string {
  return conditions.length === 1 ? conditions[0]! : `and(${conditions.join(',')})`;
}

/** True if the rows come in the reverse of the grid's order, because the page is read from its end. */
export function isReversed(place: Place): boolean {
  return place === 'last' || 'before' in place;
}

/** The parameters of one page. @param isBrief only the beginnings of long values */
export function pageParameters(
  relation: Ordered,
  { filters, sort }: GridQuery,
  place: Place,
  limit: number,
  isBrief = false,
): URLSearchParams {
  const select = isBrief ? briefSelectOf(relation) : selectOf(relation.columns);
  const parameters = new URLSearchParams({ select, limit: String(limit) });
  const forward = orderOf(relation, sort);
  const order = isReversed(place) ? reversed(forward) : forward;
  if (order.length > 0) parameters.set('order', order.map(orderTerm).join(','));
  const conditions = filters.map(conditionOf);
  if (place !== 'last') {
    if ('after' in place) conditions.push(...boundOf(order, place.after), afterRow(order, place.after));
    if ('before' in place) conditions.push(...boundOf(order, place.before), afterRow(order, place.before));
    if ('offset' in place && place.offset > 0) parameters.set('offset', String(place.offset));
  }
  if (conditions.length > 0) parameters.set('and', `(${conditions.join(',')})`);
  return parameters;
}

function orderTerm({ column, descending, nullable, nulls }: Term): string {
  return `${name(column)}.${descending ? 'desc' : 'asc'}${nullable ? `.nulls${nulls}` : ''}`;
}

/**
 * The filters for a change of all matching rows. Without filters, a condition that the key is not null, because table
 * REST requires a filter.
 */
export function filterParameters(
  filters: readonly Filter[],
  { primaryKey }: Pick<Relation, 'primaryKey'>,
): URLSearchParams {
  const conditions =
    filters.length > 0 ? filters.map(conditionOf) : primaryKey.map((column) => `${name(column)}.not.is.null`);
  return new URLSearchParams({ and: `(${conditions.join(',')})` });
}

/** The parameters that identify one row by its key. */
export function rowParameters(primaryKey: readonly string[], row: Row): URLSearchParams {
  const conditions = primaryKey.map((column) => equalTo(column, row[column] ?? null));
  return new URLSearchParams({ and: `(${conditions.join(',')})` });
}

/** Maximum characters of the values in the URL of a change. Servers and proxies limit URLs to 8 kB. */
const COMPARED_CHARACTERS = 1_500;

/** PostgreSQL compares values of these types by `=`: numbers, booleans, times, texts, enums, uuid and jsonb. */
const isComparable = ({ type, category }: Column): boolean =>
  'NBDTSE'.includes(category) || type === 'uuid' || type === 'jsonb';

/**
 * Like rowParameters(), but only if some columns still have the values that were read. Values that are long, or that
 * PostgreSQL cannot compare, are not checked.
 */
export function unchangedRowParameters(
  { primaryKey, columns }: Ordered,
  row: Row,
  changed: readonly string[],
): URLSearchParams {
  const conditions = columns
    .filter((one) => changed.includes(one.name) && !primaryKey.includes(one.name) && isComparable(one))
    .map(({ name: one }) => [one, row[one] ?? null] as const)
    .filter(([, value]) => !isCut(value) && (value?.length ?? 0) <= COMPARED_CHARACTERS);
  let left = COMPARED_CHARACTERS;
  const compared = conditions.filter(([, value]) => (left -= value?.length ?? 0) >= 0);
  const terms = [...primaryKey.map((one) => [one, row[one] ?? null] as const), ...compared];
  return new URLSearchParams({ and: `(${terms.map(([one, value]) => equalTo(one, value)).join(',')})` });
}

/** Filters in the URL of the console, so that a view of a table can be linked. */
export function filtersFromText(text: string): Filter[] {
  try {
    const parsed = JSON.parse(text) as unknown;
    return Array.isArray(parsed) ? parsed.filter(isFilter) : [];
  } catch {
    return [];
  }
}

function isFilter(value: unknown): value is Filter {
  const { column, operator, value: text } = (value ?? {}) as Partial<Record<keyof Filter, unknown>>;
  const isKnown = OPERATORS.some((one) => one === operator);
  return typeof column === 'string' && isKnown && typeof text === 'string';
}
