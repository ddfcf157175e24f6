/**
 * The memory that request bodies of this process may take, all together. A body reserves what it will need before it is read;
 * when nothing is left, requests wait a moment, unread, and are then refused.
 *
 * No sender can take all of it: whoever holds some may hold at most a multiple of what is still free, so something is
 * always left for a sender that holds nothing (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on
 * Networking 6(2), 1998).
 */
import { AppError } from '../../common/errors/app-error';

export interface BudgetLimits {
  /** Bytes. */
  readonly total: number;
  /** Milliseconds that a request waits for memory. */
  readonly patienceMs: number;
  /** Requests that may wait; further ones are refused at once. */
  readonly maxWaiting: number;
}

/** For whom memory is reserved. */
export interface Sender {
  /** The project's id; empty where there is none. */
  readonly account: string;
  /** The client's address. Clients behind an unknown proxy share one, so it is trusted with the most. */
  readonly address: string;
}

/** How many times what is free each may hold: one client of a project, the project, one address in all projects. */
const CLIENT_SHARE = 1;
const ACCOUNT_SHARE = 2;
const ADDRESS_SHARE = 4;

/** What a reservation counts for, and the share that each may have of what is free. */
type Parts = readonly (readonly [key: string, share: number])[];

interface Waiting {
  readonly parts: Parts;
  readonly bytes: number;
  readonly admit: () => void;
}

/** Where what is made of a body is counted. */
export interface Memory {
  /** Reserves more bytes, or nothing. @throws AppError 413 for what no body may take, 503 when it is not there just now */
  grow(bytes: number): void;
}

/** A body in memory that is counted. */
export interface HeldBody {
  readonly bytes: Buffer;
  readonly memory: Memory;
}

/** Memory that is counted until it is released. */
export class Reservation implements Memory {
  private isReleased = false;

  constructor(
    private readonly budget: BodyBudget,
    private readonly parts: Parts,
    private bytes: number,
  ) {}

  grow(bytes: number): void {
    if (this.isReleased) throw new Error('the reservation was released');
    this.budget.take(this.parts, bytes, this.bytes);
    this.bytes += bytes;
  }

  /** The first call counts. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.budget.giveBack(this.parts, this.bytes);
  }
}

export class BodyBudget {
  private reserved = 0;
  private readonly held = new Map<string, number>();
  /** In the order in which they came. */
  private line: Waiting[] = [];

  constructor(private readonly limits: BudgetLimits) {}

  /** Bytes that are reserved now, and requests that wait: for metrics. */
  stats(): { reserved: number; waiting: number } {
    return { reserved: this.reserved, waiting: this.line.length };
  }

  /** Bytes that one body may have of a budget that is otherwise free. */
  get mostOfOne(): number {
    return (this.limits.total * CLIENT_SHARE) / (1 + CLIENT_SHARE);
  }

  /** At once where there is room. @throws AppError 413 for more than one body may take, 503 when there is no room in time */
  reserve(sender: Sender, bytes: number): Reservation | Promise<Reservation> {
    const parts = partsOf(sender);
    this.assertPossible(bytes);
    const isBehind = this.line.some((other) => clientOf(other.parts) === clientOf(parts));
    if (isBehind || !this.hasRoom(parts, bytes)) return this.wait(parts, bytes);
    return this.admit(parts, bytes);
  }

  /** For a Reservation, which holds `before` bytes already. */
  take(parts: Parts, bytes: number, before: number): void {
    this.assertPossible(before + bytes);
    if (!this.hasRoom(parts, bytes)) throw noMemory();
    this.add(parts, bytes);
  }

  /** For a Reservation. */
  giveBack(parts: Parts, bytes: number): void {
    this.add(parts, -bytes);
    this.serveLine();
  }

  private admit(parts: Parts, bytes: number): Reservation {
    this.add(parts, bytes);
    return new Reservation(this, parts, bytes);
  }

  private wait(parts: Parts, bytes: number): Promise<Reservation> {
    if (this.line.length >= this.limits.maxWaiting) return Promise.reject(noMemory());
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve(this.admit(parts, bytes));
      };
      const waiting: Waiting = { parts, bytes, admit };
      const timer = setTimeout(() => {
        this.line = this.line.filter((other) => other !== waiting);
        reject(noMemory());
        // It may have stood before others of its client that need less.
        this.serveLine();
      }, this.limits.patienceMs);
      this.line.push(waiting);
    });
  }

  /** No request overtakes an earlier one of the same client, or a large body would never find room. */
  private serveLine(): void {
    if (this.line.length === 0) return;
    const behind = new Set<string>();
    this.line = this.line.filter(({ parts, bytes, admit }) => {
      const client = clientOf(parts);
      const mayPass = !behind.has(client) && this.hasRoom(parts, bytes);
      if (mayPass) admit();
      else behind.add(client);
      return !mayPass;
    });
  }

  private hasRoom(parts: Parts, bytes: number): boolean {
    const free = this.limits.total - this.reserved - bytes;
    return free >= 0 && parts.every(([key, share]) => this.heldBy(key) + bytes <= share * free);
  }

  /** @throws AppError 413 for what would not fit if nobody else held anything */
  private assertPossible(bytes: number): void {
    if (bytes > this.mostOfOne) throw tooMuchMemory();
  }

  private add(parts: Parts, bytes: number): void {
    this.reserved += bytes;
    for (const [key] of parts) {
      const held = this.heldBy(key) + bytes;
      if (held === 0) this.held.delete(key);
      else this.held.set(key, held);
    }
  }

  private heldBy(key: string): number {
    return this.held.get(key) ?? 0;
  }
}

/** Neither a project's id nor an address holds a blank. */
function partsOf({ account, address }: Sender): Parts {
  return [
    [`client ${account} ${address}`, CLIENT_SHARE],
    [`account ${account}`, ACCOUNT_SHARE],
    [`address ${address}`, ADDRESS_SHARE],
  ];
}

const clientOf = (parts: Parts): string => parts[0]?.[0] ?? '';

/** Seconds: bodies that arrive at all arrive within a few. */
const RETRY_AFTER = '2';

function noMemory(): AppError {
  return new AppError({
    status: 503,
    code: 'service_unavailable',
    message: 'The server holds as many request bodies as it may: try again in a moment',
    headers: { 'Retry-After': RETRY_AFTER },
    database: { sqlstate: 'PL503' },
  });
}

function tooMuchMemory(): AppError {
  return new AppError({
    status: 413,
    code: 'payload_too_large',
    message: 'The body takes more memory than one request may have: send it in parts',
    database: { sqlstate: 'PL413' },
  });
}
