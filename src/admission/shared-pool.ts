/** What the rules of this room need to know about a project's connections (src/database/pools). Moments are of the monotonic clock. */
export interface SharedConnection {
  /** Of PostgreSQL's process; 0 while it is not known. */
  readonly processId: number;
  readonly openSince: number;
  readonly idleSince: number;
  /** Since when the client has taken nothing of a streamed response; null: it makes progress. */
  readonly pausedSince: number | null;
  /** The project's id is the key. */
  readonly database: { readonly key: string };
}

export interface SharedPool<C extends SharedConnection> {
  /** Open or opening connections. */
  readonly size: number;
  readonly idle: readonly C[];
  readonly lent: { readonly size: number; borrowed(): Iterable<C> };
  readonly waiting: readonly WaitingRequest[];
  readonly lowPriority: { readonly inUse: number };
}

export interface WaitingRequest {
  readonly since: number;
}

/** The idle connections of all projects. */
export interface SharedIdleConnections<C extends SharedConnection> {
  /** One whose project has more than `kept`, or was not used for a while. */
  dispensable(kept: number): C | undefined;
  oldest(): C | undefined;
}
