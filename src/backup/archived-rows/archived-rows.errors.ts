/** Errors of reading rows out of an archive. */
import { AppError } from '../../common/errors/app-error';

export const archiveNotFound = (): AppError =>
  new AppError(
    404,
    'backup_not_found',
    'The project has no such backup in the destination of scheduled backups',
  );

/** Also for a table or column that the service role may not read today. */
export const tableNotArchived = (): AppError =>
  new AppError(
    404,
    'not_found',
    'The backup has no such table or column, or the service role may not read it',
  );
