/** Statements that complete the caller's context: time zone, settings of the role, the project's pre-request function. */
import type { Caller } from '../../access/caller';
import type { Statement } from '../../database/statement';
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import type { PreparedRequest } from '../prepare/prepared-request';

/** Not a part of the context, whose errors refuse the caller: PostgreSQL itself says which time zones there are. */
export function timezoneStatement(timezone: string): Statement {
  const text = `select pg_catalog.set_config('timezone', $1, true)`;
  return { name: 'rest:timezone', text, values: [timezone] };
}

/** Settings of a role that have a rule of their own. */
const HANDLED = new Set(['statement_timeout', 'default_transaction_isolation']);

/** The settings that ALTER ROLE gave to the caller's role; PostgreSQL applies them at login only. Null without any. */
export function roleStatement({ role }: Caller, { catalog }: PreparedRequest): Statement | null {
  const settings = [...(catalog.roleSettings.get(role) ?? [])].filter(([name]) => !HANDLED.has(name));
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
