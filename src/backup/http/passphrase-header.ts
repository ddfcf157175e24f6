/** The header with the passphrase of a backup. */
import { passphraseInvalid } from '../backup.errors';
import { MIN_PASSPHRASE } from '../schedule/backup-passphrase';

const MAX_PASSPHRASE = 1024;

export const PASSPHRASE = {
  name: 'Backup-Passphrase',
  required: true,
  description: `Encrypts the secrets in the backup: ${MIN_PASSPHRASE} characters or more, percent-encoded`,
  example: 'correct-horse-battery-staple',
};

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
