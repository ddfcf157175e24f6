/** Statements that complete the caller's context: time zone, settings of the role, the project's pre-request function. */
import type { Caller } from '../../access/caller';
import type { Statement } from '../../database/statement';
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type { Catalog } from '../catalog/catalog';
import type { PreparedRequest } from '../prepare/prepared-request';

/** Not a part of the context, whose errors refuse the caller: PostgreSQL itself says which time zones there are. */
export function timezoneStatement(timezone: string): Statement {
  const text = `select pg_catalog.set_config('timezone', $1, true)`;
  return { name: 'rest:timezone', text, values: [timezone] };
}

/** Settings of a role that have a rule of their own. */
const HANDLED = new Set(['statement_timeout', 'default_transaction_isolation']);

/**
 * Those of the project's role_settings; else those that ALTER ROLE gave to a role of the project's own, which PostgreSQL applies at
 * login only.
 */
export function settingsOfRole({ role, project }: Caller, catalog: Catalog): ReadonlyMap<string, string> {
  const { role_settings: byRole } = project.settings;
  const ofProject = Object.hasOwn(byRole, role) ? byRole[role] : undefined;
  const ofCatalog = catalog.roleSettings.get(role) ?? NONE;
  return ofProject ? new Map([...ofCatalog, ...Object.entries(ofProject)]) : ofCatalog;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** Null without any. */
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
