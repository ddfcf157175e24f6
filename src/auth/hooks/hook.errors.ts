/** Errors of the hooks that a project runs during a sign-in. */
import { AppError } from '../../common/errors/app-error';

const MAX_MESSAGE = 500;

/** The message of the fault goes to the log only: it may reveal data of the project. */
export const hookFailed = (name: string, cause: unknown): AppError =>
  new AppError(
    500,
    'hook_failed',
    `The project's function for ${name.replace(/_hook$/, '').replaceAll('_', ' ')} failed`,
    { cause },
  );

/** @param status 400; any other value becomes 403, because a refusal has no others */
export function hookRefused(status: unknown, message: unknown): AppError {
  const isText = typeof message === 'string' && message !== '' && message.length <= MAX_MESSAGE;
  return new AppError(
    status === 400 ? 400 : 403,
    'hook_refused',
    isText && !/\p{Cc}/u.test(message) ? message : 'The project refused this request',
  );
}
