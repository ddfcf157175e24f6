/**
 * One project's catalog: read on first use, then updated in the background while the old one stays in use.
 * Changes are announced on a channel. Without event triggers, or without a connection to listen on, requests have a cheap
 * fingerprint compared about once a second. There is no timer: it would take connections from the requests of other projects.
 */
import { NotificationListener } from '../../database/listen/notification-listener';
import { loginConfig, type ProjectDatabase } from '../../database/pools/project-database';
import { buildCatalog } from './build-catalog';
import type { Catalog } from './catalog';
import { catalogSize } from './catalog-size';
import type { CatalogRepository } from './catalog.repository';
import { RefreshQueue } from './refresh-queue';

/** Milliseconds after which a request has the catalog compared in the background, and is served from the old one. */
const FRESH_MS = 400;
/** Milliseconds after which it waits for the comparison, unless one is under way. */
const STALE_MS = 2_000;
/** Milliseconds after which it waits in any case. */
const IDLE_MS = 10_000;

export class ProjectCatalog {
  private catalog: Catalog | undefined;
  private listener: NotificationListener | undefined;
  /** Milliseconds of the monotonic clock. */
  private lastCheck = -Infinity;
  private isChecking = false;
  private closed = false;
  private wasUsed = false;
  private size = 0;
  private readonly reload = new RefreshQueue(async () => {
    const catalog = await buildCatalog(await this.repository.read(this.database));
    [this.catalog, this.size] = [catalog, catalogSize(catalog)];
    this.lastCheck = performance.now();
    this.onRead();
  });
  private readonly check = new RefreshQueue(async () => {
    this.isChecking = true;
    try {
      const fingerprint = await this.repository.fingerprint(this.database);
      // Compared with the current catalog: a reload that ended meanwhile may have begun before the change.
      if (this.catalog?.fingerprint !== fingerprint) await this.reload.run();
      this.lastCheck = performance.now();
    } finally {
      this.isChecking = false;
    }
  });

  constructor(
    readonly database: ProjectDatabase,
    private readonly repository: CatalogRepository,
    private readonly onError: (error: unknown) => void,
    /** Called after each read, when entries has its new value. */
    private readonly onRead: () => void = () => undefined,
  ) {}

  /** A measure of the memory that the catalog takes (catalogSize()); 0 before the first read. */
  get entries(): number {
    return this.size;
  }

  /** True once a catalog was read that an event trigger keeps current: listening replaces polling then. */
  get canListen(): boolean {
    return this.catalog?.announcesDdl === true;
  }

  /** Whether the catalog was used since the last call. */
  takeUse(): boolean {
    const was = this.wasUsed;
    this.wasUsed = false;
    return was;
  }

  /** The current catalog. Waits if none was read yet, or if it was neither watched nor compared for a while. */
  async current(): Promise<Catalog> {
    this.wasUsed = true;
    const age = performance.now() - this.lastCheck;
    if (!this.catalog) await this.reload.run();
    else if (this.isWatched) return this.catalog;
    else if (age > IDLE_MS || (age > STALE_MS && !this.isChecking)) await this.check.run();
    else if (age > FRESH_MS && !this.isChecking) this.inBackground(this.check);
    return this.known;
  }

  /** The current catalog without waiting; undefined before the first read. */
  peek(): Catalog | undefined {
    if (!this.isWatched) return undefined;
    this.wasUsed = true;
    return this.catalog;
  }

  /**
   * Compares the catalog with the schema, and reads it again if they differ. The result is never older than the
   * call.
   */
  async verified(): Promise<Catalog> {
    await this.check.run();
    return this.known;
  }

  /** Starts to listen for announcements on a connection of its own. */
  listen(channel: string): void {
    this.listener = new NotificationListener(loginConfig(this.database), channel, {
      onNotification: () => this.inBackground(this.reload),
      // Changes from before LISTEN are found by a comparison.
      onListening: () => this.inBackground(this.check),
      onError: this.onError,
    });
    void this.listener.start();
  }

  /** Closes the listening connection. The next use compares the catalog with the schema. */
  async unlisten(): Promise<void> {
    const { listener } = this;
    this.listener = undefined;
    this.lastCheck = -Infinity;
    await listener?.stop();
  }

  /** True when every change is announced: the listener is connected, and the project has its event trigger. */
  get isWatched(): boolean {
    return (this.listener?.listening ?? false) && this.catalog?.announcesDdl === true;
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.listener?.stop();
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
