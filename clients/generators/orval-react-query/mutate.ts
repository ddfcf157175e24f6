/** Runs a mutation without a component, as in loaders and tests. */
import { MutationObserver, type MutationObserverOptions, type QueryClient } from '@tanstack/react-query';

export function mutate<T, E, V>(
  client: QueryClient,
  options: MutationObserverOptions<T, E, V>,
  variables: V,
): Promise<T> {
  return new MutationObserver(client, options).mutate(variables);
}
