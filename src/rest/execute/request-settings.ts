/** The settings of a request's transaction: facts about the request, for policies and functions, and its limits. */
import type { Caller } from '../../access/caller';
import { type ContextSettings, ISOLATION_LEVELS, type IsolationLevel } from '../../database/rls/rls-context';
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type { RequestContext } from '../../http/request-context';
import { withoutStaffCookie } from '../../http/staff-cookie';
import { statementTimeout } from '../../projects/project-settings';
import type { RequestHeaders } from '../grammar/rest-request';
import type { PreparedRequest } from '../prepare/prepared-request';
import type { Statement } from '../../database/statement';
import type { Catalog } from '../catalog/catalog';

/** The request as it came in. */
export interface RequestFacts {
  readonly method: string;
  /** The path without the query string. */
  readonly path: string;
  readonly headers: RequestHeaders;
}

/** The sender of a request, and the request's own facts. */
export interface RequestSender {
  readonly caller: Caller;
  readonly facts: RequestFacts;
  /** Where the statement and its time are recorded. */
  readonly context: RequestContext;
}

export function settingsOf({ caller, facts }: RequestSender, prepared: PreparedRequest): ContextSettings {
  const { settings } = caller.project;
  const context: ContextSettings = {
    ...(prepared.catalog.readsRequest ? factSettings(facts) : {}),
    leavesNothing: !prepared.catalog.leavesLocks,
    search_path: searchPath([prepared.schema, ...settings.extra_search_path]),
    statement_timeout: timeoutOf(caller, prepared),
  };
  if (prepared.plan.kind === 'call' || settings.pre_request !== null) context.callsFunction = true;
  if (isReadOnly(prepared)) context.transaction_read_only = 'on';
  const isolation = isolationOf(caller, prepared);
  if (isolation) context.isolation = isolation;
  return context;
}

function factSettings({ method, path, headers: sent }: RequestFacts): ContextSettings {
  const headers = { ...sent, cookie: withoutStaffCookie(textOf(sent.cookie)) };
  return {
    'request.method': method,
    'request.path': path,
    'request.headers': JSON.stringify(headers),
    'request.cookies': cookiesJson(headers.cookie),
  };
}

function searchPath(schemas: readonly string[]): string {
  return [...new Set(schemas)].map(quoteIdentifier).join(', ');
}

/** Used as the time limit: the function's own, or else the role's. */
function isolationOf(caller: Caller, { plan, catalog }: PreparedRequest): IsolationLevel | undefined {
  const ofRoutine = plan.kind === 'call' ? plan.call.routine.isolation : null;
  const level = ofRoutine ?? settingsOfRole(caller, catalog).get('default_transaction_isolation');
  return ISOLATION_LEVELS.find((one) => one === level);
}

/**
 * The function's own timeout, or else that of ALTER ROLE for one of the project's roles, or else the
 * project's setting; milliseconds unless written with a unit.
 */
function timeoutOf(caller: Caller, { plan, catalog }: PreparedRequest): string {
  const ofRoutine = plan.kind === 'call' ? plan.call.routine.statementTimeout : null;
  return (
    ofRoutine ??
    settingsOfRole(caller, catalog).get('statement_timeout') ??
    String(statementTimeout(caller.project.settings, caller.role))
  );
}

/** Reads must not write, even through functions; neither must functions that are declared stable or immutable. */
export function isReadOnly({ plan, shape }: Pick<PreparedRequest, 'plan' | 'shape'>): boolean {
  if (plan.kind === 'read') return true;
  if (plan.kind === 'write') return false;
  return shape.method !== 'POST' || plan.call.routine.volatility !== 'volatile';
}

function textOf(header: RequestHeaders[string]): string | undefined {
  return header === undefined || typeof header === 'string' ? header : header.join('; ');
}

/** RFC 6265, 4.2.1. */
function cookiesJson(header: string | undefined): string {
  if (header === undefined) return '{}';
  const pairs = header.split(';').map((pair) => {
    const equals = pair.indexOf('=');
    return equals < 0 ? [pair.trim(), ''] : [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  });
  return JSON.stringify(Object.fromEntries(pairs));
}

/** Runs after the context statement, whose errors refuse the caller: PostgreSQL itself checks the time zone. */
export function timezoneStatement(timezone: string): Statement {
  const text = `select pg_catalog.set_config('timezone', $1, true)`;
  return { name: 'rest:timezone', text, values: [timezone] };
}

/** Settings of a role that are applied elsewhere. */
const HANDLED = new Set(['statement_timeout', 'default_transaction_isolation']);

/**
 * The project's role_settings; else the settings that ALTER ROLE gave to one of the project's roles, which PostgreSQL applies at
 * login only.
 */
function settingsOfRole({ role, project }: Caller, catalog: Catalog): ReadonlyMap<string, string> {
  const { role_settings: byRole } = project.settings;
  const ofProject = Object.hasOwn(byRole, role) ? byRole[role] : undefined;
  const ofCatalog = catalog.roleSettings.get(role) ?? NONE;
  return ofProject ? new Map([...ofCatalog, ...Object.entries(ofProject)]) : ofCatalog;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** The statement that applies the settings of the role; null if there are none. */
export function roleStatement(caller: Caller, { catalog }: PreparedRequest): Statement | null {
  const settings = [...settingsOfRole(caller, catalog)].filter(([name]) => !HANDLED.has(name));
  if (settings.length === 0) return null;
  const calls = settings.map((_, at) => `pg_catalog.set_config($${2 * at + 1}, $${2 * at + 2}, true)`);
  return { text: `select ${calls.join(', ')}`, values: settings.flat() };
}

/** @param setting the project's pre_request: a function, with or without its schema */
export function preRequestStatement(setting: string): Statement {
  const dot = setting.indexOf('.');
  const routine =
    dot < 0 ? quoteIdentifier(setting) : quoteQualified(setting.slice(0, dot), setting.slice(dot + 1));
  return { name: `rest:pre:${routine}`, text: `select ${routine}()` };
}
