/** Status and headers of a read, and of a function's result. As PostgREST's, unless DECISIONS.md says otherwise. */
import { canonicalQuery } from '../grammar/query-string';
import type { RequestPlan } from '../plan/plan';
import type { PreparedRequest } from '../prepare/prepared-request';
import { outOfRange } from '../rest.errors';
import { contentType } from './content-type';
import { addressHeader, LONGEST_ADDRESS } from './header-text';
import type { ResponseHeaders } from './response-headers';

/**
 * The head of a read.
 * @param rows null while their number is not known yet
 * @throws AppError PL103 for an offset behind the last row
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

/** Empty for a query that is longer than a header may be; no client needs the header to read the answer. */
function contentLocation({ shape, parameters }: PreparedRequest): ResponseHeaders {
  if (lengthOfQuery(parameters) > LONGEST_ADDRESS) return {};
  const canonical = canonicalQuery(parameters);
  return addressHeader(
    'Content-Location',
    `/${encodeURIComponent(shape.target.text)}${canonical === '' ? '' : `?${canonical}`}`,
  );
}

/** Characters of the query before it is encoded, which never makes it shorter. */
function lengthOfQuery(parameters: PreparedRequest['parameters']): number {
  let length = 0;
  for (const { name, value } of parameters) length += name.length + value.length;
  return length;
}
