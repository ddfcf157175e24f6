/** The passphrase of scheduled backups. */
import { Inject, Injectable } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { BACKUP_CONFIG, BackupConfig } from '../../config/app-config';
import { readPassphrase } from '../../config/secret-file';
import { PassphraseKey } from '../archive/passphrase-key';
import { backupsNotConfigured } from '../backup.errors';

export const MIN_PASSPHRASE = 12;

@Injectable()
export class BackupPassphrase {
  private derived: { readonly passphrase: string; readonly key: PassphraseKey } | undefined;

  constructor(@Inject(BACKUP_CONFIG) private readonly config: BackupConfig) {}

  /** Read again each time, so that the next backup uses a changed file. @throws AppError 400 when there is none */
  get(): string {
    const { passphrase: given, passphraseFile: file } = this.config;
    const passphrase = read(given, file);
    if (passphrase === null)
      throw backupsNotConfigured('set BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, and restart');
    if (passphrase.length < MIN_PASSPHRASE)
      throw backupsNotConfigured(`the passphrase in ${file} has fewer than ${MIN_PASSPHRASE} characters`);
    return passphrase;
  }

  /**
   * The key of the passphrase. All archives of this process share it, because deriving one takes a quarter of a second.
   * @throws AppError 400 when there is no passphrase
   */
  async key(): Promise<PassphraseKey> {
    const passphrase = this.get();
    if (this.derived?.passphrase !== passphrase)
      this.derived = { passphrase, key: await PassphraseKey.create(passphrase) };
    return this.derived.key;
  }
}

function read(given: string | null, file: string | null): string | null {
  try {
    return readPassphrase(given, file);
  } catch (error) {
    throw backupsNotConfigured(`BACKUP_PASSPHRASE_FILE cannot be read: ${messageOf(error)}`);
  }
}
