/** Name and jobs of the queue of removals. */
export const REMOVAL_QUEUE = 'storage-removal';

export interface RemovalJob {
  readonly projectId: string;
  /** Objects without a row; null: all objects, once the project is deleted. */
  readonly objectIds: readonly string[] | null;
}

/** Attempts of about a day, as the delay doubles each time; after that the sweep removes the rest. */
export const REMOVAL_ATTEMPTS = 15;
export const FIRST_DELAY_MS = 5_000;
/** Delay after which the deletion of a project is usually done. */
export const PROJECT_DELAY_MS = 2_000;

/** For the log. */
export function describeRemoval({ projectId, objectIds }: RemovalJob): string {
  return objectIds === null ? `all objects of project ${projectId}` : `${objectIds.length} objects`;
}
