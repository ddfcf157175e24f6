/** Errors of TUS that storage itself does not have. */
import { AppError } from '../../common/errors/app-error';
import { ObjectMissingError } from '../providers/object-store';
import { uploadNotFound } from '../storage.errors';

export const uploadIsFinishing = (): AppError =>
  new AppError({
    status: 423,
    code: 'upload_locked',
    message: 'Another request completes this upload; try again in a second',
    headers: { 'Retry-After': '1' },
  });

/** Status of the checksum extension. */
export const checksumMismatch = (): AppError =>
  new AppError({
    status: 460,
    code: 'checksum_mismatch',
    message: 'The bytes do not have the digest of Upload-Checksum, and were not kept',
  });

/** Rethrows the error of a provider. A restored backup has the rows of unfinished uploads, and not their bytes. @throws AppError 404 */
export function missingAsNotFound(error: unknown): never {
  throw error instanceof ObjectMissingError ? uploadNotFound() : error;
}
