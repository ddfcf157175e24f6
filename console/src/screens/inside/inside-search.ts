/** Parameters in the address of the monitoring screen. */
export interface InsideSearch {
  readonly view?: string;
  /** Range of the charts: `hour` or `day`. */
  readonly range?: string;
  /** Filter of the live requests and of the history: text, and an outcome. */
  readonly filter?: string;
  readonly status?: string;
  /** Filter of the history: part, milliseconds, and local times without a zone. */
  readonly source?: string;
  readonly slower?: string;
  readonly since?: string;
  readonly until?: string;
  /** Order of the slow queries. */
  readonly order?: string;
}
