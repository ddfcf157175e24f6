/** Checks whether the scheduled backups exist. */
import { Injectable } from '@nestjs/common';
import { BackupStates } from '../backup/schedule/backup-state.service';

/** Backups are missing. The message names no project, because probes carry no credentials. */
export class BackupsMissingWarning extends Error {
  override readonly name = 'BackupsMissingWarning';
}

@Injectable()
export class BackupHealth {
  constructor(private readonly backups: BackupStates) {}

  /** Whether there are schedules. Also false while the platform database cannot be read, which another check reports. */
  async hasSchedule(): Promise<boolean> {
    const states = await this.backups.recent().catch(() => []);
    return states.some(({ schedule }) => schedule?.enabled);
  }

  /** @throws BackupsMissingWarning */
  async assertNoneMissing(): Promise<void> {
    const missing = (await this.backups.recent()).filter(({ isMissing }) => isMissing).length;
    if (missing > 0) throw new BackupsMissingWarning(`${missing} scheduled backups are missing`);
  }
}
