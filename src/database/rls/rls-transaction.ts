/**
 * The RLS door, the only way to a project's data. It opens the transaction, sets role, claims and request facts, runs
 * the statements and commits. A connection of unknown state is closed. A request of one statement costs one round trip
 * (docs/internals/rls-door.md).
 */
import { Injectable } from '@nestjs/common';
import type { StreamConsumer } from '../../row-stream/response-stream';
import { PooledConnection } from '../pools/pooled-connection';
import { ProjectDatabase } from '../pools/project-database';
import { ProjectPools } from '../pools/project-pools';
import { type ReplicaDatabase, ReplicaSets } from '../replicas/replica-sets';
import { mayRunOnPrimary, positionStatement, Revocation } from '../replicas/replica-reads';
import type { Statement, StatementResult } from '../statement';
import {
  asSystem,
  CONTEXT_STATEMENTS,
  type ContextWork,
  explicitTransaction,
  extended,
  inContext,
  inContexts,
  type PipelineMaker,
} from './context-pipeline';
import { type Pipeline, type Repetition, sendRepeating } from './repeating-pipeline';
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
  constructor(
    private readonly pools: ProjectPools,
    private readonly replicas: ReplicaSets = new ReplicaSets(pools),
  ) {}

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
    const make = inContext(context, statements, settings);
    return this.pools.use(context.database, (connection) =>
      implicitTransaction(connection, make(connection.isPooled), settings),
    );
  }

  /**
   * Like batch(), for several callers of a project in one transaction. If the work of one fails, all of it does, and the error
   * does not tell which failed: repeat it with batch().
   * @returns the results of each
   */
  async batchEach(works: readonly ContextWork[]): Promise<StatementResult[][]> {
    const [first] = works;
    if (!first) return [];
    const make = inContexts(works);
    const results = await this.pools.use(first.context.database, (connection) =>
      implicitTransaction(connection, make(connection.isPooled)),
    );
    let at = 0;
    return works.map(({ statements }) => {
      at += CONTEXT_STATEMENTS;
      return results.slice(at, (at += statements.length));
    });
  }

  /**
   * Like batch(), but gives the caller control to pause or abort it while it runs: for results streamed to a
   * client. A read that may use a replica runs on the primary if no replica is up to date, and again if one fails.
   */
  async stream(
    context: RlsContext,
    statements: readonly Statement[],
    settings: ContextSettings,
    consumer: StreamConsumer,
  ): Promise<StatementResult[]> {
    const replica = this.replicaFor(context, settings);
    if (replica) {
      try {
        const onReplica = { ...context, database: replica.database };
        const make = inContext(onReplica, statements, settings, replica.minimum);
        const results = await this.send(replica.database, make, settings, consumer);
        this.replicas.count('served');
        return results;
      } catch (error) {
        if (!mayRunOnPrimary(error) || !consumer.onRepeat()) throw error;
        this.replicas.count('repeated');
      }
    }
    return this.send(context.database, inContext(context, statements, settings), settings, consumer);
  }

  private replicaFor(
    { database, sessionId }: RlsContext,
    { replica, isolation }: ContextSettings,
  ): ReplicaDatabase | null {
    // A snapshot of the whole transaction could be older than the session check.
    if (!replica || isolation) return null;
    return this.replicas.choose(database, { after: replica.after, checksSession: sessionId !== null });
  }

  private async send(
    database: ProjectDatabase,
    make: PipelineMaker,
    settings: ContextSettings,
    consumer: StreamConsumer,
  ): Promise<StatementResult[]> {
    const afterwards = this.positionAfter(database, settings.onCommitted);
    const mayRepeat = (): boolean => consumer.onRepeat();
    return this.pools.use(database, async (connection) => {
      consumer.onStart(connection);
      try {
        const pipeline = make(connection.isPooled);
        const all = settings.leavesNothing ? pipeline : extended(pipeline, connection.departure);
        return await sendRepeating(connection, all, { mayRepeat, afterwards });
      } finally {
        connection.resume();
      }
    });
  }

  /** Reads the position after a commit, where replicas need it; null otherwise. */
  private positionAfter(
    database: ProjectDatabase,
    onCommitted: ((position: string) => void) | undefined,
  ): Statement | null {
    return onCommitted && this.replicas.of(database) ? positionStatement(onCommitted) : null;
  }

  /**
   * Like batch(), but `decide` sees the results before they are committed: it refuses by throwing, and rolls back without an
   * error by returning `rollback`. Costs a second round trip.
   * @param consumer the consumer of rows that may be streamed to a client before the decision, such as the rows of a read
   */
  async runThenDecide(
    context: RlsContext,
    statements: readonly Statement[],
    settings: ContextSettings,
    decide: (results: StatementResult[]) => 'commit' | 'rollback',
    consumer: StreamConsumer = NO_CONSUMER,
  ): Promise<StatementResult[]> {
    const make = inContext(context, statements, settings);
    return this.pools.use(context.database, async (connection) => {
      consumer.onStart(connection);
      try {
        const pipeline = explicitTransaction(make(connection.isPooled));
        const undo = (): Promise<void> => rollback(connection);
        const mayRepeat = (): boolean => consumer.onRepeat();
        const results = await sendRepeating(connection, pipeline, { mayRepeat, undo });
        const afterwards = this.positionAfter(context.database, settings.onCommitted);
        await connection.start([{ text: decide(results) }, ...connection.departure], afterwards).done;
        return results;
      } catch (error) {
        await rollback(connection);
        throw error;
      } finally {
        connection.resume();
      }
    });
  }

  /** Runs work in an explicit transaction, where a statement depends on the result of an earlier statement. */
  async runTransaction<T>(
    context: RlsContext,
    work: (scope: TransactionScope) => Promise<T>,
    settings?: ContextSettings,
  ): Promise<T> {
    return this.transact(context.database, inContext(context, [], settings), work);
  }

  /**
   * Runs one statement of Plinth's own bookkeeping (accounts, sessions, sweeps) as the login role, outside any caller's
   * rights.
   * @param reason why no caller's context applies. It is not used at run time: it documents the call in the source
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
    const revocation = new Revocation(this.replicas.of(database), statements);
    const { afterwards } = revocation;
    const make = asSystem(statements);
    const limit = statements.find(({ endsAfterMs }) => endsAfterMs !== undefined)?.endsAfterMs;
    const results = await this.pools.use(database, (connection) =>
      endingAfter(limit, connection, () =>
        implicitTransaction(connection, make(connection.isPooled), {}, { afterwards }),
      ),
    );
    await revocation.isSeenByReplicas();
    return results;
  }

  /**
   * Like systemBatch, for reads that no request waits for: it opens no connection, and requests take precedence.
   * @throws DatabaseFault no_free_connection when the project has no connection
   */
  async systemAside(
    database: ProjectDatabase,
    _reason: string,
    statements: readonly Statement[],
  ): Promise<StatementResult[]> {
    const make = asSystem(statements);
    return this.pools.useSpare(database, (connection) =>
      implicitTransaction(connection, make(connection.isPooled)),
    );
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
    const make = asSystem(statements);
    return this.pools.use(database, async (connection) => {
      const undo = (): Promise<void> => rollback(connection);
      onBegin();
      try {
        const pipeline = explicitTransaction(make(connection.isPooled), begin);
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
    context: PipelineMaker,
    work: (scope: TransactionScope) => Promise<T>,
  ): Promise<T> {
    const revocation = new Revocation(this.replicas.of(database));
    const done = await this.pools.use(database, async (connection) => {
      const batch = (statements: readonly Statement[]): Promise<StatementResult[]> => {
        revocation.add(statements);
        return connection.pipeline(statements);
      };
      try {
        const begin = explicitTransaction(context(connection.isPooled));
        await sendRepeating(connection, begin, { undo: () => rollback(connection) });
        const result = await work({ query: async (statement) => onlyOf(await batch([statement])), batch });
        await connection.start([{ text: 'commit' }, ...connection.departure], revocation.afterwards).done;
        return result;
      } catch (error) {
        await rollback(connection);
        throw error;
      }
    });
    await revocation.isSeenByReplicas();
    return done;
  }
}

/** Ends the session of work that exceeds the limit, if a limit is set. */
async function endingAfter<T>(
  limit: number | undefined,
  connection: PooledConnection,
  work: () => Promise<T>,
): Promise<T> {
  const timer =
    limit === undefined ? undefined : setTimeout(() => void connection.endSession(), limit).unref();
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

/** If the transaction can't be ended, the connection is not used again. */
async function rollback(connection: PooledConnection): Promise<void> {
  await connection.pipeline([{ text: 'rollback' }, ...connection.departure]).catch(() => {
    connection.broken = true;
  });
}

/** Runs the statements in one implicit transaction. */
function implicitTransaction(
  connection: PooledConnection,
  pipeline: Pipeline,
  settings: ContextSettings = {},
  repetition: Repetition = {},
): Promise<StatementResult[]> {
  const all = settings.leavesNothing ? pipeline : extended(pipeline, connection.departure);
  return sendRepeating(connection, all, repetition);
}

/** The result of a pipeline of one statement. */
function onlyOf([result]: readonly StatementResult[]): StatementResult {
  if (!result) throw new Error('the pipeline returned no result');
  return result;
}
