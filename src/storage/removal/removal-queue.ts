/** What the queue of removals is called and what its jobs say. */
export const REMOVAL_QUEUE = 'storage-removal';

export interface RemovalJob {
  readonly projectId: string;
  /** Objects that no row names any more; null: all of them, once the project is deleted. */
  readonly objectIds: readonly string[] | null;
}

/** About a day with the first delay, which doubles each time; after that the sweep removes what is left. */
export const REMOVAL_ATTEMPTS = 15;
export const FIRST_DELAY_MS = 5_000;
/** A deletion that has begun is done by then, as a rule. */
export const PROJECT_DELAY_MS = 2_000;

/** For the log. */
export function describeRemoval({ projectId, objectIds }: RemovalJob): string {
  return objectIds === null ? `all objects of project ${projectId}` : `${objectIds.length} objects`;
}
