/** What holds for every file that comes into a bucket: uploaded, copied or moved. */
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

/** Bytes: the least of what bucket, project and install allow. */
export function limitOf(
  { settings }: Project,
  { fileSizeLimit }: UploadTarget,
  { maxFileBytes }: StorageConfig,
): number {
  return Math.min(fileSizeLimit ?? Infinity, settings.max_file_size ?? Infinity, maxFileBytes);
}

/** @throws AppError 413, 415 when the bucket does not take such a file */
export function assertTaken(
  { allowedMimeTypes }: Pick<UploadTarget, 'allowedMimeTypes'>,
  { size, contentType }: Pick<FileContent, 'size' | 'contentType'>,
  limit: number,
): void {
  if (size > limit) throw fileTooLarge(limit);
  if (!isAllowed(contentType, allowedMimeTypes)) throw unsupportedMediaType(contentType);
}

/**
 * After a lost connection nobody knows whether the row was committed, and a row must not lose its bytes: only what the
 * database, or we ourselves, refused for sure is thrown away at once.
 */
export function isCertain(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.severity === 'ERROR';
  if (error instanceof DatabaseFault) return isCertain(answerToFault(error));
  return error instanceof AppError && (error.status < 500 || isCertain(error.cause));
}
