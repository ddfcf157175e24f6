/** The last stage as the pipeline sees it: it takes the rows of an execution and writes the response. http/ implements it. */
import type { Execution } from './execute/execution';
import type { RowCollector } from '../row-stream/row-collector';
import type { PreparedRequest } from './prepare/prepared-request';

export interface ResponseWriter {
  /** True once the head was sent to the client: a request must not run again then. */
  readonly hasBegun: boolean;
  /** The answer to one execution of a request. */
  open(prepared: PreparedRequest): Answer;
  /** Answers OPTIONS. */
  writeMethods(methods: readonly string[]): void;
}

export interface Answer {
  /** Takes the rows while they arrive; many rows are sent on at once. */
  readonly rows: RowCollector;
  /** Writes the rest. @throws AppError PL103, PL111, PL112 or PL116 while nothing was sent */
  write(execution: Execution): void;
  /** Forgets the rows: the execution failed. */
  discard(): void;
}
