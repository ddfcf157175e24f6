/** The refusal of a result of a project's database that Plinth would have to hold in memory. */
import { DatabaseFault, isFault } from '../../common/errors/database-fault';

const MIB = 1024 * 1024;

/** @param maxBytes that the rows may have */
export function resultTooLarge(maxBytes: number): DatabaseFault {
  return new DatabaseFault(
    'result_too_large',
    `The project's database answered with more than the ${maxBytes / MIB} MiB that Plinth reads at once`,
  );
}

export function isResultTooLarge(error: unknown): boolean {
  return isFault(error, 'result_too_large');
}
