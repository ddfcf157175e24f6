/** Rows of a table through the project's own table REST. */
import { PLINTH_URL } from '../api/base-url';
import { assertOk, unreachable } from '../api/client';
import { type Identity, projectHeaders, SERVICE_ROLE } from '../api/identity';
import {
  type Filter,
  filterParameters,
  FIRST_PAGE,
  type GridQuery,
  isReversed,
  pageParameters,
  type Place,
  type Row,
  rowParameters,
} from '../lib/grid-query';
import { type Pending, saved, type Values } from '../lib/pending-changes';
import type { Column, Relation } from './catalog-types';
import type { Project } from './projects';

/** Rows in the order of the grid. */
export interface RowPage {
  readonly rows: readonly Row[];
  /** Rows of the whole result if they were asked for; estimated by the database if there are many. */
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

/** @throws ApiError */
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

/** Rows of one request, as far as the project's own limit allows. */
const PAGE_ROWS = 100;

export function pageRowsOf({ settings }: Project): number {
  return settings.max_rows ? Math.min(PAGE_ROWS, settings.max_rows) : PAGE_ROWS;
}

export async function fetchPage(call: PageCall): Promise<RowPage> {
  const { relation, query, place, limit, count } = call;
  const response = await callRows({
    ...call,
    parameters: pageParameters(relation, query, place, limit),
    headers: count ? { Prefer: `count=${count}` } : {},
  });
  const rows = (await response.json()) as Row[];
  const [, total] = (response.headers.get('content-range') ?? '').split('/');
  return {
    rows: isReversed(place) ? rows.reverse() : rows,
    total: !count || total === undefined || total === '*' ? null : Number(total),
  };
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

/** Changes all rows that meet the filters. @throws ApiError, after a rollback, if they are more than `count` */
export async function changeRows(rows: FilteredRows, values: Values, count: number): Promise<void> {
  const body = rowBody(rows.relation.columns, values);
  await callRows({ ...rows, ...limitedTo(rows, count), method: 'PATCH', body });
}

/** Deletes all rows that meet the filters. @throws ApiError, after a rollback, if they are more than `count` */
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

/** The JSON of a row. JSON columns are sent as they were typed, so that no digit is lost; PostgreSQL parses all other texts. */
export function rowBody(columns: readonly Column[], values: Values): string {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const members = Object.entries(values).map(([name, value]) => {
    const isJson = /^jsonb?$/.test(types.get(name) ?? '');
    const text = value !== null && isJson ? validJson(value) : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.join(',')}}`;
}

/** @throws SyntaxError: the text is no JSON */
function validJson(text: string): string {
  JSON.parse(text);
  return text;
}

/**
 * Saves the changes one by one.
 * @param onSaved gets the changes that are left after each step, so that a failure leaves only what was not saved
 */
export async function saveChanges(
  project: Project,
  relation: Relation,
  pending: Pending,
  onSaved: (left: Pending) => void,
): Promise<void> {
  const { primaryKey, columns } = relation;
  const headers = { Prefer: 'return=minimal, max-affected=1, handling=strict' };
  let left = pending;
  for (const [key, row] of pending.deletes) {
    await callRows({
      project,
      relation,
      method: 'DELETE',
      headers,
      parameters: rowParameters(primaryKey, row),
    });
    onSaved((left = saved(left, 'delete', key)));
  }
  for (const [key, { row, values }] of pending.updates) {
    if (!pending.deletes.has(key)) {
      const parameters = rowParameters(primaryKey, row);
      await callRows({
        project,
        relation,
        method: 'PATCH',
        headers,
        parameters,
        body: rowBody(columns, values),
      });
    }
    onSaved((left = saved(left, 'update', key)));
  }
  for (const { id, values } of pending.inserts) {
    const body = rowBody(columns, values);
    await callRows({ project, relation, method: 'POST', headers: { Prefer: 'return=minimal' }, body });
    onSaved((left = saved(left, 'insert', id)));
  }
}
