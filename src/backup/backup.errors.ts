/** Errors of backup and restore. */
import { DatabaseError } from 'pg';
import { AppError } from '../common/errors/app-error';
import { messageOf } from '../common/errors/error-facts';
import { notSupported, shownReason } from '../copies/copies.errors';
import { isConnectionLoss } from '../database/sql/connection-loss';
import { isServerUnavailable } from '../database/sql/sqlstate';

export const archiveInvalid = (reason: string, cause?: unknown): AppError =>
  new AppError(400, 'invalid_archive', `This is not an intact backup: ${shownReason(reason)}`, { cause });

/** An incremental archive needs the store of the destination in which it was made. */
export const storedFileMissing = (objectId: string, destination: string): AppError =>
  notSupported(
    `The backup is incremental, and its file ${objectId} is not in ${destination}: restore it where BACKUP_URL names the destination that it was made in`,
  );

export const wrongPassphrase = (cause?: unknown): AppError =>
  new AppError(
    400,
    'wrong_passphrase',
    'The passphrase does not open this backup, or its secrets were altered',
    { cause },
  );

export const passphraseInvalid = (): AppError =>
  new AppError(
    400,
    'invalid_parameters',
    'The header Backup-Passphrase must be a percent-encoded passphrase of 12 characters or more',
  );

/** Keeps PostgreSQL's permission error from being reported as the client's. */
export const copyFailed = (cause: Error): AppError =>
  new AppError(500, 'backup_failed', `PostgreSQL could not copy the cluster: ${cause.message}`, { cause });

export const extensionsNotAllowed = (names: readonly string[]): AppError =>
  notSupported(
    `The backup has extensions that may reach files, programs or the network: ${names.join(', ')}. To allow them, name them in RESTORE_EXTENSIONS`,
  );

export const physicalNotSupported = (): AppError =>
  notSupported('The PostgreSQL of this install is not the embedded one: back it up with its own tools');

export const projectExists = (slug: string): AppError =>
  new AppError(
    409,
    'project_already_exists',
    `The project of this backup exists as "${slug}": delete it first, or restore a copy under another slug`,
  );

export const restoreFailed = (step: string, cause: Error): AppError =>
  new AppError(
    400,
    'restore_failed',
    `Restoring ${step} failed, and everything was undone: ${cause.message}`,
    { cause },
  );

/** The database that a dry run restored differs from the archive. */
export const restoreDiffers = (difference: string): AppError =>
  restoreFailed('the project', new Error(difference));

/** For the log only: the client has disconnected. */
export const restoreAbandoned = (): AppError =>
  new AppError(400, 'restore_failed', 'The client disconnected, and everything was undone');

/** The server ended the connection, or lacks disk or memory. */
export const restoreInterrupted = (step: string, cause: Error): AppError =>
  new AppError(
    503,
    'service_unavailable',
    `Restoring ${step} failed, and nothing of it will remain: ${cause.message}`,
    { headers: { 'Retry-After': '1' }, cause },
  );

/** A failure of PostgreSQL during a step: of the server, or of the archive's content. */
export function restoreFault(step: string, error: Error): AppError {
  if (error instanceof AppError) return error;
  return isOfServer(error) ? restoreInterrupted(step, error) : restoreFailed(step, error);
}

const isOfServer = (error: Error): boolean =>
  isConnectionLoss(error) || (error instanceof DatabaseError && isServerUnavailable(error.code ?? ''));

/** An error of the storage. It includes the cause, because only administrators restore. */
export const fileNotStored = (objectId: string, fault: AppError): AppError =>
  new AppError(
    fault.status,
    fault.code,
    `Storing files/${objectId} failed, and everything was undone: ${messageOf(fault.cause ?? fault)}`,
    { cause: fault },
  );

export const backupsNotConfigured = (reason: string): AppError =>
  new AppError(400, 'backup_not_configured', `Backups cannot be made by schedule: ${reason}`);
