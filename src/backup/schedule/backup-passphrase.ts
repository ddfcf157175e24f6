/** The passphrase of scheduled backups. */
import { Inject, Injectable } from '@nestjs/common';
import { BACKUP_CONFIG, BackupConfig } from '../../config/app-config';
import { PassphraseKey } from '../archive/passphrase-key';
import { backupsNotConfigured } from '../backup.errors';

export const MIN_PASSPHRASE = 12;

@Injectable()
export class BackupPassphrase {
  private derived: PassphraseKey | undefined;

  constructor(@Inject(BACKUP_CONFIG) private readonly config: BackupConfig) {}

  /** @throws AppError 400 when there is none */
  get(): string {
    const { passphrase } = this.config;
    if (passphrase !== null) return passphrase;
    throw backupsNotConfigured('set BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, and restart');
  }

  /**
   * The key of the passphrase. All archives of this process share it, because deriving one takes a quarter of a second.
   * @throws AppError 400 when there is no passphrase
   */
  async key(): Promise<PassphraseKey> {
    return (this.derived ??= await PassphraseKey.create(this.get()));
  }
}
