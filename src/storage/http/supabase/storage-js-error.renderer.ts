/**
 * Errors as storage-js reads them: `{statusCode, error, message}`, with the message of Supabase's storage if it has
 * one for the case. The HTTP status is the error's own; Supabase's server answers most errors with 400.
 */
import { Injectable } from '@nestjs/common';
import { CredentialsRefused } from '../../../access/access.errors';
import { AppError } from '../../../common/errors/app-error';
import { storageErrorBody, StorageErrorRenderer } from '../storage-error.renderer';

export interface StorageJsErrorBody {
  /** The HTTP status as text. */
  readonly statusCode: string;
  readonly error: string;
  readonly message: string;
}

/** `error` and `message` by Plinth's code. */
const KNOWN: Readonly<Record<string, (error: AppError) => readonly [error: string, message: string]>> = {
  bucket_not_found: () => ['Bucket not found', 'Bucket not found'],
  file_not_found: () => ['not_found', 'Object not found'],
  bucket_already_exists: () => ['Duplicate', 'The resource already exists'],
  file_already_exists: () => ['Duplicate', 'The resource already exists'],
  file_too_large: () => ['Payload too large', 'The object exceeded the maximum allowed size'],
  unsupported_media_type: ({ extra, message }) => [
    'invalid_mime_type',
    typeof extra.type === 'string' ? `mime type ${extra.type} is not supported` : message,
  ],
  forbidden: ({ message }) => ['Unauthorized', message],
  invalid_signature: () => ['InvalidSignature', 'The signature of the URL is not valid'],
  signed_url_expired: () => ['InvalidJWT', 'The URL has expired'],
};

/** Codes that only resumable uploads have. */
const OF_TUS: ReadonlySet<string> = new Set(['upload_locked', 'checksum_mismatch']);

@Injectable()
export class StorageJsErrorRenderer extends StorageErrorRenderer {
  override matches(path: string): boolean {
    return /^(\/p\/[^/]*)?\/storage\/v1(\/|$)/.test(path);
  }

  override render(error: AppError): StorageJsErrorBody {
    return storageJsErrorBody(error);
  }
}

export function storageJsErrorBody(error: AppError): StorageJsErrorBody {
  const { code, message } = storageErrorBody(error).error;
  const [name, text] = KNOWN[code]?.(error) ?? [OF_TUS.has(error.code) ? error.code : code, message];
  const isMissing = error instanceof CredentialsRefused && error.fault === 'missing';
  return { statusCode: String(error.status), error: name, message: isMissing ? 'Invalid Compact JWS' : text };
}
