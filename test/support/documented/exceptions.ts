/** What the check of documented exchanges leaves out, each with its reason. */
import type { Exchange } from './document-checker';

/** Paths that the document leaves out on purpose. */
const LEFT_OUT: readonly RegExp[] = [
  /^\/(p\/[^/]+\/)?openapi\.(json|yaml)$/, // the documents themselves
  /^\/($|tour$|docs(\/|$))/, // pages for people
  /^\/p\/[^/]+\/types\.ts$/, // a file, also for people
  /^\/v1\/auth\/[^/]+\/(reset|verify|invite)$/, // pages that mails link to
];

const TABLE_REST = /^\/(p\/[^/]+\/)?rest\/v1(\/|$)/;

/**
 * Faults of calls of table REST. The platform's document describes them for all tables at once, so that columns, arguments
 * and handlers of media types are in the project's document only, which the tests of api-docs check.
 */
const OF_THE_PROJECT: readonly RegExp[] = [
  /^query parameter /, // columns and arguments
  /^request: /, // the same in bodies
  /^a request body of type /,
  /^\d+ with a body of type /, // handlers of media types
  /^header /, // set by functions (`response.headers`)
];

/** Gaps of the platform's document about table REST: delete a line as soon as the document says it. */
const TABLE_REST_GAPS: readonly RegExp[] = [
  /^the operation is not documented/, // the document has no call of table REST yet
  /^status \d+ is not documented/, // statuses that functions raise (PT418, `response.status`)
];

export function isLeftOut({ method, path }: Exchange): boolean {
  // Preflights are answered before routing.
  return method === 'OPTIONS' || LEFT_OUT.some((pattern) => pattern.test(addressOf(path)));
}

/** Of every answer of the administration, described once with the scheme `staff-session`. */
const ADMIN = /^\/admin\/v1\//;
const OF_STAFF_SESSIONS = /^header (cache-control|set-cookie) /;

/** The faults that are none of an exception. */
export function withoutExceptions({ path }: Exchange, faults: readonly string[]): readonly string[] {
  if (ADMIN.test(addressOf(path))) return faults.filter((fault) => !OF_STAFF_SESSIONS.test(fault));
  if (!TABLE_REST.test(addressOf(path))) return faults;
  return faults.filter((fault) => ![...OF_THE_PROJECT, ...TABLE_REST_GAPS].some((one) => one.test(fault)));
}

const addressOf = (path: string): string => path.split('?')[0] ?? '';
