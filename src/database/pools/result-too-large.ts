/** Refuses a result of a project's database that is too large to be held in memory. */
import { AppError } from '../../common/errors/app-error';

const CODE = 'result_too_large';
const MIB = 1024 * 1024;

/** 500. @param maxBytes that the rows may have */
export function resultTooLarge(maxBytes: number): AppError {
  return new AppError({
    status: 500,
    code: CODE,
    message: `The project's database answered with more than the ${maxBytes / MIB} MiB that Plinth reads at once`,
    database: { sqlstate: 'PL500' },
  });
}

export function isResultTooLarge(error: unknown): boolean {
  return error instanceof AppError && error.code === CODE;
}
