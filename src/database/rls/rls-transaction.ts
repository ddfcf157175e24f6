/**
 * The door: the only way to a project's data. It opens the transaction, sets role, claims and request facts, runs,
 * and commits; a connection in doubt is destroyed. A request of one statement costs one round trip (docs/rls-door.md).
 */
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { AppError } from '../../common/errors/app-error';
import { PipelinedQuery, Statement, StatementResult } from '../pools/pipelined-query';
import { PooledConnection } from '../pools/pooled-connection';
import { ProjectDatabase } from '../pools/project-database';
import { ProjectPools } from '../pools/project-pools';
import {
  contextStatement,
  SECOND_FACTOR_SQLSTATE,
  SESSION_REVOKED_SQLSTATE,
  SYSTEM_CONTEXT,
} from './context-statement';
import { ContextSettings, RlsContext } from './rls-context';

/** Runs statements inside an open transaction. */
export interface TransactionScope {
  /** One statement, one round trip. */
  query(statement: Statement): Promise<StatementResult>;
  /** Several statements in one round trip; the first that fails ends the transaction. */
  batch(statements: readonly Statement[]): Promise<StatementResult[]>;
}

/** How the taker of a stream of rows slows it down or stops it. */
export interface FlowControl {
  pause(): void;
  resume(): void;
  cancel(): Promise<void>;
  /** As PooledConnection.beginStream(). @throws AppError 503 */
  beginStream(client: string, end: () => void): void;
}

/** Whoever takes rows while they come, before it is certain that they count. */
export interface StreamTaker {
  /** Before the first row. */
  onStart(control: FlowControl): void;
  /** The statements are about to run once more: forgets what came. False when that is on its way to the client already. */
  onRepeat(): boolean;
}

const NO_TAKER: StreamTaker = { onStart: () => undefined, onRepeat: () => true };

/** What a prepared statement fails with after DDL changed its result: safe to repeat, for nothing was committed. */
const STALE_PLAN_SQLSTATES = new Set(['0A000', '26000']);

@Injectable()
export class RlsTransaction {
  constructor(private readonly pools: ProjectPools) {}

  /** Runs one statement in the caller's context: one round trip, one implicit transaction. */
  async query(
    context: RlsContext,
    statement: Statement,
    settings?: ContextSettings,
  ): Promise<StatementResult> {
    const [result] = await this.batch(context, [statement], settings);
    return result as StatementResult;
  }

  /** Runs statements known beforehand in the caller's context, all or none, in one round trip. */
  async batch(
    context: RlsContext,
    statements: readonly Statement[],
    settings?: ContextSettings,
  ): Promise<StatementResult[]> {
    const all = inContext(context, statements, settings);
    const own = all.length - statements.length;
    return this.pools.use(context.database, (connection) => pipelineOnce(connection, all, own));
  }

  /**
   * Like batch(), but tells while it runs how to slow it down or stop it: for results that flow on to a client.
   */
  async stream(
    context: RlsContext,
    statements: readonly Statement[],
    settings: ContextSettings,
    taker: StreamTaker,
  ): Promise<StatementResult[]> {
    const all = inContext(context, statements, settings);
    const own = all.length - statements.length;
    return this.pools.use(context.database, async (connection) => {
      taker.onStart(connection);
      try {
        return await pipelineOnce(connection, all, own, () => taker.onRepeat());
      } finally {
        connection.resume();
      }
    });
  }

  /**
   * Like batch(), but `decide` sees the results before they are committed: it refuses by throwing, and undoes without
   * an error by answering `rollback`. Costs a second round trip.
   * @param taker of rows that flow on to a client before it is decided, as those of a read may
   */
  async deliberate(
    context: RlsContext,
    statements: readonly Statement[],
    settings: ContextSettings,
    decide: (results: StatementResult[]) => 'commit' | 'rollback',
    taker: StreamTaker = NO_TAKER,
  ): Promise<StatementResult[]> {
    const all = [{ text: 'begin' }, ...inContext(context, statements, settings)];
    const own = all.length - statements.length;
    return this.pools.use(context.database, async (connection) => {
      taker.onStart(connection);
      try {
        const results = await attributed(connection.start(all), own).catch(async (error: unknown) => {
          if (!isStalePlan(error) || !taker.onRepeat()) throw error;
          await rollback(connection);
          return attributed(connection.start(all.map(withoutName)), own);
        });
        await connection.pipeline([{ text: decide(results) }]);
        return results;
      } catch (error) {
        await rollback(connection);
        throw error;
      } finally {
        connection.resume();
      }
    });
  }

  /** Runs work that needs a result before it knows the next statement, in an explicit transaction. */
  async run<T>(
    context: RlsContext,
    work: (scope: TransactionScope) => Promise<T>,
    settings?: ContextSettings,
  ): Promise<T> {
    assertRole(context);
    // BEGIN and the context: an error of these two is the caller being refused.
    return this.transact(context.database, contextStatement(context, settings), 2, work);
  }

  /**
   * Runs one statement of Plinth's own bookkeeping (accounts, sessions, sweeps) as the login role, outside any
   * caller's rights.
   * @param reason why no caller's context applies; for the reader and for grep
   */
  async systemQuery(
    database: ProjectDatabase,
    reason: string,
    statement: Statement,
  ): Promise<StatementResult> {
    const [result] = await this.systemBatch(database, reason, [statement]);
    return result as StatementResult;
  }

  /** Like systemQuery, for several statements in one round trip, all or none. */
  async systemBatch(
    database: ProjectDatabase,
    _reason: string,
    statements: readonly Statement[],
  ): Promise<StatementResult[]> {
    const all = [SYSTEM_CONTEXT, ...statements];
    const results = await this.pools.use(database, (connection) => pipelineOnce(connection, all, 0));
    return results.slice(1);
  }

