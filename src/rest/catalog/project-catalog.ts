/**
 * One project's catalog: read on first use, then updated in the background while the old catalog stays in
 * use. Changes are announced on a channel, on which one of the project's pooled connections listens. Without
 * event triggers, or while that connection is busy, a request compares a cheap fingerprint about once a
 * second. There is no timer, which would take connections from the requests of other projects.
 */
import { isFault } from '../../common/errors/database-fault';
import type { ProjectDatabase } from '../../database/pools/project-database';
import { buildCatalog } from './build-catalog';
import { type Catalog, catalogSize } from './catalog';
import type { CatalogRepository } from './catalog.repository';

/** Milliseconds after which a request starts a comparison of the catalog in the background, and uses the old catalog. */
const FRESH_MS = 400;
/** Milliseconds after which a request waits for the comparison, unless one is already running. */
const STALE_MS = 2_000;
/** Milliseconds after which a request waits even for a running comparison. */
const IDLE_MS = 10_000;
/**
 * Milliseconds after which the catalog is compared in the background although changes are announced: a function of the project
 * may have stopped the connection from listening.
 */
const TRUSTED_MS = 30_000;

/** Milliseconds of the monotonic clock since which all changes of a database are announced; Infinity if they are not. */
export type HeardSince = (database: ProjectDatabase) => number;

export class ProjectCatalog {
  private catalog: Catalog | undefined;
  /** The times at which the last comparison ended, and at which it began to read, in milliseconds of the monotonic clock. */
  private lastCheck = -Infinity;
  private checkedFrom = -Infinity;
  private isChecking = false;
  private closed = false;
  private size = 0;
  /** Whether it is known what the code of the current catalog may do. */
  private hasTraits = false;
  private readonly reload = new RefreshQueue(async () => {
    let begunAt = -Infinity;
    let catalog: Catalog;
    try {
      const rows = await this.repository.read(this.database, () => (begunAt = performance.now()));
      catalog = await buildCatalog(rows);
      [this.catalog, this.size, this.hasTraits] = [catalog, catalogSize(catalog), false];
    } catch (error) {
      // The content of an announced change is not known yet, so the next request compares.
      this.checkedFrom = -Infinity;
      throw error;
    }
    [this.checkedFrom, this.lastCheck] = [begunAt, performance.now()];
    this.onRead();
    void this.addTraits(catalog);
  });
  private readonly check = new RefreshQueue(async () => {
    this.isChecking = true;
    const begunAt = performance.now();
    try {
      const fingerprint = await this.repository.fingerprint(this.database);
      // Compared with the current catalog: a reload that ended during the comparison may have begun before the change.
      if (this.catalog?.fingerprint !== fingerprint) await this.reload.run();
      else this.checkedFrom = begunAt;
      if (this.catalog && !this.hasTraits) void this.addTraits(this.catalog);
      this.lastCheck = performance.now();
    } finally {
      this.isChecking = false;
    }
  });

  constructor(
    readonly database: ProjectDatabase,
    private readonly repository: CatalogRepository,
    private readonly onError: (error: unknown) => void,
    private readonly heardSince: HeardSince = () => Infinity,
    /** Called after each read, when `entries` has its new value. */
    private readonly onRead: () => void = () => undefined,
  ) {}

  /** A measure of the memory that the catalog takes (catalogSize()); 0 before the first read. */
  get entries(): number {
    return this.size;
  }

  /** The current catalog. Waits if none was read yet, or if it was neither watched nor compared for a while. */
  async current(): Promise<Catalog> {
    const age = performance.now() - this.lastCheck;
    if (!this.catalog) await this.reload.run();
    else if (this.isWatched) this.checkAfter(age, TRUSTED_MS);
    else if (age > IDLE_MS || (age > STALE_MS && !this.isChecking)) await this.check.run();
    else this.checkAfter(age, FRESH_MS);
    return this.known;
  }

  /** The current catalog without waiting; undefined before the first read, and when it has to be compared. */
  peek(): Catalog | undefined {
    const isTrusted = this.isWatched && performance.now() - this.lastCheck < TRUSTED_MS;
    return isTrusted ? this.catalog : undefined;
  }

  /** Call it when a change was announced: reads the catalog again in the background. */
  onAnnounced(): void {
    if (this.catalog) this.inBackground(this.reload);
  }

  /**
   * Compares the catalog with the schema, and reads it again if they differ. The result is never older than the
   * call.
   */
  async verified(): Promise<Catalog> {
    await this.check.run();
    return this.known;
  }

  /** True when every change since the last comparison was announced. */
  get isWatched(): boolean {
    return this.catalog?.announcesDdl === true && this.heardSince(this.database) <= this.checkedFrom;
  }

  /** Stops work in the background. */
  close(): void {
    this.closed = true;
  }

  /** Runs after the catalog is read and the waiting requests have continued. If it fails, the next comparison tries again. */
  private async addTraits(catalog: Catalog): Promise<void> {
    if (this.closed) return;
    try {
      const traits = await this.repository.readTraits(this.database);
      // Another read will add the traits of a newer catalog.
      if (this.catalog !== catalog) return;
      [this.catalog, this.hasTraits] = [{ ...catalog, ...traits }, true];
    } catch (error) {
      if (!this.closed && !isFault(error, 'no_free_connection')) this.onError(error);
    }
  }

  private checkAfter(age: number, limitMs: number): void {
    if (age > limitMs && !this.isChecking) this.inBackground(this.check);
  }

  /** The catalog after a first read. */
  private get known(): Catalog {
    if (!this.catalog) throw new Error('the catalog has not been read');
    return this.catalog;
  }

  private inBackground(queue: RefreshQueue): void {
    if (!this.closed) queue.run().catch(this.onError);
  }
}

/**
 * Runs one job at a time and shares runs: a caller gets the result of a run that began after the call, so the
 * result is never older than the call.
 */
export class RefreshQueue {
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly job: () => Promise<void>) {}

  /** @throws the job's error */
  run(): Promise<void> {
    if (!this.running) return this.start();
    this.next ??= this.running.then(
      () => this.startNext(),
      () => this.startNext(),
    );
    return this.next;
  }

  private startNext(): Promise<void> {
    this.next = undefined;
    return this.start();
  }

  private start(): Promise<void> {
    const run = this.job();
    this.running = run;
    const done = (): void => {
      if (this.running === run) this.running = undefined;
    };
    run.then(done, done);
    return run;
  }
}
