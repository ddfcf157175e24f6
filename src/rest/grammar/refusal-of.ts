/** For specs only: the public half of the error that a parser throws. */
import { GrammarError, type GrammarErrorCode } from './grammar-error';

export interface Refusal {
  readonly code: GrammarErrorCode;
  readonly message: string;
  readonly details: string | null;
}

/** @throws Error when `work` returns; rethrows any error that isn't a GrammarError. */
export function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error;
    return { code: error.code, message: error.message, details: error.details };
  }
  throw new Error('it was not refused');
}
