/**
 * The RLS door, the only way to a project's data. It opens the transaction, sets role, claims and request facts, runs
 * the statements and commits. A connection in doubt is closed. A request of one statement costs one round trip
 * (docs/rls-door.md).
 */
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { StreamConsumer } from '../../row-stream/flow-control';

import { PooledConnection } from '../pools/pooled-connection';
import { ProjectDatabase } from '../pools/project-database';
import { ProjectPools } from '../pools/project-pools';
import { RESET_AFTER_CALL, RESET_BEFORE_CALL, RESET_SETTINGS } from '../pools/session-state';
import type { Statement, StatementResult } from '../statement';
import { contextStatement, SYSTEM_CONTEXT } from './context-statement';
import { callerRefused, Pipeline, sendRepeating } from './repeating-pipeline';
import { ContextSettings, RlsContext } from './rls-context';

/** Runs statements inside an open transaction. */
export interface TransactionScope {
  /** Runs one statement in one round trip. */
  query(statement: Statement): Promise<StatementResult>;
  /** Runs several statements in one round trip; the first that fails ends the transaction. */
  batch(statements: readonly Statement[]): Promise<StatementResult[]>;
}

const NO_CONSUMER: StreamConsumer = { onStart: () => undefined, onRepeat: () => true };

@Injectable()
export class RlsTransaction {
  constructor(private readonly pools: ProjectPools) {}

  /** Runs one statement in the caller's context: one round trip, one implicit transaction. */
  async query(
    context: RlsContext,
    statement: Statement,
    settings?: ContextSettings,
  ): Promise<StatementResult> {
    return onlyOf(await this.batch(context, [statement], settings));
  }

  /** Runs statements known beforehand in the caller's context, in one transaction and one round trip. */
  async batch(
    context: RlsContext,
    statements: readonly Statement[],
    settings?: ContextSettings,
  ): Promise<StatementResult[]> {
    const pipeline = inContext(context, statements, settings);
    return this.pools.use(context.database, (connection) =>
      implicitTransaction(connection, pipeline, settings),
    );
  }

  /**
   * Like batch(), but gives the caller control to pause or abort it while it runs: for results streamed to a
   * client.
   */
  async stream(
    context: RlsContext,
    statements: readonly Statement[],
    settings: ContextSettings,
    consumer: StreamConsumer,
  ): Promise<StatementResult[]> {
    const pipeline = inContext(context, statements, settings);
    return this.pools.use(context.database, async (connection) => {
      consumer.onStart(connection);
      try {
        return await implicitTransaction(connection, pipeline, settings, () => consumer.onRepeat());
      } finally {
        connection.resume();
      }
    });
  }

  /**
   * Like batch(), but `decide` sees the results before they are committed: it refuses by throwing, and rolls
   * back without an error by returning `rollback`. Costs a second round trip.
   * @param consumer of rows that may be streamed to a client before the decision, such as those of a read
   */
  async runThenDecide(
    context: RlsContext,
    statements: readonly Statement[],
    settings: ContextSettings,
    decide: (results: StatementResult[]) => 'commit' | 'rollback',
    consumer: StreamConsumer = NO_CONSUMER,
  ): Promise<StatementResult[]> {
    const pipeline = explicitTransaction(inContext(context, statements, settings));
    return this.pools.use(context.database, async (connection) => {
      consumer.onStart(connection);
      try {
        const undo = (): Promise<void> => rollback(connection);
        const mayRepeat = (): boolean => consumer.onRepeat();
        const results = await sendRepeating(connection, pipeline, { mayRepeat, undo });
        await connection.pipeline([{ text: decide(results) }, ...connection.departure]);
        return results;
      } catch (error) {
        await rollback(connection);
        throw error;
      } finally {
        connection.resume();
      }
    });
  }

  /** Runs work in an explicit transaction, where a statement depends on the result of an earlier one. */
  async run<T>(
    context: RlsContext,
    work: (scope: TransactionScope) => Promise<T>,
    settings?: ContextSettings,
  ): Promise<T> {
    return this.transact(context.database, inContext(context, [], settings), work);
  }

  /**
   * Runs one statement of Plinth's own bookkeeping (accounts, sessions, sweeps) as the login role, outside any
   * caller's rights.
   * @param reason why no caller's context applies; it documents the call and can be found by grep
   */
  async systemQuery(
    database: ProjectDatabase,
    reason: string,
    statement: Statement,
  ): Promise<StatementResult> {
    return onlyOf(await this.systemBatch(database, reason, [statement]));
  }

  /** Like systemQuery, for several statements in one transaction and one round trip. */
  async systemBatch(
    database: ProjectDatabase,
    _reason: string,
    statements: readonly Statement[],
  ): Promise<StatementResult[]> {
    return this.pools.use(database, (connection) => implicitTransaction(connection, asSystem(statements)));
  }

