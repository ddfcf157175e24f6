/** What a request tells the database about itself, for policies and functions, and the limits it runs under. */
import type { Caller } from '../../access/caller';
import type { Statement } from '../../database/statement';
import { type ContextSettings, ISOLATION_LEVELS, type IsolationLevel } from '../../database/rls/rls-context';
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
    ...(parsed.catalog.readsRequest ? factSettings(facts) : {}),
    leavesNothing: !parsed.catalog.leavesLocks,
    search_path: searchPath([parsed.schema, ...settings.extra_search_path]),
    statement_timeout: timeoutOf(caller, parsed),
  };
  if (parsed.plan.kind === 'call' || settings.pre_request !== null) context.callsFunction = true;
  if (isReadOnly(parsed)) context.transaction_read_only = 'on';
  const isolation = isolationOf(caller, parsed);
  if (isolation) context.isolation = isolation;
  return context;
}

function factSettings({ method, path, headers }: RequestFacts): ContextSettings {
  return {
    'request.method': method,
    'request.path': path,
    'request.headers': headersJson(headers),
    'request.cookies': cookiesJson(headers.cookie),
  };
}

function searchPath(schemas: readonly string[]): string {
  return [...new Set(schemas)].map(quoteIdentifier).join(', ');
}

/** No part of the context, whose errors are the credentials': PostgreSQL says itself which zones there are. */
export function timezoneStatement(timezone: string): Statement {
  const text = `select pg_catalog.set_config('timezone', $1, true)`;
  return { name: 'rest:timezone', text, values: [timezone] };
}

/** Settings of a role that have a rule of their own. */
const HANDLED = new Set(['statement_timeout', 'default_transaction_isolation']);

/** What ALTER ROLE set for the caller's role, which PostgreSQL itself gives to those who log in alone; null for nothing. */
export function roleStatement({ role }: Caller, { catalog }: ParsedRequest): Statement | null {
  const settings = [...(catalog.roleSettings.get(role) ?? [])].filter(([name]) => !HANDLED.has(name));
  if (settings.length === 0) return null;
  const calls = settings.map((_, at) => `pg_catalog.set_config($${2 * at + 1}, $${2 * at + 2}, true)`);
  return { text: `select ${calls.join(', ')}`, values: settings.flat() };
}

/** As the time limit: the function's own, or else the role's. */
function isolationOf({ role }: Caller, { plan, catalog }: ParsedRequest): IsolationLevel | undefined {
  const ofRoutine = plan.kind === 'call' ? plan.call.routine.isolation : null;
  const level = ofRoutine ?? catalog.roleSettings.get(role)?.get('default_transaction_isolation');
  return ISOLATION_LEVELS.find((one) => one === level);
}

/** The function's own, or else what ALTER ROLE set, or else the project's setting; milliseconds unless written with a unit. */
function timeoutOf({ role, project }: Caller, { plan, catalog }: ParsedRequest): string {
  const ofRoutine = plan.kind === 'call' ? plan.call.routine.statementTimeout : null;
  return (
    ofRoutine ??
    catalog.roleSettings.get(role)?.get('statement_timeout') ??
    String(statementTimeout(project.settings, role))
  );
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
