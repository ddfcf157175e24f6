/** Rules for every file that enters a bucket by upload, copy or move. */
import { DatabaseError } from 'pg';
import { AppError } from '../../common/errors/app-error';
import { DatabaseFault } from '../../common/errors/database-fault';
import { StorageConfig } from '../../config/app-config';
import { answerToFault } from '../../http/errors/fault-answers';
import { Project } from '../../projects/project';
import { isAllowed } from '../content-type/content-type';
import { fileTooLarge, unsupportedMediaType } from '../storage.errors';
import { FileContent } from './file';
import { UploadTarget } from './target.repository';

/** Largest size of a file, in bytes: the lowest limit of bucket, project and install. */
export function limitOf(
  { settings }: Project,
  { fileSizeLimit }: UploadTarget,
  { maxFileBytes }: StorageConfig,
): number {
  return Math.min(fileSizeLimit ?? Infinity, settings.max_file_size ?? Infinity, maxFileBytes);
}

/** @throws AppError 413, 415 when the bucket does not accept the file */
export function assertAccepted(
  { allowedMimeTypes }: Pick<UploadTarget, 'allowedMimeTypes'>,
  { size, contentType }: Pick<FileContent, 'size' | 'contentType'>,
  limit: number,
): void {
  if (size > limit) throw fileTooLarge(limit);
  if (!isAllowed(contentType, allowedMimeTypes)) throw unsupportedMediaType(contentType);
}

/**
 * True when an error proves that the row was not committed, so that its bytes can be removed at once. After a lost
 * connection the outcome is unknown and the row may need its bytes: the sweep decides later.
 */
export function isDefinite(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.severity === 'ERROR';
  if (error instanceof DatabaseFault) return isDefinite(answerToFault(error));
  return error instanceof AppError && (error.status < 500 || isDefinite(error.cause));
}
