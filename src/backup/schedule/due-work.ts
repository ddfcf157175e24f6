/** Runs work on projects when it is due or requested, one at a time in each process. */
import { BeforeApplicationShutdown, Logger, OnApplicationBootstrap } from '@nestjs/common';
import type { Clock } from '../../common/time/clock';

const INTERVAL_MS = 30_000;

export abstract class DueWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  protected readonly logger = new Logger('Backup');
  private timer: NodeJS.Timeout | undefined;
  /** Requested subjects, with the time of the request. */
  private readonly requested = new Map<string, Date>();
  private running: Promise<void> | undefined;
  /** A tick arrived while the last one was running. */
  private isWanted = false;
  private stopped = false;
  /** The last failure, so that the log does not repeat it. */
  private failure = '';

  /** @param name the name of the work in the log, for example "backups" */
  protected constructor(
    private readonly name: string,
    protected readonly clock: Clock,
  ) {}

  /** Reports interrupted work. @returns the subjects that are due */
  protected abstract listDue(): Promise<string[]>;

  /** @param requestedAt null: only if it is still due */
  protected abstract make(subject: string, requestedAt: Date | null): Promise<void>;

  /** Aborts the running work. */
  protected abstract interrupt(): void;

  onApplicationBootstrap(): void {
    void this.tick();
    this.timer = setInterval(() => void this.tick(), INTERVAL_MS).unref();
  }

  /** Runs before the pools close, so that the outcome can be recorded. The next process does the work that is due. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    this.interrupt();
    await this.running;
  }

  /** Does all due work. Several processes may call it concurrently. */
  tick(): Promise<void> {
    this.isWanted = true;
    this.running ??= this.work().finally(() => (this.running = undefined));
    return this.running;
  }

  /** Does the work soon, regardless of the schedule. Requests are lost with this process. */
  request(subjects: readonly string[]): void {
    for (const subject of subjects) this.requested.set(subject, this.clock.date());
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
    const due = await this.listDue();
    await this.makeRequested();
    for (const subject of due) {
      if (this.stopped) return;
      await this.make(subject, null);
      await this.makeRequested();
    }
  }

  private async makeRequested(): Promise<void> {
    for (const [subject, at] of this.requested) {
      if (this.stopped) return;
      this.requested.delete(subject);
      await this.make(subject, at);
    }
  }

  private warnOnce(failure: string): void {
    if (failure !== this.failure && !this.stopped)
      this.logger.warn(`${this.name} could not be made: ${failure}`);
    this.failure = failure;
  }
}
