/** The parts of the door for replicas: positions of writes, revocations, and errors after which the primary is used. */
import { DatabaseError } from 'pg';
import { isFault } from '../../common/errors/database-fault';
import { fixedStatement, readRow, type RowSink } from '../../pg-pipeline';
import type { Statement } from '../statement';
import { parsePosition } from './log-position';
import type { ReplicaSet } from './replica-set';

/** The position of the last insertion. That of the last flush does not include a commit with synchronous_commit = off. */
const POSITION = fixedStatement('replica:position', 'select pg_catalog.pg_current_wal_insert_lsn()');

/** A statement that gives the position of the write-ahead log, in PostgreSQL's form. */
export function positionStatement(onPosition: (position: string) => void): Statement {
  const onRow: RowSink['onRow'] = (bytes, start, end) => {
    const text = readRow(bytes, start, end)[0]?.toString('latin1') ?? '';
    if (parsePosition(text) !== null) onPosition(text);
  };
  return { ...POSITION, sink: { onRow } };
}

/** A timeout: the statement would take as long again, on the server that has no replacement. */
const QUERY_CANCELED = '57014';

/**
 * Whether the primary may answer a read that failed on a replica. Most errors can be caused by a replica's lag: a session, a
 * role or a table that it does not have yet.
 */
export function mayRunOnPrimary(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code !== QUERY_CANCELED;
  return !isFault(error, 'result_too_large') && !isFault(error, 'too_many_streams');
}

/** A transaction that may end sessions, which replicas have to refuse as soon as the client has the answer. */
export class Revocation {
  private position: bigint | null = null;
  private endsSessions = false;

  /** @param replicas undefined where there are none */
  constructor(
    private readonly replicas: ReplicaSet | undefined,
    statements: readonly Statement[] = [],
  ) {
    this.add(statements);
  }

  add(statements: readonly Statement[]): void {
    if (statements.some(({ endsSessions }) => endsSessions)) this.endsSessions = true;
  }

  /** Runs after the commit; null where it is not needed. */
  get afterwards(): Statement | null {
    if (!this.endsSessions || !this.replicas) return null;
    return positionStatement((position) => (this.position = parsePosition(position)));
  }

  async isSeenByReplicas(): Promise<void> {
    if (this.position !== null) await this.replicas?.caughtUp(this.position);
  }
}
