/** Keeps the embedded PostgreSQL running: one that ends by itself is started again, at the same address. */
import { setTimeout as sleep } from 'node:timers/promises';
import { blamingFullDisk, DiskFullError } from './disk-space';
import { EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres';
import { EmbeddedPostgresError } from './embedded-postgres.error';
import type { ProcessExit } from './supervised-process';

/** Milliseconds between two starts that fail; doubles from the first to the most. */
const RETRY_MS = { first: 250, most: 2_000 };
/** PostgreSQL that ended or failed to start so often within the window is not started again. */
const MOST_FAILURES = 10;
const WINDOW_MS = 60_000;

export class EmbeddedSupervisor {
  private readonly stopped = new AbortController();
  /** When it ended or could not be started, in milliseconds of the monotonic clock. */
  private failures: number[] = [];
  private lastSaid = '';
  /** Resolves with the fault when PostgreSQL failed too often, and never otherwise. */
  readonly gaveUp: Promise<EmbeddedPostgresError>;
  private readonly ended: Promise<void>;

  private constructor(
    private readonly options: EmbeddedPostgresOptions,
    private postgres: EmbeddedPostgres,
    private readonly say: (message: string) => void,
  ) {
    const kept = this.keep();
    this.ended = kept.then(() => undefined);
    this.gaveUp = new Promise((resolve) => void kept.then((fault) => fault && resolve(fault)));
  }

  /** As EmbeddedPostgres.start(). @param say is told in a line about each end and each start after the first one */
  static async start(
    options: EmbeddedPostgresOptions,
    say: (message: string) => void,
  ): Promise<EmbeddedSupervisor> {
    const postgres = await EmbeddedPostgres.start(options);
    // Whatever port it got, it keeps: the address must not change under those who know it.
    return new EmbeddedSupervisor({ ...options, port: Number(new URL(postgres.url).port) }, postgres, say);
  }

  /** As EmbeddedPostgres.url; stays the same over restarts. */
  get url(): string {
    return this.postgres.url;
  }

  /** As EmbeddedPostgres.socketDirectory. */
  get socketDirectory(): string | null {
    return this.postgres.socketDirectory;
  }

  /** Stops PostgreSQL, or an attempt to start it, and resolves when it has ended. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.postgres.stop();
    await this.ended;
  }

  /** @returns the fault with which it was given up, or null after stop() */
  private async keep(): Promise<EmbeddedPostgresError | null> {
    const { signal } = this.stopped;
    try {
      for (;;) {
        if (signal.aborted) await this.postgres.stop();
        const exit = await this.postgres.exited;
        if (signal.aborted) return null;
        const fault = new EmbeddedPostgresError(
          `The embedded PostgreSQL ended unexpectedly (${told(exit)}).`,
        );
        this.say(`${fault.message} Starting it again ...`);
        this.postgres = await this.startAgain(fault);
        this.say('The embedded PostgreSQL was started again.');
      }
    } catch (error) {
      return signal.aborted ? null : EmbeddedPostgresError.from(error);
    }
  }

  /** @throws EmbeddedPostgresError when it failed too often; whatever else after stop() */
  private async startAgain(end: EmbeddedPostgresError): Promise<EmbeddedPostgres> {
    const { dataDir } = this.options;
    const { signal } = this.stopped;
    let fault = await blamingFullDisk(end, dataDir);
    for (let delay = RETRY_MS.first; ; delay = Math.min(2 * delay, RETRY_MS.most)) {
      this.count(fault);
      if (fault !== end) {
        this.sayOnce(fault.message);
        await sleep(delay, undefined, { signal });
      }
      try {
        return await EmbeddedPostgres.start({ ...this.options, signal });
      } catch (error) {
        fault = EmbeddedPostgresError.from(error);
      }
    }
  }

  /** A full disk does not count: PostgreSQL can be started as soon as somebody has made room. */
  private count(fault: EmbeddedPostgresError): void {
    if (fault instanceof DiskFullError) return;
    const now = performance.now();
    this.failures = [...this.failures.filter((then) => now - then < WINDOW_MS), now];
    if (this.failures.length < MOST_FAILURES) return;
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL failed ${this.failures.length} times within a minute, so Plinth ends. ${fault.message}`,
    );
  }

  private sayOnce(message: string): void {
    if (message !== this.lastSaid) this.say(message);
    this.lastSaid = message;
  }
}

function told({ code, signal }: ProcessExit): string {
  return signal ?? `exit code ${code}`;
}
