/**
 * A policy or view that refers to itself. PostgreSQL's message names the relation, which the author of the policy needs to know.
 * It is shown if the caller has rights to that relation; otherwise the message is the general one of status 500.
 */
import type { DatabaseError } from 'pg';
import type { AppError } from '../../common/errors/app-error';
import { isVisible } from '../plan/plan-context';
import type { PreparedRequest } from '../prepare/prepared-request';
import { errorWithMessage } from './error-with-message';

const INVALID_OBJECT_DEFINITION = '42P17';
/** Messages in other languages may quote differently; they are not shown. */
const RELATION_AT_END = /"(.+)"$/;

/** Null for any other error, and for a relation that is hidden from the caller. */
export function recursionOf(error: DatabaseError, role: string, prepared: PreparedRequest): AppError | null {
  if (error.code !== INVALID_OBJECT_DEFINITION) return null;
  const name = RELATION_AT_END.exec(error.message)?.[1];
  if (
    name === undefined ||
    !isVisible({ catalog: prepared.catalog, role }, { schema: prepared.schema, name })
  ) {
    return null;
  }
  return errorWithMessage(error, error.message);
}
