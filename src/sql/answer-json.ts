/** Writes the answer of the owner's SQL as JSON, in slices: rows and columns may take megabytes. */
import { Slices } from '../common/time/slices';
import type { KeptRows } from './result-collector';

interface RanStatement {
  readonly command: string | null;
  readonly row_count: number | null;
  readonly columns: readonly string[];
  /** The rows, if the response contains the rows of each statement. */
  readonly kept?: KeptRows | undefined;
}

/** The same as the schema SqlResponse, but its rows are JSON text already. */
export interface KeptAnswer {
  readonly kept: KeptRows;
  readonly command: string | null;
  readonly row_count: number | null;
  readonly statements: readonly RanStatement[];
  readonly notices: readonly string[];
}

/** Size of a chunk in characters. */
const CHUNK = 64 * 1024;

export async function* answerJson(answer: KeptAnswer): AsyncGenerator<string> {
  const slices = new Slices();
  let chunk = '';
  for (const part of partsOf(answer)) {
    chunk += part;
    if (chunk.length >= CHUNK) {
      yield chunk;
      chunk = '';
    }
    if (slices.isOver) await slices.yieldToLoop();
  }
  yield chunk;
}

function* partsOf({ kept, command, row_count, statements, notices }: KeptAnswer): Generator<string> {
  yield '{"rows":';
  yield* list(kept.rows);
  const { truncated } = kept;
  // The members without braces, to be inserted between the rows and the list of statements.
  yield `,${JSON.stringify({ truncated, command, row_count }).slice(1, -1)},"statements":[`;
  for (const [index, { kept: own, ...statement }] of statements.entries()) {
    yield (index > 0 ? ',' : '') + JSON.stringify(statement).slice(0, -1);
    if (own) {
      yield ',"rows":';
      yield* list(own.rows);
      yield `,"truncated":${own.truncated}`;
    }
    yield '}';
  }
  yield `],"notices":${JSON.stringify(notices)}}`;
}

function* list(items: readonly string[]): Generator<string> {
  yield '[';
  for (const [index, item] of items.entries()) yield index > 0 ? `,${item}` : item;
  yield ']';
}
