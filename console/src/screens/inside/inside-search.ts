/** Parameters in the address of the monitoring screen. */
export interface InsideSearch {
  readonly view?: string;
  /** Range of the charts: `hour` or `day`. */
  readonly range?: string;
  /** Filters of the live requests and of the history: a text, and an outcome. */
  readonly filter?: string;
  readonly status?: string;
  /** Filters of the history: the source, a minimum of milliseconds, and local times without a time zone. */
  readonly source?: string;
  readonly slower?: string;
  readonly since?: string;
  readonly until?: string;
  /** Order of the slow queries. */
  readonly order?: string;
}
