/**
 * Sends a pipeline, and repeats it once if it failed because of state that an earlier request left in the
 * session.
 */
import { DatabaseError } from 'pg';
import { DatabaseFault } from '../../common/errors/database-fault';
import { type RunningPipeline, STALE_PLAN } from '../../pg-pipeline';
import { PooledConnection } from '../pools/pooled-connection';
import { RESET_ROLE } from '../pools/session-state';
import { INSUFFICIENT_PRIVILEGE } from '../sql/sqlstate';
import { type Statement, type StatementResult, withoutName } from '../statement';
import { SECOND_FACTOR_SQLSTATE, SESSION_REVOKED_SQLSTATE } from './context-statement';

export interface Pipeline {
  readonly statements: readonly Statement[];
  /** The number of statements, from the first, that set the caller's context: if one fails, the caller is refused. */
  readonly context: number;
  /** The number of following statements that do the work itself. */
  readonly count: number;
}

export interface Repetition {
  /** False when rows were already passed on before the failure. */
  readonly mayRepeat?: () => boolean;
  /** Rolls back the transaction that the pipeline began. */
  readonly undo?: () => Promise<void>;
  /** Sent with the pipeline; runs once the pipeline is committed. */
  readonly afterwards?: Statement | null;
}

/** The results of the work. @throws DatabaseFault caller_refused or second_factor_needed, or the driver's error */
export async function sendRepeating(
  connection: PooledConnection,
  { statements, context, count }: Pipeline,
  { mayRepeat, undo, afterwards }: Repetition = {},
): Promise<StatementResult[]> {
  const query = connection.start(statements, afterwards);
  try {
    return (await query.done).slice(context, context + count);
  } catch (error) {
    const remedy = remedyFor(connection, error, query.current < context);
    if (!remedy || mayRepeat?.() === false) throw attribution(error, query, context);
    await undo?.();
    const again = connection.start([...remedy, ...statements.map(withoutName)], afterwards);
    const skipped = context + remedy.length;
    try {
      return (await again.done).slice(skipped, skipped + count);
    } catch (second) {
      throw attribution(second, again, skipped);
    }
  }
}

/** SQLSTATEs of the errors after a function has deallocated a prepared statement of Plinth, or has taken its name. */
const PREPARED_BY_OTHERS = new Set(['26000', '42P05']);

/**
 * Statements to send before the pipeline is repeated; nothing was committed, so that is safe. Null when the request
 * itself caused the failure.
 */
function remedyFor(
  connection: PooledConnection,
  error: unknown,
  isInContext: boolean,
): readonly Statement[] | null {
  const code = error instanceof DatabaseError ? (error.code ?? '') : '';
  if (code === STALE_PLAN) return [];
  if (PREPARED_BY_OTHERS.has(code)) return [connection.deallocateAll()];
  // The session check runs as the login role: a function may have set another role for the session.
  return isInContext && code === INSUFFICIENT_PRIVILEGE ? [RESET_ROLE] : null;
}

/** An error of the context statement means that the caller's credential is refused, not that the query failed. */
function attribution(error: unknown, query: RunningPipeline, contextStatements: number): unknown {
  const refused = error instanceof DatabaseError && query.current < contextStatements;
  if (refused && isRefusal(error)) return callerRefused(error);
  if (refused && error.code === SECOND_FACTOR_SQLSTATE) return secondFactorNeeded(error);
  return error;
}

function isRefusal(error: DatabaseError): boolean {
  // 22023: no such role; 42501: the login role may not switch to it; 22P02: the session id is not a UUID.
  return [SESSION_REVOKED_SQLSTATE, '22023', INSUFFICIENT_PRIVILEGE, '22P02'].includes(error.code ?? '');
}

export function secondFactorNeeded(cause?: Error): DatabaseFault {
  return new DatabaseFault(
    'second_factor_needed',
    'A second factor is needed: verify a code and use the access token that this answers',
    cause,
  );
}

export function callerRefused(cause?: Error): DatabaseFault {
  return new DatabaseFault('caller_refused', 'The credentials are not valid or no longer valid', cause);
}
