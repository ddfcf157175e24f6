/** An entry of a project's history: a request, an attempt to send a mail, or one to deliver a webhook. */
export const SOURCES = ['rest', 'auth', 'storage', 'realtime', 'other', 'mail', 'webhook'] as const;
export type HistorySource = (typeof SOURCES)[number];

export const OUTCOMES = ['refused', 'failed', 'database'] as const;

/** Contains no values from a client, and nothing that could be a secret. */
export interface HistoryEntry {
  /** Milliseconds since the epoch at which it began. */
  readonly at: number;
  readonly source: HistorySource;
  readonly method?: string | null;
  /** A masked path, the kind of a mail, or the id of a webhook. */
  readonly path: string;
  readonly status?: number | null;
  readonly role?: string | null;
  readonly ms?: number | null;
  readonly ms_database?: number | null;
  readonly bytes?: number | null;
  /** A code of docs/reference, or the reason of a failed mail or delivery. */
  readonly error?: string | null;
  readonly request_id?: string | null;
  /** SQL with parameters in place of the values. */
  readonly statement?: string | null;
}

export interface HistoryFilter {
  readonly source?: HistorySource;
  readonly outcome?: (typeof OUTCOMES)[number];
  readonly method?: string;
  /** Text to search for in method, path, status, role, error or request id. */
  readonly search?: string;
  /** RFC 3339; entries of this time or later, and before this time. */
  readonly since?: string;
  readonly until?: string;
  /** Minimum duration in milliseconds. */
  readonly slower?: number;
  /** Only entries older than the entry with this id. */
  readonly before?: string;
}
