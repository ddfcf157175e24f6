/** The header with the passphrase of a backup, and the archive as a body. */
import type { Response } from 'express';
import { ARCHIVE_TYPES, mediaTypeOf } from '../../backup/archive/compression';
import type { Compression } from '../../config/compression';
import { passphraseInvalid } from '../../backup/backup.errors';
import { MIN_PASSPHRASE } from '../../backup/schedule/backup-passphrase';

const MAX_PASSPHRASE = 1024;

export const ARCHIVE = { type: 'string', format: 'binary' } as const;
/** Of a response in the OpenAPI document. */
export const ARCHIVE_CONTENT = Object.fromEntries(ARCHIVE_TYPES.map((type) => [type, { schema: ARCHIVE }]));
export const PASSPHRASE = {
  name: 'Backup-Passphrase',
  required: true,
  description: `Encrypts the secrets in the backup: ${MIN_PASSPHRASE} characters or more, percent-encoded`,
  example: 'correct-horse-battery-staple',
};

/** Sets the headers of a response that is an archive. @returns the response */
export function archiveIn(response: Response, compression: Compression = 'gzip'): Response {
  response.setHeader('Content-Type', mediaTypeOf(compression));
  response.setHeader('Cache-Control', 'no-store');
  return response;
}

/** @throws AppError 400 */
export function passphraseOf(header: string | undefined): string {
  try {
    const passphrase = decodeURIComponent(header ?? '');
    if (passphrase.length >= MIN_PASSPHRASE && passphrase.length <= MAX_PASSPHRASE) return passphrase;
  } catch {
    // Malformed percent-encoding.
  }
  throw passphraseInvalid();
}
