/** Keeps the embedded PostgreSQL running: restarts it at the same address when it ends unexpectedly. */
import { setTimeout as sleep } from 'node:timers/promises';
import { asDiskFull, DiskFullError } from './disk-space';
import { EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres';
import { EmbeddedPostgresError } from './embedded-postgres.error';
import type { ProcessExit } from './supervised-process';

/** Milliseconds between two failed starts; doubles from `first` to `most`. */
const RETRY_MS = { first: 250, most: 2_000 };
/** PostgreSQL is not restarted after this many failures within the window. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;

export class EmbeddedSupervisor {
  private readonly stopped = new AbortController();
  /** Times at which PostgreSQL ended or failed to start, in milliseconds of the monotonic clock. */
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

  /** Like EmbeddedPostgres.start(). @param say is called with a line about each unexpected end and each restart */
  static async start(
    options: EmbeddedPostgresOptions,
    say: (message: string) => void,
  ): Promise<EmbeddedSupervisor> {
    const postgres = await EmbeddedPostgres.start(options);
    // A restart must use the same port: clients know the address.
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
    try {
      await this.postgres.stop();
    } finally {
      await this.ended;
    }
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
          `The embedded PostgreSQL ended unexpectedly (${reasonOf(exit)}).`,
        );
        this.say(`${fault.message} Starting it again ...`);
        this.postgres = await this.startAgain(fault);
        this.say('The embedded PostgreSQL was restarted.');
      }
    } catch (error) {
      return signal.aborted ? null : EmbeddedPostgresError.from(error);
    }
  }

  /** @throws EmbeddedPostgresError when it failed too often; any other error after stop() */
  private async startAgain(end: EmbeddedPostgresError): Promise<EmbeddedPostgres> {
    const { dataDir } = this.options;
    const { signal } = this.stopped;
    let fault = await asDiskFull(end, dataDir);
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

  /** A full disk does not count: PostgreSQL can start as soon as there is space. */
  private count(fault: EmbeddedPostgresError): void {
    if (fault instanceof DiskFullError) return;
    const now = performance.now();
    this.failures = [...this.failures.filter((then) => now - then < WINDOW_MS), now];
    if (this.failures.length < MAX_FAILURES) return;
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL failed ${this.failures.length} times within a minute, so Plinth ends. ${fault.message}`,
    );
  }

  private sayOnce(message: string): void {
    if (message !== this.lastSaid) this.say(message);
    this.lastSaid = message;
  }
}

function reasonOf({ code, signal }: ProcessExit): string {
  return signal ?? `exit code ${code}`;
}
