/** Status and headers of an answer. PostgREST's where DECISIONS say nothing else. */
import { isFraming, isHeader } from '../execute/custom-header';
import type { Execution } from '../execute/rest-executor.service';
import type { Preferences, RestRequest } from '../grammar/rest-request';
import { canonicalQuery } from '../grammar/query-string';
import type { RequestPlan, WriteRequestPlan } from '../plan/plan';
import type { ParsedRequest } from '../query-parser.service';
import { outOfRange, restError } from '../rest.errors';
import { addressHeader, LONGEST_ADDRESS } from './header-text';

export type AnswerHeaders = Record<string, string | string[]>;

/** What else than the address an answer depends on (RFC 9110, 12.5.5); PostgREST's value. */
export const VARY = { Vary: 'Accept, Prefer, Range' };

/**
 * The head of what was read.
 * @param rows null while nobody knows how many there will be
 */
export function readHead(
  { request, plan }: ParsedRequest,
  rows: number | null,
  total: number | null,
): { status: number; headers: AnswerHeaders } {
  const { offset } = request.window;
  if (total !== null && offset > 0 && offset > total && rows !== null && rows === 0)
    throw outOfRange(offset, total);
  const headers: AnswerHeaders = { 'Content-Type': contentType(plan) };
  if (plan.kind === 'read') Object.assign(headers, contentLocation(request));
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

/** PostgREST names the charset of the types that it knows itself; what a project makes is as its type says. */
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

/** Empty for a query that is longer than a header may be; no client needs the header to read the answer. */
function contentLocation({ target, query }: RestRequest): AnswerHeaders {
  if (lengthOfQuery(query) > LONGEST_ADDRESS) return {};
  const canonical = canonicalQuery(query.parameters);
  return addressHeader(
    'Content-Location',
    `/${encodeURIComponent(target.text)}${canonical === '' ? '' : `?${canonical}`}`,
  );
}

/** Characters of the query before it is encoded, which never makes it shorter. */
function lengthOfQuery({ parameters }: RestRequest['query']): number {
  let length = 0;
  for (const { name, value } of parameters) length += name.length + value.length;
  return length;
}

/** The status of a write. */
export function writeStatus({ plan, request }: ParsedRequest, execution: Execution): number {
  if (plan.kind !== 'write') return 200;
  const returnsRows = plan.representation.kind !== 'none';
  switch (plan.write.kind) {
    case 'insert': {
      const isMerge = plan.write.conflict?.action === 'merge';
      const isNew = !isMerge || execution.inserted > 0;
      if (request.method === 'PUT') return returnsRows ? (isNew ? 201 : 200) : 204;
      return isNew ? 201 : 200;
    }
    case 'update':
    case 'delete':
      return returnsRows ? 200 : 204;
  }
}

export function writeHeaders({ plan, request }: ParsedRequest, rows: number): AnswerHeaders {
  const total = request.preferences.count === null ? '*' : String(rows);
  if (plan.kind !== 'write' || request.method === 'PUT') return {};
  if (plan.write.kind === 'update')
    return { 'Content-Range': `${rows > 0 ? `0-${rows - 1}` : '*'}/${total}` };
  return { 'Content-Range': `*/${total}` };
}

/** The address of one inserted row, by its primary key; without it where that is longer than a header may be. */
export function location(parsed: ParsedRequest, row: string | undefined, rows: number): AnswerHeaders {
  const { plan, request } = parsed;
  if (plan.kind !== 'write' || plan.write.kind !== 'insert') return {};
  if (request.preferences.return !== 'headers-only' || rows !== 1 || row === undefined) return {};
  const value = JSON.parse(row) as Record<string, unknown>;
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

/** RFC 7240, 3: the preferences that made a difference, in PostgREST's order. */
export function appliedPreferences({ plan, request: { preferences } }: ParsedRequest): string[] {
  const isInsert = plan.kind === 'write' && plan.write.kind === 'insert' && plan.write.only === null;
  const isUpdate = plan.kind === 'write' && plan.write.kind === 'update';
  const isDelete = plan.kind === 'write' && plan.write.kind === 'delete';
  const isLimited = preferences.handling === 'strict' && (isUpdate || isDelete || plan.kind === 'call');
  const resolves = plan.kind === 'write' && plan.write.kind === 'insert' && plan.write.conflict !== null;
  const applied: string[] = [];
  const add = (name: string, value: string | number | null): void => {
    if (value !== null) applied.push(`${name}=${value}`);
  };
  add('resolution', isInsert && resolves ? preferences.resolution : null);
  add('missing', isInsert || isUpdate ? preferences.missing : null);
  add('return', plan.kind === 'write' ? returnApplied(plan, preferences) : null);
  add('count', preferences.count);
  add('tx', preferences.tx);
  add('handling', preferences.handling);
  add('timezone', preferences.timezone);
  add('max-affected', isLimited ? preferences.maxAffected : null);
  return applied;
}

function returnApplied({ rows }: WriteRequestPlan, preferences: Preferences): Preferences['return'] {
  return rows === 'withheld' ? 'minimal' : preferences.return;
}

/** What SQL set in response.status. @throws AppError PL112 */
export function overriddenStatus(status: string | null): number | null {
  if (status === null) return null;
  if (/^[2-5]\d\d$/.test(status.trim())) return Number(status);
  throw restError('PL112', { message: 'response.status guc must be a valid status code' });
}

/** What SQL set in response.headers: a list of objects with one member each; null for nothing. @throws AppError PL111 */
export function overriddenHeaders(text: string | null): AnswerHeaders | null {
  if (text === null) return null;
  const headers: AnswerHeaders = {};
  for (const [name, value] of headerPairs(text)) {
    if (isFraming(name)) continue;
    const before = headers[name];
    headers[name] = before === undefined ? value : [...[before].flat(), value];
  }
  return headers;
}

function headerPairs(text: string): [string, string][] {
  const list = parsedList(text);
  return list.map((item): [string, string] => {
    const entries = typeof item === 'object' && item !== null ? Object.entries(item) : [];
    const [name, value] = (entries[0] ?? []) as [string?, unknown?];
    if (entries.length !== 1 || name === undefined || !isHeader(name, value)) throw malformedHeaders();
    return [name, value];
  });
}

function parsedList(text: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformedHeaders();
  }
  if (!Array.isArray(value)) throw malformedHeaders();
  return value;
}

const malformedHeaders = () =>
  restError('PL111', {
    message:
      'response.headers guc must be a JSON array composed of objects with a single key and a string value',
  });
