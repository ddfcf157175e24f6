/** Errors of copying a database. */
import { AppError } from '../common/errors/app-error';
import { cleanText } from '../database/sql/clean-error';

/** Characters of a reason. It may quote an archive, which a stranger may have made. */
const MAX_REASON = 1_000;
export const shownReason = (reason: string): string => cleanText(reason.slice(0, MAX_REASON));

export const notSupported = (reason: string): AppError =>
  new AppError(400, 'backup_not_supported', shownReason(reason));

export const rolesNotCreatable = (names: readonly string[]): AppError =>
  notSupported(
    `The project's owner cannot create roles before PostgreSQL 16: create these first: ${names.join(', ')}`,
  );

export const rolesMissing = (names: readonly string[]): AppError =>
  notSupported(
    `Privileges or policies of the project name roles that its owner did not create and this server lacks: ${names.join(', ')}. Create them first`,
  );
