/**
 * Makes backups when they are due, one at a time in each process. The platform database says what is due: a backup that was
 * missed while the machine was off is made up for once, and one whose process was killed is tried again.
 */
import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { BackupStates } from './backup-state.service';
import { RunRepository } from './run.repository';
import { ScheduledBackup } from './scheduled-backup.service';

const INTERVAL_MS = 30_000;

@Injectable()
export class BackupScheduler implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Backup');
  private timer: NodeJS.Timeout | undefined;
  /** Backups that were asked for, with the time of the request. */
  private readonly requested = new Map<string, Date>();
  private running: Promise<void> | undefined;
  /** A tick came while the last one was running. */
  private isWanted = false;
  private stopped = false;
  /** The last failure, so that the log does not repeat it. */
  private failure = '';

  constructor(
    private readonly backup: ScheduledBackup,
    private readonly states: BackupStates,
    private readonly runs: RunRepository,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    void this.tick();
    this.timer = setInterval(() => void this.tick(), INTERVAL_MS).unref();
  }

  /** Before the pools close, so that the run can be recorded. The next process makes what is due. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    this.backup.stop();
    await this.running;
  }

  /** Reports lost runs and makes all backups that are due. Several processes may do it at once. */
  tick(): Promise<void> {
    this.isWanted = true;
    this.running ??= this.work().finally(() => (this.running = undefined));
    return this.running;
  }

  /** Makes backups soon, whatever their schedule. They are lost with this process. */
  request(subjects: readonly string[]): void {
    for (const subject of subjects) this.requested.set(subject, new Date(this.clock.now()));
    void this.tick();
  }

  private async work(): Promise<void> {
    while (this.isWanted && !this.stopped) {
      this.isWanted = false;
      try {
        await this.makeAll();
        this.failure = '';
      } catch (error) {
        this.warnOnce(String(error));
      }
    }
  }

  private async makeAll(): Promise<void> {
    const lost = await this.runs.failLost(new Date(this.clock.now()));
    for (const { slug } of lost)
      this.logger.warn(`the backup of ${slug} was interrupted; it will be tried again`);
    const due = (await this.states.list()).filter(({ isDue }) => isDue);
    await this.makeRequested();
    for (const { subject } of due) {
      if (this.stopped) return;
      await this.backup.make(subject, null);
      await this.makeRequested();
    }
  }

  private async makeRequested(): Promise<void> {
    for (const [subject, at] of this.requested) {
      if (this.stopped) return;
      this.requested.delete(subject);
      await this.backup.make(subject, at);
    }
  }

  private warnOnce(failure: string): void {
    if (failure !== this.failure && !this.stopped) this.logger.warn(`backups could not be made: ${failure}`);
    this.failure = failure;
  }
}
