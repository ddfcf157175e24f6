/** Rows of a table through the project's own table REST. */
import { PLINTH_URL } from '../api/base-url';
import { assertOk } from '../api/client';
import { unreachable } from '../api/reachability';
import { type Identity, projectHeaders, SERVICE_ROLE } from '../api/identity';
import {
  type Filter,
  filterParameters,
  FIRST_PAGE,
  type GridQuery,
  isReversed,
  isCut,
  markCut,
  pageParameters,
  type Place,
  type Row,
  rowParameters,
  selectOf,
} from '../lib/grid-query';
import type { CsvRecord } from '../lib/csv';
import type { Values } from '../lib/pending-changes';
import type { Column, Relation } from './catalog-types';
import type { Project } from './projects';

/** Rows in the order of the grid. */
export interface RowPage {
  readonly rows: readonly Row[];
  /** Number of rows in the whole result if it was requested; an estimate of the database if there are many. */
  readonly total: number | null;
}

interface RowsCall {
  readonly project: Project;
  readonly relation: Relation;
  readonly identity?: Identity;
  readonly parameters?: URLSearchParams;
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** @throws ApiError if the server refuses */
export async function callRows(call: RowsCall): Promise<Response> {
  const {
    project,
    relation,
    identity = SERVICE_ROLE,
    parameters,
    method = 'GET',
    body,
    headers,
    signal,
  } = call;
  const url = `${PLINTH_URL}/p/${encodeURIComponent(project.slug)}/rest/v1/${encodeURIComponent(relation.name)}`;
  const profile = method === 'GET' ? 'Accept-Profile' : 'Content-Profile';
  const response = await fetch(parameters ? `${url}?${parameters}` : url, {
    method,
    credentials: 'omit',
    // Keeps rows out of the browser's cache.
    cache: 'no-store',
    headers: {
      ...(await projectHeaders(project.id, identity)),
      [profile]: relation.schema,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    body: body ?? null,
    signal: signal ?? null,
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable();
  });
  return assertOk(response);
}

interface PageCall {
  readonly project: Project;
  readonly relation: Relation;
  readonly identity: Identity;
  readonly query: GridQuery;
  readonly place: Place;
  readonly limit: number;
  readonly count?: 'exact' | 'estimated' | 'planned';
  readonly signal: AbortSignal;
}

/** Number of rows per request, within the project's limit. */
const PAGE_ROWS = 100;

export function pageRowsOf({ settings }: Project): number {
  return settings.max_rows ? Math.min(PAGE_ROWS, settings.max_rows) : PAGE_ROWS;
}

/** Number of characters in a page above which only the beginnings of long values are read. */
const PAGE_CHARACTERS = 4_000_000;

/** Relations with such long values that were found since the page was loaded. */
const wide = new Set<string>();

/** Values of a page that is too large are cut (`isCut`); fetchRow() reads complete values. */
export async function fetchPage(call: PageCall): Promise<RowPage> {
  const { project, relation } = call;
  const name = JSON.stringify([project.id, relation.schema, relation.name]);
  if (!wide.has(name)) {
    const page = await readPage(call, false);
    if (page) return page;
    wide.add(name);
  }
  // Reads without a limit: the beginnings of values are short, but a column of another type can be long.
  return (await readPage(call, true, Infinity))!;
}

/** @returns null if the page has more characters than `most` */
async function readPage(call: PageCall, isBrief: boolean, most = PAGE_CHARACTERS): Promise<RowPage | null> {
  const { relation, query, place, limit, count } = call;
  const response = await callRows({
    ...call,
    parameters: pageParameters(relation, query, place, limit, isBrief),
    headers: count ? { Prefer: `count=${count}` } : {},
  });
  const text = await readText(response, most);
  if (text === null) return null;
  const found = JSON.parse(text) as Row[];
  const rows = isBrief ? found.map((row) => markCut(relation, row)) : found;
  const [, total] = (response.headers.get('content-range') ?? '').split('/');
  return {
    rows: isReversed(place) ? rows.reverse() : rows,
    total: !count || total === undefined || total === '*' ? null : Number(total),
  };
}

/** @returns null if the text is longer than `most`, without reading the rest */
async function readText(response: Response, most: number): Promise<string | null> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return text;
    text += value;
    if (text.length > most) {
      await reader.cancel();
      return null;
    }
  }
}

