/** Starts Plinth with its files on a storage provider. */
import type { TestProvider } from './object-servers/object-stores';
import { TestPlinth } from './plinth';

interface PlinthOnProvider {
  readonly plinth: TestPlinth;
  readonly provider: TestProvider;
  readonly stop: () => Promise<void>;
}

export async function startOn(startProvider: () => Promise<TestProvider>): Promise<PlinthOnProvider> {
  const provider = await startProvider();
  const plinth = await TestPlinth.start({ env: provider.env });
  const stop = async (): Promise<void> => {
    await plinth.stop();
    await provider.stop();
  };
  return { plinth, provider, stop };
}
