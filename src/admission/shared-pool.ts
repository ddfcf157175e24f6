/** A project's connections (src/database/pools) as this folder needs them. Times are of the monotonic clock. */
export interface SharedConnection {
  /** Process id of the PostgreSQL backend; 0 while it is not known. */
  readonly processId: number;
  readonly openSince: number;
  readonly idleSince: number;
  /** The time since which the client has read nothing of a streamed response; null while it makes progress. */
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
  /** An idle connection whose project has more than `kept`, or was not used for a while. */
  dispensable(kept: number): C | undefined;
  oldest(): C | undefined;
}
