/** What the queue of removals is called and what its jobs say. */
export const REMOVAL_QUEUE = 'storage-removal';

export interface RemovalJob {
  readonly projectId: string;
  /** Objects that no row names any more. */
  readonly objectIds: readonly string[];
}

/** About a day with the first delay, which doubles each time; after that the sweep removes what is left. */
export const REMOVAL_ATTEMPTS = 15;
export const FIRST_DELAY_MS = 5_000;
