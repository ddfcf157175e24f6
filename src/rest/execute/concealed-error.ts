/**
 * Errors whose text names what the caller has no rights to: a table that refers to the one asked for, or one that a
 * policy, view or function looks into. They keep status and SQLSTATE and lose the names.
 */
import type { DatabaseError } from 'pg';
import type { AppError } from '../../common/errors/app-error';
import { isVisible } from '../plan/plan-context';
import type { PreparedRequest } from '../prepare/prepared-request';
import { errorWithMessage } from './error-with-message';

/** Where in PostgreSQL a missing privilege is reported; unlike the message, the same in every language. */
const MISSING_PRIVILEGE = 'aclcheck_error';

/** Null for an error that tells nothing. */
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

/** The client named the requested itself, and learns nothing. Other languages' words are not looked at. */
function isAbout(requested: string, message: string): boolean {
  const [, name] =
    /^permission denied for (?:table|view|materialized view|foreign table|function) (.*)$/s.exec(message) ??
    [];
  return name === requested;
}
