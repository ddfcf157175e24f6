/** The output of the run stage, beside the rows. */

/** response.headers and response.status, as SQL set them. */
export interface ResponseSettings {
  readonly headers: string | null;
  readonly status: string | null;
}

export interface Execution {
  /** Rows returned or changed. */
  readonly rows: number;
  /** The planner's estimate of all rows of a read; null where it was not asked for. */
  readonly estimate: number | null;
  /** Of an upsert that merges: rows that were not there before; 0 otherwise. */
  readonly inserted: number;
  readonly response: ResponseSettings;
  /** For reads that must see a write (read-source.ts); null for reads, and where there are no replicas. */
  readonly token: string | null;
}