/** The row with all of its values, if some were cut. */
export async function fetchRow(call: RowCall, row: Row): Promise<Row> {
  if (call.relation.primaryKey.length === 0 || !Object.values(row).some(isCut)) return row;
  return (await findRow(call, row)) ?? row;
}

type RowCall = Pick<PageCall, 'project' | 'relation' | 'identity'>;

/** @param key the columns of the primary key @returns null if there is no such row, or the identity may not see it */
export async function findRow(call: RowCall, key: Row): Promise<Row | null> {
  const { columns, primaryKey } = call.relation;
  const parameters = rowParameters(primaryKey, key);
  parameters.set('select', selectOf(columns));
  const [whole] = (await (await callRows({ ...call, parameters })).json()) as Row[];
  return whole ?? null;
}

interface FilteredRows {
  readonly project: Project;
  readonly relation: Relation;
  readonly filters: readonly Filter[];
}

/** Counts the rows that meet the filters, exactly. */
export async function countRows(call: FilteredRows & { signal: AbortSignal }): Promise<number> {
  const query = { filters: call.filters, sort: null };
  const place = FIRST_PAGE;
  return (
    (await fetchPage({ ...call, identity: SERVICE_ROLE, query, place, limit: 1, count: 'exact' })).total ?? 0
  );
}

/** Changes all rows that meet the filters. @throws ApiError, after a rollback, if there are more than `count` rows */
export async function changeRows(rows: FilteredRows, values: Values, count: number): Promise<void> {
  const body = rowBody(rows.relation.columns, values);
  await callRows({ ...rows, ...limitedTo(rows, count), method: 'PATCH', body });
}

/** Deletes all rows that meet the filters. @throws ApiError, after a rollback, if there are more than `count` rows */
export async function deleteRows(rows: FilteredRows, count: number): Promise<void> {
  await callRows({ ...rows, ...limitedTo(rows, count), method: 'DELETE' });
}

function limitedTo(
  { filters, relation }: FilteredRows,
  count: number,
): Pick<RowsCall, 'headers' | 'parameters'> {
  const headers = { Prefer: `return=minimal, max-affected=${count}, handling=strict` };
  return { headers, parameters: filterParameters(filters, relation) };
}

/** The JSON of a row. JSON columns are sent as typed, so that no digit is lost; PostgreSQL parses all other texts. */
export function rowBody(columns: readonly Column[], values: Values): string {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const members = Object.entries(values).map(([name, value]) => {
    const isJson = /^jsonb?$/.test(types.get(name) ?? '');
    const text = value !== null && isJson ? validJson(value) : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.join(',')}}`;
}

type InsertCall = Pick<RowsCall, 'project' | 'relation' | 'signal'>;

/**
 * Inserts records of a CSV file in one request. An empty field of a column that must not be null is an empty text.
 * @throws ApiError if the database refuses, SyntaxError for a JSON column whose text is not JSON; then no row is inserted
 */
export async function insertRecords(
  call: InsertCall,
  /** The column that each field fills; null for none. */
  head: readonly (string | null)[],
  records: readonly { readonly fields: CsvRecord }[],
): Promise<void> {
  const { columns } = call.relation;
  const required = new Set(columns.filter(({ nullable }) => !nullable).map(({ name }) => name));
  const valueOf = (name: string, field: string | null): string | null =>
    field === null && required.has(name) ? '' : field;
  const bodies = records.map(({ fields }) =>
    rowBody(
      columns,
      Object.fromEntries(
        head.flatMap((name, at) => (name === null ? [] : [[name, valueOf(name, fields[at] ?? null)]])),
      ),
    ),
  );
  const body = `[${bodies.join(',')}]`;
  await callRows({ ...call, method: 'POST', headers: { Prefer: 'return=minimal' }, body });
}

/** @throws SyntaxError if the text is not JSON */
function validJson(text: string): string {
  JSON.parse(text);
  return text;
}
