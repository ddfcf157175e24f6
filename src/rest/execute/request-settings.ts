/** What a request tells the database about itself, for policies and functions, and the limits it runs under. */
import type { Caller } from '../../access/caller';
import type { Statement } from '../../database/pools/pipelined-query';
import type { ContextSettings } from '../../database/rls/rls-context';
import { quoteIdentifier } from '../../database/sql/identifier';
import { statementTimeout } from '../../projects/project-settings';
import type { RequestHeaders } from '../grammar/rest-request';
import type { ParsedRequest } from '../query-parser.service';

/** The request as it came in. */
export interface RequestFacts {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  readonly headers: RequestHeaders;
}

export function settingsOf(caller: Caller, parsed: ParsedRequest, facts: RequestFacts): ContextSettings {
  const { settings } = caller.project;
  const context: ContextSettings = {
    'request.method': facts.method,
    'request.path': facts.path,
    'request.headers': headersJson(facts.headers),
    'request.cookies': cookiesJson(facts.headers.cookie),
    search_path: [parsed.schema, ...settings.extra_search_path].map(quoteIdentifier).join(', '),
    statement_timeout: timeoutOf(caller, parsed),
  };
  // A function of the project may have set them for the whole session: for whoever has the connection next.
  if (parsed.catalog.setsResponse) Object.assign(context, { 'response.headers': '', 'response.status': '' });
  if (isReadOnly(parsed)) context.transaction_read_only = 'on';
  return context;
}

/** No part of the context, whose errors are the credentials': PostgreSQL says itself which zones there are. */
export function timezoneStatement(timezone: string): Statement {
  const text = `select pg_catalog.set_config('timezone', $1, true)`;
  return { name: 'rest:timezone', text, values: [timezone] };
}

/** The function's own, or else what ALTER ROLE set, or else the project's setting; milliseconds unless written with a unit. */
function timeoutOf({ role, project }: Caller, { plan, catalog }: ParsedRequest): string {
  const ofRoutine = plan.kind === 'call' ? plan.call.routine.statementTimeout : null;
  return ofRoutine ?? catalog.roleTimeouts.get(role) ?? String(statementTimeout(project.settings, role));
}

/** Reads write nothing, whatever functions they go through; nor do functions that say they don't. */
function isReadOnly({ plan, request }: ParsedRequest): boolean {
  if (plan.kind === 'read') return true;
  if (plan.kind === 'write') return false;
  return request.method !== 'POST' || plan.call.routine.volatility !== 'volatile';
}

function headersJson(headers: RequestHeaders): string {
  return JSON.stringify(headers);
}

/** RFC 6265, 4.2.1. */
function cookiesJson(header: RequestHeaders[string]): string {
  if (header === undefined) return '{}';
  const text = typeof header === 'string' ? header : header.join('; ');
  const pairs = text.split(';').map((pair) => {
    const equals = pair.indexOf('=');
    return equals < 0 ? [pair.trim(), ''] : [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  });
  return JSON.stringify(Object.fromEntries(pairs));
}
