/** The head of a response: status and headers of the plan, which settings of the project's SQL may override. */
import type { Response } from 'express';
import { callerOf } from '../../access/current-caller.decorator';
import type { ResponseSettings, Execution } from '../execute/execution';
import type { PreparedRequest } from '../prepare/prepared-request';
import {
  appliedPreferences,
  inAscii,
  addressHeader,
  MAX_ADDRESS_LENGTH,
  overriddenHeaders,
  overriddenStatus,
  renamedWarning,
  SANDBOX,
  VARY,
  type ResponseHeaders,
} from './response-headers';
import { canonicalQuery } from '../grammar/query-string';
import type { RequestPlan } from '../plan/plan';
import { outOfRange } from '../rest.errors';
import { isJsonObject } from '../../common/text/json';

export interface Head {
  readonly status: number;
  /** Created for one response, and extended until it is written. */
  readonly headers: ResponseHeaders;
}

/** @throws AppError PL112 for an invalid response.status */
export function statusOf({ status }: Head, settings: ResponseSettings): number {
  return overriddenStatus(settings.status) ?? status;
}

/** @throws AppError PL111 for invalid response.headers, PL112 for an invalid response.status */
export function writeHead(
  response: Response,
  { plan, profile, shape }: PreparedRequest,
  head: Head,
  settings: ResponseSettings,
): void {
  const { headers } = head;
  headers.Vary = VARY.Vary;
  const applied = appliedPreferences(plan, shape.preferences);
  if (applied.length > 0) headers['Preference-Applied'] = applied.join(', ');
  if (plan.representation.kind === 'handler') headers['Content-Security-Policy'] = SANDBOX;
  if (profile !== null) headers['Content-Profile'] = inAscii(profile);
  if (plan.renamed.length > 0) headers.Warning = renamedWarning(plan.renamed);
  const overriding = overriddenHeaders(settings.headers, () => callerOf(response.req).project.slug);
  response.writeHead(
    statusOf(head, settings),
    overriding === null ? headers : { ...without(headers, overriding), ...overriding },
  );
}

function without(headers: ResponseHeaders, others: ResponseHeaders): ResponseHeaders {
  const taken = new Set(Object.keys(others).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !taken.has(name.toLowerCase())));
}

/**
 * The head of a read.
 * @param rows null while their number is not known yet
 * @throws AppError PL103 for an offset after the last row
 */
export function readHead(
  prepared: PreparedRequest,
  rows: number | null,
  total: number | null,
): { status: number; headers: ResponseHeaders } {
  const { shape, plan } = prepared;
  const { offset } = shape.window;
  if (total !== null && offset > 0 && offset > total && rows !== null && rows === 0)
    throw outOfRange(offset, total);
  const headers: ResponseHeaders = { 'Content-Type': contentType(plan) };
  if (plan.kind === 'read') Object.assign(headers, contentLocation(prepared));
  if (rows !== null) headers['Content-Range'] = contentRange(offset, rows, total);
  else if (total !== null)
    headers['Content-Range'] = contentRange(offset, pageOf(plan, offset, total), total);
  const shown = rows ?? (total === null ? null : pageOf(plan, offset, total));
  const isPart = total !== null && shown !== null && shown < total;
  return { status: isPart ? 206 : 200, headers };
}

function pageOf({ read }: RequestPlan, offset: number, total: number): number {
  return Math.max(0, Math.min(read.limit ?? Infinity, total - offset));
}

/** RFC 9110, 14.4, with PostgREST's `*` for an empty page. */
function contentRange(offset: number, rows: number, total: number | null): string {
  const range = rows > 0 && total !== 0 ? `${offset}-${offset + rows - 1}` : '*';
  return `${range}/${total ?? '*'}`;
}

/** Empty if the query is longer than a header may be; no client needs the header to read the response. */
function contentLocation({ shape, parameters }: PreparedRequest): ResponseHeaders {
  if (lengthOfQuery(parameters) > MAX_ADDRESS_LENGTH) return {};
  const canonical = canonicalQuery(parameters);
  return addressHeader(
    'Content-Location',
    `/${encodeURIComponent(shape.target.text)}${canonical === '' ? '' : `?${canonical}`}`,
  );
}

