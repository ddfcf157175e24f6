/** Questions of the grid to table REST: filters and sort as URL parameters, and pages by keyset. Pure. */
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

/** A column of the order. Conditions on null would keep the database from using an index where there is none. */
interface Term extends Sort {
  readonly nullable: boolean;
}

/** Values as PostgreSQL prints them. */
export type Row = Readonly<Record<string, string | null>>;

export interface GridQuery {
  readonly filters: readonly Filter[];
  readonly sort: Sort | null;
}

/** The place of a page: after a row, or an offset where no key identifies rows. */
export type Place = { readonly after: Row } | { readonly offset: number } | null;

export const PAGE_ROWS = 100;

/** A name in a parameter of table REST. */
function name(column: string): string {
  return `"${column.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** A value within a logical condition, where commas and parentheses have a meaning. */
function quoted(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Columns as text, so that no digit of a bigint or numeric is lost in JavaScript. */
export function selectOf(columns: readonly Column[]): string {
  return columns.map((column) => `${name(column.name)}::text`).join(',');
}

/** Sort columns with the key last, which makes the order total. */
function orderOf({ primaryKey, columns }: Ordered, sort: Sort | null): readonly Term[] {
  const key = primaryKey
    .filter((column) => column !== sort?.column)
    .map((column) => ({ column, descending: false, nullable: false }));
  if (!sort) return key;
  const { nullable = true } = columns.find(({ name: one }) => one === sort.column) ?? {};
  return [{ ...sort, nullable }, ...key];
}

function conditionOf({ column, operator, value }: Filter): string {
  if (operator === 'in') return `${name(column)}.in.(${value})`;
  if (operator === 'ilike')
    return `${name(column)}.ilike.${quoted(value.includes('*') ? value : `*${value}*`)}`;
  if (operator === 'is') return `${name(column)}.is.${value}`;
  return `${name(column)}.${operator}.${quoted(value)}`;
}

/**
 * The rows after a row in the given order, nulls last in both directions: for `a, b` these are the rows with a greater `a`, or
 * an equal `a` and a greater `b`.
 */
function afterRow(order: readonly Term[], row: Row): string {
  const alternatives = order.flatMap(({ column, descending, nullable }, index) => {
    const value = row[column] ?? null;
    // Nothing comes after null but rows that differ in the later columns.
    if (value === null) return [];
    const equal = order.slice(0, index).map((one) => equalTo(one.column, row[one.column] ?? null));
    const beyond = `${name(column)}.${descending ? 'lt' : 'gt'}.${quoted(value)}`;
    return [...(nullable ? [`${name(column)}.is.null`] : []), beyond].map((last) => allOf([...equal, last]));
  });
  return `or(${alternatives.join(',')})`;
}

function equalTo(column: string, value: string | null): string {
  return value === null ? `${name(column)}.is.null` : `${name(column)}.eq.${quoted(value)}`;
}

function allOf(conditions: readonly string[]): string {
  return conditions.length === 1 ? conditions[0]! : `and(${conditions.join(',')})`;
}

/** The parameters of one page. */
export function pageParameters(
  relation: Ordered,
  { filters, sort }: GridQuery,
  place: Place,
): URLSearchParams {
  const parameters = new URLSearchParams({ select: selectOf(relation.columns), limit: String(PAGE_ROWS) });
  const order = orderOf(relation, sort);
  if (order.length > 0) {
    const termOf = ({ column, descending, nullable }: Term): string =>
      `${name(column)}.${descending ? 'desc' : 'asc'}${nullable ? '.nullslast' : ''}`;
    parameters.set('order', order.map(termOf).join(','));
  }
  const conditions = filters.map(conditionOf);
  if (place && 'after' in place) conditions.push(afterRow(order, place.after));
  if (place && 'offset' in place) parameters.set('offset', String(place.offset));
  if (conditions.length > 0) parameters.set('and', `(${conditions.join(',')})`);
  return parameters;
}

/** The place of the page after these rows; null if they were the last. */
export function placeAfter(
  relation: Pick<Relation, 'primaryKey'>,
  rows: readonly Row[],
  offset: number,
): Place {
  const last = rows.at(-1);
  if (!last || rows.length < PAGE_ROWS) return null;
  return relation.primaryKey.length > 0 ? { after: last } : { offset: offset + rows.length };
}

/** The parameters that name one row by its key. */
export function rowParameters(primaryKey: readonly string[], row: Row): URLSearchParams {
  const conditions = primaryKey.map((column) => equalTo(column, row[column] ?? null));
  return new URLSearchParams({ and: `(${conditions.join(',')})` });
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
