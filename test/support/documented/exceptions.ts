/** What the check of documented exchanges leaves out, each with its reason. */
import type { Exchange } from './document-checker';

/** Paths that the document leaves out on purpose. */
const LEFT_OUT: readonly RegExp[] = [
  /^\/(p\/[^/]+\/)?(openapi\.(json|yaml)|rest\/v1\/?)$/, // the documents themselves
  /^\/($|tour$|(docs|console)(\/|$))/, // pages for people
  /^\/p\/[^/]+\/types\.ts$/, // a file, also for people
  /^\/v1\/auth\/[^/]+\/(reset|verify|invite)$/, // pages that mails link to
];

const TABLE_REST = /^\/(p\/[^/]+\/)?rest\/v1(\/|$)/;

/**
 * Faults of calls of table REST that no document can avoid: what the project's own SQL decides, and media types beside
 * JSON. Generators write a function for each media type of an operation (`insertRows$Csv`), so that the documents have JSON
 * alone; docs/rest.md lists the others.
 */
const OF_TABLE_REST: readonly RegExp[] = [
  // PT418, `response.status`. The entry `default` would be part of every error's type, and hide the status in it.
  /^status \d+ is not documented/,
  /^a request body of type (text\/(csv|plain|xml)|application\/(x-www-form-urlencoded|octet-stream)) /,
  /^\d+ with a body of type (text\/[\w.-]+|application\/(x-ndjson|geo\+json|vnd\.pgrst\.[\w.+]+)) /,
  /^204 with a body of type /, // `response.status` of a function that returns a value
  /^header set-cookie /, // `response.headers`
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
  return faults.filter((fault) => !OF_TABLE_REST.some((one) => one.test(fault)));
}

const addressOf = (path: string): string => path.split('?')[0] ?? '';
