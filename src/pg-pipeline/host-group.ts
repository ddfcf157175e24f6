/** The hosts of one PostgreSQL server, of which one is the primary. All connections of the process share this information. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError } from 'pg';
import { formatHost, type HostAddress } from './host-list';

/** Milliseconds between two searches for a primary, and between two probes of a host in a search. */
const SEARCH_MS = 100;
/** SQLSTATEs of a server that is starting, ending or full; another host may be available. */
const UNAVAILABLE = /^(08|53|57)/;

/** Connects to a host and disconnects. @returns whether it accepts writes */
type Probe = (address: HostAddress) => Promise<boolean>;

/** Error codes of a host that is down: no host accepts writes now, and a later attempt may succeed. */
export class NoPrimaryError extends Error {
  readonly code = 'ECONNREFUSED';
  readonly syscall = 'connect';

  constructor(hosts: readonly HostAddress[], causes: readonly unknown[]) {
    const reasons = causes.map((cause) => (cause instanceof Error ? cause.message : String(cause)));
    super(`None of ${hosts.map(formatHost).join(', ')} is a primary: ${reasons.join('; ')}`);
    this.name = 'NoPrimaryError';
  }
}

export class HostGroup {
  private static readonly groups = new Map<string, HostGroup>();
  private static readonly moveListeners = new Set<(from: HostAddress) => void>();
  private primary: HostAddress | null = null;
  private searching: Promise<HostAddress> | null = null;
  /** The last known primary. */
  private last: HostAddress | null = null;

  private constructor(private readonly hosts: readonly HostAddress[]) {}

  static of(hosts: readonly HostAddress[]): HostGroup {
    const key = hosts.map(formatHost).join(',');
    let group = HostGroup.groups.get(key);
    if (!group) HostGroup.groups.set(key, (group = new HostGroup(hosts)));
    return group;
  }

  /**
   * The host that takes writes, if it is known. Otherwise it is searched for; simultaneous calls share the search.
   * @throws NoPrimaryError, or the refusal of a host, such as for a wrong password
   */
  async find(probe: Probe): Promise<HostAddress> {
    for (;;) {
      if (this.primary) return this.primary;
      const isOwn = this.searching === null;
      this.searching ??= this.search(probe);
      try {
        return await this.searching;
      } catch (error) {
        // Another client was refused, for example because of its password or database.
        if (isOwn || error instanceof NoPrimaryError) throw error;
      }
    }
  }

  /** The host was not a primary, or did not answer: the next find() searches. */
  suspect(address: HostAddress): void {
    if (this.primary && formatHost(this.primary) === formatHost(address)) this.primary = null;
  }

  /**
   * Calls back with the former primary when another primary is found in any group.
   * @returns a function that removes the listener
   */
  static onMove(listener: (from: HostAddress) => void): () => void {
    HostGroup.moveListeners.add(listener);
    return () => HostGroup.moveListeners.delete(listener);
  }

  private async search(probe: Probe): Promise<HostAddress> {
    const silent = new Set(this.hosts);
    try {
      const found = await Promise.any(
        this.hosts.map((address) => this.assertPrimary(address, probe, silent)),
      );
      this.primary = found;
      this.searching = null;
      // Ends the queries to the other hosts.
      silent.clear();
      this.announce(found);
      return found;
    } catch (error) {
      const failure = this.failure(error instanceof AggregateError ? error.errors : [error]);
      // Calls during this time get the same error.
      if (failure instanceof NoPrimaryError) setTimeout(() => (this.searching = null), SEARCH_MS).unref();
      else this.searching = null;
      throw failure;
    }
  }

  /**
   * Asks a host until it is the primary, or every host has answered. A standby that is promoted while the
   * search still waits for a dead host is found immediately.
   * @param silent hosts that have not answered yet in this search
   * @throws why the host is not the primary
   */
  private async assertPrimary(
    address: HostAddress,
    probe: Probe,
    silent: Set<HostAddress>,
  ): Promise<HostAddress> {
    for (;;) {
      const reason = await reasonAgainst(address, probe);
      if (reason === null) return address;
      silent.delete(address);
      if (silent.size === 0 || isRefusal(reason)) throw reason;
      await sleep(SEARCH_MS);
      if (silent.size === 0) throw reason;
    }
  }

  private failure(causes: readonly unknown[]): unknown {
    return causes.find(isRefusal) ?? new NoPrimaryError(this.hosts, causes);
  }

  private announce(found: HostAddress): void {
    const { last } = this;
    this.last = found;
    if (!last || formatHost(last) === formatHost(found)) return;
    for (const listener of HostGroup.moveListeners) listener(last);
  }
}

/** Why the host is not the primary; null if it is. */
async function reasonAgainst(address: HostAddress, probe: Probe): Promise<Error | null> {
  try {
    return (await probe(address)) ? null : new Error(`${formatHost(address)} is a standby`);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof DatabaseError && !UNAVAILABLE.test(error.code ?? '');
