/** Errors of the advisor. */
import { AppError } from '../common/errors/app-error';

export const adviceNotFound = (): AppError =>
  new AppError({ status: 404, code: 'advice_not_found', message: 'No check gives advice with this id' });
