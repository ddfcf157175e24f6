/**
 * The memory that PostgreSQL takes for the bodies of statements, where it shares the memory of this machine, by the rules of
 * memory-budget.ts. It is reserved when a body has arrived, so that a slow client holds none of it.
 */
import { MemoryBudget, type Reservation, type Sender } from '../../admission/memory-budget';

/** Bytes of a backend for each byte of a body: the message, the text, its values, and the rows. */
const MULTIPLE = 15;
/** Smaller bodies take no more than a backend has in any case, and never wait for large ones. */
const SMALL = 64 * 1024;
const WAIT_TIMEOUT_MS = 3_000;
const MAX_WAITING = 1_000;

export class StatementBudget {
  private readonly budget: MemoryBudget;

  /** @param total bytes, which a single body may exceed */
  constructor(total: number) {
    const limits = { total, waitTimeoutMs: WAIT_TIMEOUT_MS, maxWaiting: MAX_WAITING };
    this.budget = new MemoryBudget({ ...limits, perReservation: Infinity, admitsAnyAlone: true });
  }

  /** @throws AppError 503 after the timeout */
  reserve(sender: Sender, body: Buffer): Reservation | Promise<Reservation> | undefined {
    if (body.length < SMALL) return undefined;
    return this.budget.reserve(sender, MULTIPLE * body.length);
  }
}
