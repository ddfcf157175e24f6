/** Errors of TUS that storage itself does not have. */
import { AppError } from '../../common/errors/app-error';
import { ObjectMissingError } from '../providers/object-store';
import { uploadNotFound } from '../storage.errors';

export const uploadIsFinishing = (): AppError =>
  new AppError(423, 'upload_locked', 'Another request completes this upload; try again in a second', {
    headers: { 'Retry-After': '1' },
  });

/** The status comes from the checksum extension of TUS. */
export const checksumMismatch = (): AppError =>
  new AppError(
    460,
    'checksum_mismatch',
    'The bytes do not have the digest of Upload-Checksum, and were not kept',
  );

/**
 * Rethrows the error of a provider. A restored backup has the rows of unfinished uploads, but not their
 * bytes.
 * @throws AppError 404 for missing bytes
 */
export function missingAsNotFound(error: unknown): never {
  throw error instanceof ObjectMissingError ? uploadNotFound() : error;
}
