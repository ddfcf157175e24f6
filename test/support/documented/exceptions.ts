/** What the check of documented exchanges leaves out, each with its reason. */
import type { Exchange } from './document-checker';

/** Paths that the document leaves out on purpose. */
const LEFT_OUT: readonly RegExp[] = [
  /^\/(p\/[^/]+\/)?(openapi\.(json|yaml)|rest\/v1\/?)$/, // the documents themselves
  /^\/($|tour$|(docs|console)(\/|$))/, // pages for people
  /^\/p\/[^/]+\/types\.ts$/, // a file, also for people
  /^\/v1\/auth\/[^/]+\/(reset|verify|invite)$/, // pages that mails link to
  /^\/p\/[^/]+\/auth\/v1\/(verify|callback)\/confirm$/,
  /^\/(p\/[^/]+\/)?scim\/v2\//, // SCIM, which directories know
];

const TABLE_REST = /^\/(p\/[^/]+\/)?rest\/v1(\/|$)/;

/** A fault that is none where the condition holds. */
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
 * Faults of calls of table REST that no document can avoid: what the project's own SQL decides, and media types besides
 * JSON. Generators write a function for each media type of an operation (`insertRows$Csv`), so that the documents have JSON
 * alone; docs/reference/rest.md lists the others.
 */
const OF_TABLE_REST: readonly Exception[] = [
  // PT418, or `response.status` of a function. The entry `default` would be part of every error's type, and hide the status in it.
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

/** Opened by links in mails; a POST to it is an operation. */
const PAGE = /^\/p\/[^/]+\/auth\/v1\/verify$/;

/** Forms that browsers send for a provider. */
const FORM = /^\/(p\/[^/]+\/auth\/v1\/(callback|sso\/saml\/acs)|admin\/v1\/session\/saml\/acs)$/;

export function isLeftOut({ method, path }: Exchange): boolean {
  // Preflights are answered before routing.
  if (method === 'OPTIONS') return true;
  const address = addressOf(path);
  if (method === 'POST' && FORM.test(address)) return true;
  return LEFT_OUT.some((pattern) => pattern.test(address)) || (method !== 'POST' && PAGE.test(address));
}

/** Of every answer of the administration, described once with the scheme `staff-session`. */
const ADMIN = /^\/admin\/v1\//;
const OF_STAFF_SESSIONS = /^header (cache-control|set-cookie) /;

/** The faults that are none of an exception. */
export function withoutExceptions(exchange: Exchange, faults: readonly string[]): readonly string[] {
  const address = addressOf(exchange.path);
  if (ADMIN.test(address)) return faults.filter((fault) => !OF_STAFF_SESSIONS.test(fault));
  if (!TABLE_REST.test(address)) return faults;
  const isException = (text: string): boolean =>
    OF_TABLE_REST.some(({ fault, where }) => fault.test(text) && (where?.(exchange) ?? true));
  return faults.filter((fault) => !isException(fault));
}

const addressOf = (path: string): string => path.split('?')[0] ?? '';
