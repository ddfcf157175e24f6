/** Errors of copying a database. */
import { AppError } from '../common/errors/app-error';
import { cleanText } from '../database/sql/clean-error';

/** Characters of a reason. It may quote an archive, which a stranger may have made. */
const MAX_REASON = 1_000;
export const shownReason = (reason: string): string => cleanText(reason.slice(0, MAX_REASON));

export const notSupported = (reason: string): AppError =>
  new AppError({ status: 400, code: 'backup_not_supported', message: shownReason(reason) });
