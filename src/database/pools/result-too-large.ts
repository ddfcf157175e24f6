/** The refusal of a project database's result that is too large to hold in memory. */
import { DatabaseFault, isFault } from '../../common/errors/database-fault';

const MIB = 1024 * 1024;

/** @param maxBytes the limit for the rows */
export function resultTooLarge(maxBytes: number): DatabaseFault {
  return new DatabaseFault(
    'result_too_large',
    `The project's database answered with more than the ${maxBytes / MIB} MiB that Plinth reads at once`,
  );
}

export function isResultTooLarge(error: unknown): boolean {
  return isFault(error, 'result_too_large');
}
