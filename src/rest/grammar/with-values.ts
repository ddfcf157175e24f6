/** For specs only: replaces the slots in a tree by their values. */
import type { FilterValue, QueryValues, Slot } from './query-values';

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
