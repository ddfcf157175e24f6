/** Exceptions from the check of documented exchanges, each with its reason. */
import type { Exchange } from './document-checker';

/** Paths that the document omits on purpose. */
const LEFT_OUT: readonly RegExp[] = [
  /^\/(p\/[^/]+\/)?(openapi\.(json|yaml)|rest\/v1\/?)$/, // the documents themselves
  /^\/($|tour$|(docs|console)(\/|$))/, // pages for people
  /^\/p\/[^/]+\/types\.ts$/, // a file, also for people
  /^\/v1\/auth\/[^/]+\/(reset|verify|invite)$/, // pages that mails link to
  /^\/p\/[^/]+\/auth\/v1\/(verify|callback)\/confirm$/,
  /^\/(p\/[^/]+\/)?scim\/v2\//, // SCIM, which directories know
];

const TABLE_REST = /^\/(p\/[^/]+\/)?rest\/v1(\/|$)/;

/** A fault that is ignored if the condition holds. */
interface Exception {
  readonly fault: RegExp;
  readonly where?: (exchange: Exchange) => boolean;
}

const isCall = ({ path }: Exchange): boolean => /\/rest\/v1\/rpc\//.test(path);

/** The SQL of the project raised an error with a status of its choice (`PTxyz`). */
function isRaised({ answer }: Exchange): boolean {
  const code: unknown = (answer.body as { code?: unknown } | undefined)?.code;
  return code === `PT${answer.status}`;
}

/**
 * Unavoidable faults in calls of table REST: results that the project's own SQL decides, and media types other than
 * JSON. Generators write a function for each media type of an operation (`insertRows$Csv`), so the documents have only
 * JSON; docs/reference/rest.md lists the others.
 */
const OF_TABLE_REST: readonly Exception[] = [
  // PT418, or `response.status` of a function. An entry `default` would be part of every error's type, and
  // hide its status.
  { fault: /^status \d+ is not documented/, where: (exchange) => isCall(exchange) || isRaised(exchange) },
  {
    fault:
      /^a request body of type (text\/(csv|plain|xml)|application\/(x-www-form-urlencoded|octet-stream)) /,
  },
  {
    fault: /^\d+ with a body of type (text\/[\w.-]+|application\/(x-ndjson|geo\+json|vnd\.pgrst\.[\w.+]+)) /,
  },
  // `response.status` of a function that returns a value.
  { fault: /^204 with a body of type /, where: isCall },
  // `response.headers`
  { fault: /^header set-cookie / },
];

/** Pages that links in mails open; a POST to them is an operation. */
const PAGE = /^\/p\/[^/]+\/auth\/v1\/verify$/;

/** Forms that browsers send for a provider. */
const FORM = /^\/(p\/[^/]+\/auth\/v1\/(callback|sso\/saml\/acs)|admin\/v1\/session\/saml\/acs)$/;

export function isLeftOut({ method, path }: Exchange): boolean {
  // Preflights are answered before the request is routed.
  if (method === 'OPTIONS') return true;
  const address = addressOf(path);
  if (method === 'POST' && FORM.test(address)) return true;
  return LEFT_OUT.some((pattern) => pattern.test(address)) || (method !== 'POST' && PAGE.test(address));
}

/** Every response of the administration can have these headers, which the scheme `staff-session` describes. */
const ADMIN = /^\/admin\/v1\//;
const OF_STAFF_SESSIONS = /^header (cache-control|set-cookie) /;

/** The faults without an exception. */
export function withoutExceptions(exchange: Exchange, faults: readonly string[]): readonly string[] {
  const address = addressOf(exchange.path);
  if (ADMIN.test(address)) return faults.filter((fault) => !OF_STAFF_SESSIONS.test(fault));
  if (!TABLE_REST.test(address)) return faults;
  const isException = (text: string): boolean =>
    OF_TABLE_REST.some(({ fault, where }) => fault.test(text) && (where?.(exchange) ?? true));
  return faults.filter((fault) => !isException(fault));
}

const addressOf = (path: string): string => path.split('?')[0] ?? '';
