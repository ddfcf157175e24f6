/**
 * Errors whose message names a table that the caller has no rights to: one that refers to the requested table, or one that a
 * policy, view or function reads. They keep status and SQLSTATE and lose the names.
 */
import type { DatabaseError } from 'pg';
import type { AppError } from '../../common/errors/app-error';
import { isVisible } from '../plan/plan-context';
import type { PreparedRequest } from '../prepare/prepared-request';
import { errorWithMessage } from './error-with-message';

/** Where in PostgreSQL a missing privilege is reported; unlike the message, the same in every language. */
const MISSING_PRIVILEGE = 'aclcheck_error';

/** Null for an error that reveals nothing. */
export function concealed(
  error: DatabaseError,
  role: string,
  { catalog, plan }: PreparedRequest,
): AppError | null {
  const { schema, table } = error;
  if (error.routine === MISSING_PRIVILEGE) {
    const requested = plan.kind === 'call' ? plan.call.routine.name : plan.relation.name;
    if (isAbout(requested, error.message)) return null;
    return errorWithMessage(error, `permission denied for '${requested}', or for something that it uses`);
  }
  if (schema === undefined || table === undefined) return null;
  const isRequested = plan.kind !== 'call' && plan.relation.schema === schema && plan.relation.name === table;
  if (isRequested || isVisible({ catalog, role }, { schema, name: table })) return null;
  return errorWithMessage(error, 'a constraint of a related table is violated');
}

/** True when the message names only what the client itself named. Messages in other languages never match. */
function isAbout(requested: string, message: string): boolean {
  const [, name] =
    /^permission denied for (?:table|view|materialized view|foreign table|function) (.*)$/s.exec(message) ??
    [];
  return name === requested;
}