/** Number of characters of the query before it is encoded; encoding never shortens it. */
function lengthOfQuery(parameters: PreparedRequest['parameters']): number {
  let length = 0;
  for (const { name, value } of parameters) length += name.length + value.length;
  return length;
}

/** The status of a write. */
export function writeStatus({ plan, shape }: PreparedRequest, execution: Execution): number {
  if (plan.kind !== 'write') return 200;
  const returnsRows = plan.representation.kind !== 'none';
  switch (plan.write.kind) {
    case 'insert': {
      const isMerge = plan.write.conflict?.action === 'merge';
      const isNew = !isMerge || execution.inserted > 0;
      if (shape.method === 'PUT') return returnsRows ? (isNew ? 201 : 200) : 204;
      return isNew ? 201 : 200;
    }
    case 'update':
    case 'delete':
      return returnsRows ? 200 : 204;
  }
}

export function writeHeaders({ plan, shape }: PreparedRequest, rows: number): ResponseHeaders {
  const total = shape.preferences.count === null ? '*' : String(rows);
  if (plan.kind !== 'write' || shape.method === 'PUT') return {};
  if (plan.write.kind === 'update')
    return { 'Content-Range': `${rows > 0 ? `0-${rows - 1}` : '*'}/${total}` };
  return { 'Content-Range': `*/${total}` };
}

/** Maximum bytes of the row, which contains only the key. Parsed JSON takes up to 28 times as much memory. */
const MAX_ROW_BYTES = 1024 * 1024;

/** The address of a single inserted row, by its primary key; none if it is longer than a header may be. */
export function locationHeader(
  { plan, shape }: PreparedRequest,
  first: () => Buffer | undefined,
  rows: number,
): ResponseHeaders {
  if (plan.kind !== 'write' || plan.write.kind !== 'insert') return {};
  if (shape.preferences.return !== 'headers-only' || rows !== 1) return {};
  const row = first();
  if (row === undefined || row.length > MAX_ROW_BYTES) return {};
  const value: unknown = JSON.parse(withExactNumbers(row.toString()));
  if (!isJsonObject(value)) return {};
  const filters = [...plan.relation.primaryKey].sort().map((name) => {
    const key = value[name];
    const filter =
      key === null || key === undefined
        ? 'is.null'
        : `eq.${typeof key === 'string' ? key : JSON.stringify(key)}`;
    return `${encodeURIComponent(name)}=${encodeURIComponent(filter)}`;
  });
  if (filters.length === 0) return {};
  return addressHeader('Location', `/${encodeURIComponent(plan.relation.name)}?${filters.join('&')}`);
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** JSON text in which numbers that a double cannot hold, such as large bigints, are strings. */
function withExactNumbers(json: string): string {
  return json.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${token}"`,
  );
}

/** The total in Content-Range, which includes the rows beyond the page. */
interface Counted {
  /** Number of rows in the response. */
  readonly rows: number;
  /** The number of all rows, if they were counted. */
  readonly counted: number | null;
  /** The planner's estimate of all rows. */
  readonly estimate: number | null;
}

/** The total, if the client asked for it; without a window it is the number of returned rows. */
export function totalRows(plan: RequestPlan, { rows, counted, estimate }: Counted): number | null {
  const { count, countLimit, read } = plan;
  if (count === null) return null;
  // A function that does not return a set gives one value, to which windows do not apply.
  const isWhole = isSingleValue(plan) || (read.limit === null && read.offset === 0);
  const exact = counted ?? (isWhole ? rows : null);
  if (count === 'planned') return estimate ?? exact;
  if (count === 'estimated' && estimate !== null && exact !== null && exact > (countLimit ?? Infinity)) {
    return Math.max(estimate, exact);
  }
  return exact ?? estimate;
}

function isSingleValue(plan: RequestPlan): boolean {
  return plan.kind === 'call' && !plan.call.routine.returnsSet;
}

/** PostgREST names the charset for the types that it knows itself. A project's own media types remain unchanged. */
const WITH_CHARSET = new Set([
  'application/json',
  'application/geo+json',
  'application/openapi+json',
  'text/csv',
  'text/plain',
  'text/xml',
]);

export function contentType({ contentType: type, representation }: RequestPlan): string {
  const isOpaque = representation.kind === 'handler' && !WITH_CHARSET.has(type);
  return isOpaque ? type : `${type}; charset=utf-8`;
}
