/**
 * The memory of all results that are held before they are sent, by the rules of memory-budget.ts. A result never waits for memory:
 * it holds a database connection, and its rows have arrived already.
 */
import { AppError } from '../../common/errors/app-error';
import { MemoryBudget } from '../../admission/memory-budget';
import { restError } from '../rest.errors';

/** Seconds that Retry-After tells a client to wait; most clients read a result faster. */
const RETRY_AFTER = '2';

const HINT =
  'Ask for less with select= and limit=; a write returns no rows with Prefer: return=minimal. The setting is MAX_RESULT_SIZE.';

const tooLarge = (): AppError =>
  restError('PL159', {
    message: 'The result is larger than the server holds at once, and cannot be streamed',
    detail: 'Nothing was changed.',
    hint: HINT,
  });

const noMemory = (): AppError =>
  new AppError(503, 'PL503', 'The server holds as many results as it may: try again in a moment', {
    database: { sqlstate: 'PL503', detail: 'Nothing was changed.' },
    headers: { 'Retry-After': RETRY_AFTER },
  });

export class ResultBudget extends MemoryBudget {
  /** @param perReservation bytes of a result */
  constructor(total: number, perReservation: number) {
    super({ total, waitTimeoutMs: 0, maxWaiting: 0, perReservation }, { noMemory, tooMuchMemory: tooLarge });
  }
}
