/** A statement for the RLS door, and its result. */
import type { Statement as PipelineStatement } from '../pg-pipeline';

export type { StatementResult } from '../pg-pipeline';

/** Not kept prepared on its connection. */
export function withoutName({ name: _name, ...statement }: Statement): Statement {
  return statement;
}

export interface Statement extends PipelineStatement {
  /** True: the statement may end sessions, so the answer waits until replicas refuse them too. */
  readonly endsSessions?: boolean;
  /** Milliseconds after which the session of its batch is ended, regardless of its statement: for systemBatch(). */
  readonly endsAfterMs?: number;
}
