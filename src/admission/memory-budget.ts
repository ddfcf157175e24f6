/**
 * The memory that all request bodies of this process share. A body reserves memory before it is read; when none is left,
 * requests wait briefly, unread, and are then refused.
 *
 * No sender can take all of it: each may hold at most a multiple of the free memory, so some is always left for a sender that
 * holds none (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998).
 */
import { type AppError, busy, httpError } from '../common/errors/app-error';

export interface BudgetLimits {
  /** Bytes. */
  readonly total: number;
  /** Milliseconds that a request waits for memory. */
  readonly waitTimeoutMs: number;
  /** Requests that may wait; further requests are refused immediately. */
  readonly maxWaiting: number;
  /** Maximum size of one reservation in bytes. Default: what one client may have when nothing else is reserved. */
  readonly perReservation?: number;
  /** Whether a reservation may take more than its share, and than the total, when nothing else is reserved. */
  readonly admitsAnyAlone?: boolean;
}

/** The errors for a reservation that is refused. */
export interface BudgetErrors {
  /** For memory that is not free now. */
  readonly noMemory: () => AppError;
  /** For more memory than one reservation may ever have. */
  readonly tooMuchMemory: () => AppError;
}

/** The account that memory is reserved on. */
export interface Sender {
  /** The project's id; empty where there is none. */
  readonly account: string;
  /** The client's address. Clients behind an unknown proxy share an address, so its share is the largest. */
  readonly address: string;
}

/**
 * Maximum memory, as a multiple of the free memory: for one client of a project, for the project, and for one address in all
 * projects.
 */
const CLIENT_SHARE = 1;
const ACCOUNT_SHARE = 2;
const ADDRESS_SHARE = 4;

/** The accounts of a reservation, with the multiple of the free memory that each may hold. */
type Parts = readonly (readonly [key: string, share: number])[];

interface Waiting {
  readonly parts: Parts;
  readonly bytes: number;
  readonly admit: () => void;
}

/** Counts memory that the parsed form of a body takes. */
export interface Memory {
  /** Reserves all of the bytes or none. @throws AppError 413 for more than any body may take, 503 if memory is short */
  grow(bytes: number): void;
}

/** A body in memory, with its reservation. */
export interface HeldBody {
  readonly bytes: Buffer;
  readonly memory: Memory;
}

/** Memory that is reserved until release(). */
export class Reservation implements Memory {
  private isReleased = false;

  constructor(
    private readonly budget: MemoryBudget,
    private readonly parts: Parts,
    private bytes: number,
  ) {}

  grow(bytes: number): void {
    if (this.isReleased) throw new Error('the reservation was released');
    this.budget.take(this.parts, bytes, this.bytes);
    this.bytes += bytes;
  }

  /** Further calls have no effect. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.budget.giveBack(this.parts, this.bytes);
  }
}

export class MemoryBudget {
  private reserved = 0;
  private readonly held = new Map<string, number>();
  /** First in, first out. */
  private line: Waiting[] = [];

  constructor(
    private readonly limits: BudgetLimits,
    private readonly errors: BudgetErrors = BODY_ERRORS,
  ) {}

  /** Reserved bytes and waiting requests, for metrics. */
  stats(): { reserved: number; waiting: number } {
    return { reserved: this.reserved, waiting: this.line.length };
  }

  /** Bytes that one body may take. */
  get maxPerBody(): number {
    return this.limits.perReservation ?? (this.limits.total * CLIENT_SHARE) / (1 + CLIENT_SHARE);
  }

  /** Synchronous if the memory is free. @throws AppError 413 for more than one body may take, 503 after the timeout */
  reserve(sender: Sender, bytes: number): Reservation | Promise<Reservation> {
    const parts = partsOf(sender);
    this.assertPossible(bytes);
    const isBehind = this.line.some((other) => clientOf(other.parts) === clientOf(parts));
    if (isBehind || !this.hasRoom(parts, bytes)) return this.wait(parts, bytes);
    return this.admit(parts, bytes);
  }

  /** An initially empty reservation, which grows without waiting. */
  open(sender: Sender): Reservation {
    return new Reservation(this, partsOf(sender), 0);
  }

  /** Called by a Reservation that already holds `before` bytes. */
  take(parts: Parts, bytes: number, before: number): void {
    this.assertPossible(before + bytes);
    if (!this.hasRoom(parts, bytes)) throw this.errors.noMemory();
    this.add(parts, bytes);
  }

  /** Called by a Reservation. */
  giveBack(parts: Parts, bytes: number): void {
    this.add(parts, -bytes);
    this.serveLine();
  }

  private admit(parts: Parts, bytes: number): Reservation {
    this.add(parts, bytes);
    return new Reservation(this, parts, bytes);
  }

  private wait(parts: Parts, bytes: number): Promise<Reservation> {
    if (this.line.length >= this.limits.maxWaiting) return Promise.reject(this.errors.noMemory());
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve(this.admit(parts, bytes));
      };
      const waiting: Waiting = { parts, bytes, admit };
      const timer = setTimeout(() => {
        this.line = this.line.filter((other) => other !== waiting);
        reject(this.errors.noMemory());
        // Smaller requests of the same client may have waited behind it.
        this.serveLine();
      }, this.limits.waitTimeoutMs);
      this.line.push(waiting);
    });
  }

  /** Requests of one client are served in order, or a large body would never find enough free memory. */
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
    if (this.limits.admitsAnyAlone && this.reserved === 0) return true;
    const free = this.limits.total - this.reserved - bytes;
    return free >= 0 && parts.every(([key, share]) => this.heldBy(key) + bytes <= share * free);
  }

  /** @throws AppError 413 for more than fits into an empty budget */
  private assertPossible(bytes: number): void {
    if (bytes > this.maxPerBody) throw this.errors.tooMuchMemory();
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

/** Unambiguous, since neither a project's id nor an address contains a space. */
function partsOf({ account, address }: Sender): Parts {
  return [
    [`client ${account} ${address}`, CLIENT_SHARE],
    [`account ${account}`, ACCOUNT_SHARE],
    [`address ${address}`, ADDRESS_SHARE],
  ];
}

const clientOf = (parts: Parts): string => parts[0]?.[0] ?? '';

const bodyTakesTooMuch = (): AppError =>
  httpError(413, 'The body takes more memory than one request may have: send it in parts');

export const noMemoryForBody = (): AppError =>
  busy('The server holds as many request bodies as it may: try again in a moment');

const BODY_ERRORS: BudgetErrors = { noMemory: noMemoryForBody, tooMuchMemory: bodyTakesTooMuch };
