/** Errors of the administration that belong to no feature. */
import { AppError } from '../common/errors/app-error';

export const sessionNotFound = (): AppError =>
  new AppError(404, 'session_not_found', "The project's database has no such session");
