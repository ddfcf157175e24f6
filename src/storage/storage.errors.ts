/** Errors of the storage, with the codes of DECISIONS.md 6. */
import { AppError } from '../common/errors/app-error';

/** Every code that a storage answer can carry, with its status where it has but one. */
export const STORAGE_ERROR_CODES: Readonly<Record<string, number>> = {
  invalid_parameters: 400,
  unauthorized: 401,
  invalid_signature: 401,
  signed_url_expired: 401,
  forbidden: 403,
  not_found: 404,
  project_not_found: 404,
  bucket_not_found: 404,
  file_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  bucket_already_exists: 409,
  file_already_exists: 409,
  precondition_failed: 412,
  file_too_large: 413,
  quota_exceeded: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  rate_limited: 429,
  storage_unavailable: 500,
};

function storageError(code: string, message: string, more: { cause?: unknown } = {}): AppError {
  return new AppError({ status: STORAGE_ERROR_CODES[code] ?? 500, code, message, ...more });
}

export const invalidParameters = (message: string, cause?: unknown): AppError =>
  storageError('invalid_parameters', message, { cause });

export const invalidSignature = (): AppError =>
  storageError('invalid_signature', 'The address was altered, or revoked');

export const signedUrlExpired = (): AppError => storageError('signed_url_expired', 'The address has expired');

export const forbidden = (message = 'The policies of the project do not allow this'): AppError =>
  storageError('forbidden', message);

export const bucketNotFound = (): AppError => storageError('bucket_not_found', 'There is no such bucket');

export const fileNotFound = (): AppError => storageError('file_not_found', 'There is no such file');

export const pathNotFound = (): AppError => storageError('not_found', 'The storage has no such address');

export const bucketAlreadyExists = (): AppError =>
  storageError('bucket_already_exists', 'A bucket of that name already exists');

export const fileAlreadyExists = (): AppError =>
  storageError('file_already_exists', 'The bucket already has a file of that name');

/** @param limit bytes */
export const fileTooLarge = (limit: number): AppError =>
  storageError('file_too_large', `The file is larger than ${limit} bytes`);

/** @param scope whose quota it is @param unit bytes or files @param quota how many */
export const quotaExceeded = (scope: string, unit: string, quota: number): AppError =>
  storageError(
    'quota_exceeded',
    `The ${scope} may hold ${quota} ${unit}. A file that takes the place of another needs upsert=true in the address, or in a field before the file`,
  );

export const unsupportedMediaType = (type: string): AppError =>
  storageError('unsupported_media_type', `The bucket does not take files of type ${type}`);

export const uploadStalled = (): AppError =>
  storageError('request_timeout', 'The upload did not go on in time');

export const preconditionFailed = (): AppError =>
  storageError('precondition_failed', 'The file is not, or no longer, in the state that the request names');

/** @param size bytes of the file */
export const rangeNotSatisfiable = (size: number): AppError =>
  new AppError({
    status: 416,
    code: 'range_not_satisfiable',
    message: `The file has ${size} bytes`,
    headers: { 'Content-Range': `bytes */${size}` },
  });

/**
 * What a project's storage tables hold, or their functions answer, is not what Plinth writes there.
 * @param detail names what was found, never its value
 */
export const tablesAltered = (detail: string, cause?: unknown): AppError =>
  storageError(
    'storage_unavailable',
    `The storage tables of this project were altered, and Plinth cannot use them: ${detail}`,
    { cause },
  );

export const storageUnavailable = (cause: unknown): AppError =>
  storageError('storage_unavailable', 'The storage is not available at the moment', { cause });
