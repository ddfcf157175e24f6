/** Errors of storage, with their codes (docs/reference/storage.md). */
import { AppError, AppErrorDetails } from '../common/errors/app-error';
import { codeOf } from '../common/errors/error-facts';

/** Every error code of storage with its status; `storage_unavailable` is also sent with 503. */
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
  conflict: 409,
  precondition_failed: 412,
  file_too_large: 413,
  quota_exceeded: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  file_infected: 422,
  rate_limited: 429,
  storage_unavailable: 500,
  project_paused: 503,
};

function storageError(
  code: string,
  message: string,
  more: Pick<AppErrorDetails, 'cause' | 'extra'> = {},
): AppError {
  return new AppError(STORAGE_ERROR_CODES[code] ?? 500, code, message, { ...more });
}

export const invalidParameters = (message: string, cause?: unknown): AppError =>
  storageError('invalid_parameters', message, { cause });

export const invalidSignature = (): AppError =>
  storageError('invalid_signature', 'The signed URL was altered, or revoked');

export const signedUrlExpired = (): AppError =>
  storageError('signed_url_expired', 'The signed URL has expired');

export const forbidden = (message = 'The policies of the project do not allow this'): AppError =>
  storageError('forbidden', message);

export const bucketNotFound = (): AppError => storageError('bucket_not_found', 'There is no such bucket');

export const fileNotFound = (): AppError => storageError('file_not_found', 'There is no such file');

export const pathNotFound = (): AppError => storageError('not_found', 'Storage has no such route');

/** @param files number of files in the bucket */
export const bucketNotEmpty = (files: number): AppError =>
  storageError('conflict', `The bucket holds ${files} files; delete them first`);

export const bucketAlreadyExists = (): AppError =>
  storageError('bucket_already_exists', 'A bucket of that name already exists');

export const fileAlreadyExists = (): AppError =>
  storageError('file_already_exists', 'The bucket already has a file of that name');

/** @param limit maximum bytes */
export const fileTooLarge = (limit: number): AppError =>
  storageError('file_too_large', `The file is larger than ${limit} bytes`);

/** @param signature the name that the virus scanner found */
export const fileInfected = (signature: string): AppError =>
  storageError('file_infected', `The virus scanner found ${signature} in the file`);

export const fileNotScanned = (): AppError =>
  storageError('file_too_large', 'The file is larger than the virus scanner reads');

/** @param scope project or bucket @param unit bytes or files @param quota the limit, in that unit */
export const quotaExceeded = (scope: string, unit: string, quota: number): AppError =>
  storageError(
    'quota_exceeded',
    `The ${scope} may hold ${quota} ${unit}. To replace a file, send upsert=true in the query string or in a field before the file`,
  );

export const unsupportedMediaType = (type: string): AppError =>
  storageError('unsupported_media_type', `The bucket does not accept files of type ${type}`, {
    extra: { type },
  });

export const pictureNotSupported = (type: string): AppError =>
  storageError('unsupported_media_type', `Pictures of type ${type} cannot be transformed`, {
    extra: { type },
  });

/** The error for a broken file, or a file that exceeds a limit. */
export const pictureUnusable = (cause?: unknown): AppError =>
  storageError(
    'invalid_parameters',
    'The file is broken, or too large a picture, and cannot be transformed',
    { cause },
  );

export const uploadStalled = (): AppError => storageError('request_timeout', 'The upload arrived too slowly');

export const uploadNotFound = (): AppError =>
  storageError('not_found', 'There is no such upload, or it has expired');

/** @param received number of bytes that are stored */
export const offsetTaken = (received: number): AppError =>
  storageError('conflict', `The upload has ${received} bytes; Upload-Offset must say so`);

/** @param limit maximum number of uploads */
export const tooManyUploads = (limit: number): AppError =>
  new AppError(
    429,
    'rate_limited',
    `The project has ${limit} unfinished uploads, or their bytes fill its quota; end some, or wait until they expire`,
    { headers: { 'Retry-After': '60' } },
  );

export const preconditionFailed = (): AppError =>
  storageError(
    'precondition_failed',
    'The file is not in the state that If-Match or If-Unmodified-Since requires',
  );

/** @param size number of bytes of the file */
export const rangeNotSatisfiable = (size: number): AppError =>
  new AppError(416, 'range_not_satisfiable', `The file has ${size} bytes`, {
    headers: { 'Content-Range': `bytes */${size}` },
  });

/**
 * A project's storage tables or functions return something that Plinth does not write there.
 * @param detail names the table, column or function, never its value
 */
export const tablesAltered = (detail: string, cause?: unknown): AppError =>
  storageError(
    'storage_unavailable',
    `The storage tables of this project were altered, and Plinth cannot use them: ${detail}`,
    { cause },
  );

/** Temporary errors of the system: no space, or no file descriptor. */
const SHORTAGES = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);
const RETRY_SECONDS = 10;

export const scannerUnavailable = (cause?: unknown): AppError =>
  new AppError(
    503,
    'storage_unavailable',
    'The virus scanner is not available, and files are refused until it is',
    { headers: { 'Retry-After': String(RETRY_SECONDS) }, cause },
  );

/** 503 for a shortage of space or file descriptors, else 500. */
export const storageUnavailable = (cause: unknown): AppError => {
  const isShort = SHORTAGES.has(codeOf(cause) ?? '');
  return new AppError(
    isShort ? 503 : 500,
    'storage_unavailable',
    'The storage is not available at the moment',
    { headers: isShort ? { 'Retry-After': String(RETRY_SECONDS) } : {}, cause },
  );
};
