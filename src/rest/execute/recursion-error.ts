/**
 * A policy or view that asks itself: PostgreSQL's message names the relation, which whoever wrote the policy has to know. It
 * passes where the caller may hear of that relation; like others that answer 500 it has no words else.
 */
import type { DatabaseError } from 'pg';
import type { AppError } from '../../common/errors/app-error';
import { isVisible } from '../plan/plan-context';
import type { PreparedRequest } from '../prepare/prepared-request';
import { errorWithMessage } from './error-with-message';

const INVALID_OBJECT_DEFINITION = '42P17';
/** A server that speaks another language than English may quote otherwise: its message stays out. */
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
