/** Decides which project may open a connection when few or none are left under the global limit. */
import type { SharedConnection, SharedIdleConnections, SharedPool, WaitingRequest } from './shared-pool';

/** Share of the connections above which a project that has one waits briefly before it opens another. */
const PLENTY_SHARE = 1 / 2;
/** Milliseconds of waiting: more than a connection needs to open, even on a busy machine. */
const WAIT_TIMEOUT_MS = 50;
/**
 * Milliseconds after which a waiting project may take the only connection of another project: its own connection is occupied by a
 * slow request.
 */
const PRESSING_MS = 1_000;
/**
 * Milliseconds after which a busy project has to give its only connection to a project that has none. Until then its waiting requests
 * are served first: the start of a connection costs as much as some hundred requests.
 */
const TENURE_MS = 250;

export class FairShare<C extends SharedConnection, P extends SharedPool<C>> {
  /** Projects with waiting requests and without a connection, because of the global limit, in order of arrival. */
  private readonly starving = new Set<P>();

  /** @param total connections to all projects' databases */
  constructor(
    private readonly total: number,
    private readonly idle: SharedIdleConnections<C>,
  ) {}

  get hasStarving(): boolean {
    return this.starving.size > 0;
  }

  isStarving(pool: P): boolean {
    return this.starving.has(pool);
  }

  /** Called when the pool got a connection, or waits for something other than the global limit. */
  delete(pool: P): void {
    this.starving.delete(pool);
  }

  /** The pools with waiting requests. They may be deleted during the iteration. */
  *waitingPools(): Iterable<P> {
    for (const pool of this.starving) {
      if (pool.waiting.length === 0) this.starving.delete(pool);
      else yield pool;
    }
  }

  /**
   * Whether the global limit allows another connection for the oldest waiting request of a pool.
   * @param open connections to all projects' databases
   * @returns true, false, or the idle connection that has to be closed first
   */
  mayOpen(pool: P, waiter: WaitingRequest, open: number): boolean | C {
    const found = this.roomFor(pool, performance.now() - waiter.since, open);
    if (found === false && pool.size === 0) this.starving.add(pool);
    return found;
  }

  /** Whether a connection that is given back must serve another project, although requests of its own project wait. */
  mustYield(pool: P, { openSince }: C): boolean {
    if (this.starving.size === 0 || pool.waiting.length === 0) return false;
    return pool.size > 1 || openSince < performance.now() - TENURE_MS;
  }

  private roomFor(pool: P, waited: number, open: number): boolean | C {
    const isFirst = pool.size === 0;
    if (!isFirst && this.starving.size > 0) return false;
    const hasToWait = open >= this.total * PLENTY_SHARE || pool.lowPriority.inUse > 0;
    if (!isFirst && hasToWait && waited < WAIT_TIMEOUT_MS) return false;
    if (open < this.total) return true;
    const mayTakeAny = isFirst || waited > PRESSING_MS;
    // A project with one more connection than this project would only take it back.
    const kept = isFirst ? 1 : pool.size + 1;
    return this.idle.dispensable(kept) ?? (mayTakeAny ? this.idle.oldest() : undefined) ?? false;
  }
}
