/**
 * Lowers the priority of PostgreSQL's processes that work for a project which takes a large share of the machine while other
 * projects are in use. They then use the time that other processes leave. Only for a PostgreSQL on this machine, on Linux. A
 * process cannot get its priority back without privileges, so its connection is closed when the project is quiet again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { codeOf } from '../common/errors/error-facts';
import type { SharedConnection, SharedPool } from './shared-pool';

/** Milliseconds between two checks of the connections in use. */
export const POLL_INTERVAL_MS = 200;
/** Share of the cores above which a project's processes get a lower priority. */
const LARGE_SHARE = 1 / 4;
/** The lowest: a dozen of them together get a sixth of the time of one competing process (sched(7), "The nice value"). */
const NICE = 19;
/** Milliseconds for which the priority stays lower after the share was last exceeded. */
const PENALTY_MS = 2_000;
/** Milliseconds for which a project counts as in use after its last request. */
const IN_USE_MS = 1_000;

interface Reading {
  /** Nanoseconds of CPU time. */
  readonly used: number;
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
}

export class CpuShares<C extends SharedConnection> {
  /** Connections whose process runs on this machine. The process id of another server belongs to an unrelated process here. */
  private readonly ofThisMachine = new WeakSet<C>();
  private readonly readings = new WeakMap<C, Reading>();
  private readonly lowered = new WeakSet<C>();
  /** Connections that need no further change. */
  private readonly isDone = new WeakSet<C>();
  /** Milliseconds of the monotonic clock until which a pool's connections have a lower priority. */
  private readonly until = new Map<SharedPool<C>, number>();

  /** @param cores the number of cores of the machine */
  constructor(private readonly cores: number) {}

  /** Watches a new connection to a server of this machine. */
  add(connection: C): void {
    this.ofThisMachine.add(connection);
  }

  /**
   * Checks the connections in use.
   * @returns idle connections with a lower priority, whose project is quiet again
   */
  check(pools: readonly SharedPool<C>[]): C[] {
    const now = performance.now();
    for (const pool of pools) {
      if (pool.lent.size === 0 || this.coresOf(pool, now) <= this.cores * LARGE_SHARE) continue;
      if (pools.some((other) => other !== pool && isInUse(other, now)))
        this.until.set(pool, now + PENALTY_MS);
    }
    const over: C[] = [];
    for (const [pool, until] of this.until) {
      if (now < until) for (const one of [...pool.lent.borrowed(), ...pool.idle]) this.lower(one);
      else {
        this.until.delete(pool);
        over.push(...pool.idle.filter((one) => this.lowered.has(one)));
      }
    }
    return over;
  }

  /** Whether a connection that is given back must be closed: its priority is lower, and its project is quiet again. */
  isOver(pool: SharedPool<C>, connection: C): boolean {
    return this.lowered.has(connection) && !this.until.has(pool);
  }

  /** Number of cores that the pool's connections in use have taken since the last check of each. */
  private coresOf(pool: SharedPool<C>, now: number): number {
    let cores = 0;
    for (const connection of pool.lent.borrowed()) {
      if (!this.ofThisMachine.has(connection)) continue;
      const before = this.readings.get(connection);
      const used = cpuTimeOf(connection.processId);
      if (used === null) continue;
      this.readings.set(connection, { used, at: now });
      if (before) cores += (used - before.used) / 1e6 / (now - before.at);
    }
    return cores;
  }

  private lower(connection: C): void {
    if (!this.ofThisMachine.has(connection) || this.isDone.has(connection)) return;
    if (connection.processId === 0) return;
    try {
      setPriority(connection.processId, NICE);
      this.lowered.add(connection);
      // Each of PostgreSQL's processes has its own session, and where autogroups are on, only their priorities count.
      writeFileSync(`/proc/${connection.processId}/autogroup`, String(NICE));
      this.isDone.add(connection);
    } catch (error) {
      // The kernel allows this ten times a second; the next check tries again. Other errors: the process has ended, belongs to
      // another user, or there are no autogroups.
      if (codeOf(error) !== 'EAGAIN') this.isDone.add(connection);
    }
  }
}

function isInUse(pool: SharedPool<SharedConnection>, now: number): boolean {
  return pool.lent.size > 0 || pool.idle.some(({ idleSince }) => now - idleSince < IN_USE_MS);
}

/** Nanoseconds of CPU time of a process; null where the system does not report it (Linux: /proc/<pid>/schedstat). */
function cpuTimeOf(processId: number): number | null {
  try {
    return Number(readFileSync(`/proc/${processId}/schedstat`, 'latin1').split(' ')[0]);
  } catch {
    return null;
  }
}
