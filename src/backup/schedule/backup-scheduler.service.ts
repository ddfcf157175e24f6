/**
 * Makes backups when they are due. Due backups are found in the platform database: a backup that was missed while the machine
 * was off is made once, and a backup whose process was killed is tried again.
 */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { BackupStates } from './backup-state.service';
import { DueWork } from './due-work';
import { RunRepository } from './run.repository';
import { ScheduledBackup } from './scheduled-backup.service';

@Injectable()
export class BackupScheduler extends DueWork {
  constructor(
    private readonly backup: ScheduledBackup,
    private readonly states: BackupStates,
    private readonly runs: RunRepository,
    clock: Clock,
  ) {
    super('backups', clock);
  }

  protected async listDue(): Promise<string[]> {
    for (const { slug } of await this.runs.failLost(this.clock.date()))
      this.logger.warn(`the backup of ${slug} was interrupted; it will be tried again`);
    return (await this.states.list()).filter(({ isDue }) => isDue).map(({ subject }) => subject);
  }

  protected make(subject: string, requestedAt: Date | null): Promise<void> {
    return this.backup.make(subject, requestedAt);
  }

  protected interrupt(): void {
    this.backup.stop();
  }
}
