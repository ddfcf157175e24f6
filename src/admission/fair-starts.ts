/**
 * Starts the requests that arrive together in turns of the event loop, a few of each tenant at a time. The requests of one tenant
 * that floods the process then delay requests of another tenant by a few requests, not by all that arrived before. While one
 * tenant alone sends requests, each is started immediately.
 *
 * A request with a body is always started at once, and takes its turn when the body was read (turnFor): the budget of bodies
 * counts only what is read.
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

  /** Calls `start` immediately or in one of the next turns; not at all if the client disconnects before. */
  take(request: IncomingMessage, start: () => void): void {
    const tenant = tenantOf(request);
    this.notice(tenant);
    if (hasBody(request) || this.mayStart(tenant)) start();
    else
      this.wait(tenant, () => {
        if (!request.socket.destroyed) start();
      });
  }

  /** The turn of a request whose body was read; undefined if its work can begin immediately. */
  turnFor(request: IncomingMessage): Promise<void> | undefined {
    const tenant = tenantOf(request);
    return this.mayStart(tenant) ? undefined : new Promise((resolve) => this.wait(tenant, resolve));
  }

  private notice(tenant: string): void {
    if (tenant === this.latest) return;
    if (this.latest !== '') this.sharedUntil = performance.now() + PRESENT_MS;
    this.latest = tenant;
  }

  private mayStart(tenant: string): boolean {
    if (this.lines.size === 0 && performance.now() > this.sharedUntil) return true;
    this.plan();
    return !this.lines.has(tenant) && this.count(tenant);
  }

  private wait(tenant: string, start: () => void): void {
    const line = this.lines.get(tenant);
    if (line) line.push(start);
    else this.lines.set(tenant, [start]);
  }

  /** False when the tenant has started all requests that it may start in this turn. */
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
        if (!this.count(tenant)) continue;
        const start = line.shift();
        if (line.length === 0) this.lines.delete(tenant);
        start?.();
      }
    }
  }
}

/**
 * The tenant of a request, from its head and before credentials are checked: the key, else the project in the path, else the
 * client's address. A wrong name gains nothing: it gets a share like any other.
 */
function tenantOf({ headers, url = '', socket }: IncomingMessage): string {
  const { apikey } = headers;
  if (typeof apikey === 'string') return apikey;
  return /^\/(?:p|v1\/auth)\/[^/?]+/.exec(url)?.[0] ?? socket.remoteAddress ?? '';
}

/** RFC 9112, 6.3: a request with neither header has no body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}
