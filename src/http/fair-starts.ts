/**
 * Starts the requests that arrive together in turns of the event loop, a few of each tenant at a time. The requests of one tenant
 * that floods the process then delay those of another by a few requests, not by all that arrived before. While one tenant alone
 * sends requests, each is started at once.
 */
import type { IncomingMessage } from 'node:http';

/** Requests of one tenant that are started in a turn of the event loop. */
const PER_TURN = 2;
/** Milliseconds for which a tenant counts as present after its last request. */
const PRESENT_MS = 200;

export class FairStarts {
  /** Waiting requests, by tenant, in order of arrival. The first tenant is next. */
  private readonly lines = new Map<string, (() => void)[]>();
  /** Requests started in this turn, by tenant. */
  private readonly started = new Map<string, number>();
  private latest = '';
  /** Milliseconds of the monotonic clock until which several tenants are present. */
  private sharedUntil = -Infinity;
  private isPlanned = false;

  /** Calls `start` at once or in one of the next turns. */
  take(tenant: string, start: () => void): void {
    const now = performance.now();
    if (tenant !== this.latest) {
      if (this.latest !== '') this.sharedUntil = now + PRESENT_MS;
      this.latest = tenant;
    }
    if (now > this.sharedUntil && this.lines.size === 0) return start();
    this.plan();
    if (!this.lines.has(tenant) && this.count(tenant)) return start();
    const line = this.lines.get(tenant);
    if (line) line.push(start);
    else this.lines.set(tenant, [start]);
  }

  /** False when the tenant has started all requests that it may in this turn. */
  private count(tenant: string): boolean {
    const started = this.started.get(tenant) ?? 0;
    if (started >= PER_TURN) return false;
    this.started.set(tenant, started + 1);
    return true;
  }

  private plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    setImmediate(() => this.nextTurn());
  }

  private nextTurn(): void {
    this.isPlanned = false;
    this.started.clear();
    if (this.lines.size === 0) return;
    this.plan();
    for (let round = 0; round < PER_TURN; round += 1) {
      for (const [tenant, line] of [...this.lines]) {
        const start = line.shift();
        if (line.length === 0) this.lines.delete(tenant);
        if (start && this.count(tenant)) start();
      }
    }
  }
}

/**
 * Whose request it is, as far as the head tells without a check of credentials: the key, else the project in the path, else the
 * client's address. A wrong name gains nothing: it gets a share like any other.
 */
export function tenantOf({ headers, url = '', socket }: IncomingMessage): string {
  const { apikey } = headers;
  if (typeof apikey === 'string') return apikey;
  return /^\/(?:p|v1\/auth)\/[^/?]+/.exec(url)?.[0] ?? socket.remoteAddress ?? '';
}
