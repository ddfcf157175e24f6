/** For specs only: the public half of the error that a parser throws. */
import { GrammarError, type GrammarErrorCode } from '../../src/rest/grammar/grammar-error';
import type { FilterValue, QueryValues, Slot } from '../../src/rest/grammar/query-values';

export interface Refusal {
  readonly code: GrammarErrorCode;
  readonly message: string;
  readonly details: string | null;
}

/** @throws Error when `work` returns; rethrows any error that isn't a GrammarError. */
export function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error;
    return {
      code: error.code as GrammarErrorCode,
      message: error.message,
      details: error.database.detail ?? null,
    };
  }
  throw new Error('it was not refused');
}

/** For specs only: replaces the slots in a tree by their values. */
export type WithValues<Node> = Node extends Slot
  ? FilterValue
  : Node extends object
    ? { [Key in keyof Node]: WithValues<Node[Key]> }
    : Node;

export function withValues<Node>(node: Node, values: Pick<QueryValues, 'filters'>): WithValues<Node> {
  return JSON.parse(
    JSON.stringify(node, (key, value: unknown) =>
      key === 'value' && typeof value === 'number' ? values.filters[value] : value,
    ),
  ) as WithValues<Node>;
}
