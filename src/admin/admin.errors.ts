/** Errors of the administration that belong to no feature. */
import { AppError } from '../common/errors/app-error';

export const sessionNotFound = (): AppError =>
  new AppError({
    status: 404,
    code: 'session_not_found',
    message: "The project's database has no such session",
  });