  /**
   * Like systemBatch, for reading: all statements share one snapshot (REPEATABLE READ).
   * @param onBegin called when there is a connection, before the snapshot is taken
   */
  async systemSnapshot(
    database: ProjectDatabase,
    _reason: string,
    statements: readonly Statement[],
    onBegin: () => void = () => undefined,
  ): Promise<StatementResult[]> {
    const begin = { text: 'begin isolation level repeatable read read only' };
    const pipeline = explicitTransaction(asSystem(statements), begin);
    return this.pools.use(database, async (connection) => {
      const undo = (): Promise<void> => rollback(connection);
      onBegin();
      try {
        const all = extended(pipeline, [{ text: 'commit' }, ...connection.departure]);
        return await sendRepeating(connection, all, { undo });
      } catch (error) {
        await undo();
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
    return this.transact(database, asSystem([]), work);
  }

  private async transact<T>(
    database: ProjectDatabase,
    context: Pipeline,
    work: (scope: TransactionScope) => Promise<T>,
  ): Promise<T> {
    return this.pools.use(database, async (connection) => {
      try {
        await sendRepeating(connection, explicitTransaction(context), { undo: () => rollback(connection) });
        const result = await work({
          query: async (statement) => onlyOf(await connection.pipeline([statement])),
          batch: (statements) => connection.pipeline(statements),
        });
        await connection.pipeline([{ text: 'commit' }, ...connection.departure]);
        return result;
      } catch (error) {
        await rollback(connection);
        throw error;
      }
    });
  }
}

/** If the transaction can't be ended, the connection is not used again. */
async function rollback(connection: PooledConnection): Promise<void> {
  await connection.pipeline([{ text: 'rollback' }, ...connection.departure]).catch(() => {
    connection.broken = true;
  });
}

/** `none` or the login role would keep Plinth's own rights (SET ROLE manual page). */
function assertRole(context: RlsContext): void {
  if (context.role === 'none' || context.role === context.database.user) throw callerRefused();
}

/**
 * Prepends the statements that set the caller's context.
 * @throws DatabaseFault caller_refused for a forbidden role
 */
function inContext(
  context: RlsContext,
  statements: readonly Statement[],
  settings?: ContextSettings,
): Pipeline {
  assertRole(context);
  const all: Statement[] = [];
  // Lasts for the transaction like SET TRANSACTION, but raises no warning outside a transaction block.
  if (settings?.isolation) all.push({ text: `set transaction_isolation = '${settings.isolation}'` });
  all.push(RESET_SETTINGS);
  if (settings?.callsFunction) all.push(...RESET_BEFORE_CALL);
  all.push(contextStatement(context, settings));
  const before = all.length;
  for (const statement of statements) all.push(withRole(context.role, statement));
  if (settings?.callsFunction) all.push(RESET_AFTER_CALL);
  return { statements: all, context: before, count: statements.length };
}

function asSystem(statements: readonly Statement[]): Pipeline {
  const all = [RESET_SETTINGS, SYSTEM_CONTEXT, ...statements];
  return { statements: all, context: 2, count: statements.length };
}

/** In an explicit transaction, which stays open after the pipeline. */
function explicitTransaction(
  { statements, context, count }: Pipeline,
  begin: Statement = { text: 'begin' },
): Pipeline {
  return { statements: [begin, ...statements], context: context + 1, count };
}

function extended({ statements, context, count }: Pipeline, more: readonly Statement[]): Pipeline {
  return { statements: [...statements, ...more], context, count };
}

/** In one implicit transaction. */
function implicitTransaction(
  connection: PooledConnection,
  pipeline: Pipeline,
  settings: ContextSettings = {},
  mayRepeat?: () => boolean,
): Promise<StatementResult[]> {
  const all = settings.leavesNothing ? pipeline : extended(pipeline, connection.departure);
  return sendRepeating(connection, all, { mayRepeat });
}

/** PostgreSQL truncates longer names, so two of them could become one. */
const MAX_NAME_BYTES = 63;

/** Row-level security makes plans depend on the role, so it is part of the statement's name. */
function withRole(role: string, statement: Statement): Statement {
  if (statement.name === undefined) return statement;
  const name = `${role}:${statement.name}`;
  const { text, values, sink, maxBytes } = statement;
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return { text, values, sink, maxBytes, name };
  return { text, values, sink, maxBytes, name: createHash('sha1').update(name).digest('hex') };
}

/** The result of a pipeline of one statement. */
function onlyOf([result]: readonly StatementResult[]): StatementResult {
  if (!result) throw new Error('the pipeline returned no result');
  return result;
}