  /** Like systemBatch, for reading: all statements see one moment of the database, where each else sees its own. */
  async systemSnapshot(
    database: ProjectDatabase,
    _reason: string,
    statements: readonly Statement[],
  ): Promise<StatementResult[]> {
    const begin = { text: 'begin isolation level repeatable read read only' };
    const all = [begin, withoutName(SYSTEM_CONTEXT), ...statements, { text: 'commit' }];
    return this.pools.use(database, async (connection) => {
      try {
        return (await connection.pipeline(all)).slice(2, -1);
      } catch (error) {
        await rollback(connection);
        throw error;
      }
    });
  }

  /** Like systemQuery, for an explicit transaction. */
  async systemRun<T>(
    database: ProjectDatabase,
    _reason: string,
    work: (scope: TransactionScope) => Promise<T>,
  ): Promise<T> {
    return this.transact(database, SYSTEM_CONTEXT, 0, work);
  }

  private async transact<T>(
    database: ProjectDatabase,
    context: Statement,
    contextStatements: number,
    work: (scope: TransactionScope) => Promise<T>,
  ): Promise<T> {
    return this.pools.use(database, async (connection) => {
      try {
        await attributed(connection.start([{ text: 'begin' }, context]), contextStatements);
        const result = await work({
          query: async (statement) => (await connection.pipeline([statement]))[0] as StatementResult,
          batch: (statements) => connection.pipeline(statements),
        });
        await connection.pipeline([{ text: 'commit' }]);
        return result;
      } catch (error) {
        await rollback(connection);
        throw error;
      }
    });
  }
}

/** A connection whose transaction can't be ended is not used again. */
async function rollback(connection: PooledConnection): Promise<void> {
  await connection.pipeline([{ text: 'rollback' }]).catch(() => {
    connection.broken = true;
  });
}

/** `none` and the login role would leave the caller's rights behind (SET ROLE manual page). */
function assertRole(context: RlsContext): void {
  if (context.role === 'none' || context.role === context.database.user) throw callerRefused();
}

/** The statements behind those that set the caller's context. @throws AppError 401 for a role that nobody may take */
function inContext(
  context: RlsContext,
  statements: readonly Statement[],
  settings?: ContextSettings,
): Statement[] {
  assertRole(context);
  const all = [contextStatement(context, settings)];
  // Ends with the transaction as `set transaction` does, and is no error outside of a block that was begun.
  if (settings?.isolation) all.unshift({ text: `set transaction_isolation = '${settings.isolation}'` });
  for (const statement of statements) all.push(withRole(context.role, statement));
  return all;
}

/** PostgreSQL cuts names here, and two that were cut alike would be one. */
const MAX_NAME_BYTES = 63;

/** Row-level security makes plans depend on the role, so it is part of the statement's name. */
function withRole(role: string, statement: Statement): Statement {
  if (statement.name === undefined) return statement;
  const name = `${role}:${statement.name}`;
  const { text, values, onRow, columns, maxBytes } = statement;
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return { text, values, onRow, columns, maxBytes, name };
  return { text, values, onRow, columns, maxBytes, name: createHash('sha1').update(name).digest('hex') };
}

/**
 * The results of the statements behind the context's.
 * @param contextStatements how many of them are the caller's context
 * @param mayRepeat false when rows that came before the failure cannot be taken back
 */
async function pipelineOnce(
  connection: PooledConnection,
  statements: readonly Statement[],
  contextStatements: number,
  mayRepeat: () => boolean = () => true,
): Promise<StatementResult[]> {
  const query = connection.start(statements);
  try {
    return (await query.done).slice(contextStatements);
  } catch (error) {
    if (!isStalePlan(error) || !mayRepeat()) throw attribution(error, query, contextStatements);
    return attributed(connection.start(statements.map(withoutName)), contextStatements);
  }
}

function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && STALE_PLAN_SQLSTATES.has(error.code ?? '');
}

function withoutName({ name: _name, ...statement }: Statement): Statement {
  return statement;
}

/** As pipelineOnce(), without repeating. */
async function attributed(query: PipelinedQuery, contextStatements: number): Promise<StatementResult[]> {
  try {
    return (await query.done).slice(contextStatements);
  } catch (error) {
    throw attribution(error, query, contextStatements);
  }
}

/** An error of the context statement is the caller's credential being refused, not the query failing. */
function attribution(error: unknown, query: PipelinedQuery, contextStatements: number): unknown {
  const refused = error instanceof DatabaseError && query.current < contextStatements;
  if (refused && isRefusal(error)) return callerRefused(error);
  if (refused && error.code === SECOND_FACTOR_SQLSTATE) return secondFactorNeeded(error);
  return error;
}

function isRefusal(error: DatabaseError): boolean {
  // 22023: no such role; 42501: the login role may not switch to it; 22P02: the session id is no UUID.
  return [SESSION_REVOKED_SQLSTATE, '22023', '42501', '22P02'].includes(error.code ?? '');
}

function secondFactorNeeded(cause: Error): AppError {
  return new AppError({
    status: 403,
    code: 'insufficient_aal',
    message: 'A second factor is needed: verify a code and use the access token that this answers',
    database: { sqlstate: SECOND_FACTOR_SQLSTATE },
    cause,
  });
}

function callerRefused(cause?: Error): AppError {
  return new AppError({
    status: 401,
    code: 'unauthorized',
    message: 'The credentials are not valid or no longer valid',
    database: { sqlstate: 'PL401' },
    headers: { 'WWW-Authenticate': 'Bearer' },
    cause,
  });
}
