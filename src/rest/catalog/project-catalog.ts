/**
 * One project's catalog: read on first use, then updated in the background while the old one stays in use.
 * Changes are announced on a channel. Without event triggers, or without a connection to listen on, a cheap
 * fingerprint is compared once a second while the project is in use.
 */
import { NotificationListener } from '../../database/listen/notification-listener';
import { loginConfig, type ProjectDatabase } from '../../database/pools/project-database';
import { buildCatalog } from './build-catalog';
import type { Catalog } from './catalog';
import { catalogSize } from './catalog-size';
import type { CatalogRepository } from './catalog.repository';
import { RefreshQueue } from './refresh-queue';

/** Milliseconds after which a missed announcement is noticed. */
const POLL_MS = 800;
/** An idle project is not polled; its next request compares the catalog first. */
const IDLE_MS = 10_000;

export class ProjectCatalog {
  private catalog: Catalog | undefined;
  private listener: NotificationListener | undefined;
  private poll: NodeJS.Timeout | undefined;
  /** Milliseconds of the monotonic clock. */
  private lastUse = 0;
  private lastCheck = 0;
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
    const fingerprint = await this.repository.fingerprint(this.database);
    // Compared with the current catalog: a reload that ended meanwhile may have begun before the change.
    if (this.catalog?.fingerprint !== fingerprint) await this.reload.run();
    this.lastCheck = performance.now();
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

  /** The current catalog. Waits only if none was read yet, or if it was not watched for a while. */
  async current(): Promise<Catalog> {
    const now = performance.now();
    const idle = now - this.lastUse > IDLE_MS;
    this.lastUse = now;
    this.wasUsed = true;
    if (!this.catalog) await this.reload.run();
    else if (idle && !this.isWatched && now - this.lastCheck > POLL_MS) await this.check.run();
    if (!this.isWatched) this.keepPolling();
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
    [this.lastUse, this.lastCheck] = [-Infinity, -Infinity];
    await listener?.stop();
  }

  /** True when every change is announced: the listener is connected, and the project has its event trigger. */
  get isWatched(): boolean {
    return (this.listener?.listening ?? false) && this.catalog?.announcesDdl === true;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.poll);
    await this.listener?.stop();
  }

  /** The catalog after a first read. */
  private get known(): Catalog {
    if (!this.catalog) throw new Error('the catalog has not been read');
    return this.catalog;
  }

  private keepPolling(): void {
    if (this.poll || this.closed) return;
    this.poll = setTimeout(() => {
      this.poll = undefined;
      if (this.closed || this.isWatched || performance.now() - this.lastUse > IDLE_MS) return;
      this.check
        .run()
        .catch(this.onError)
        .finally(() => this.keepPolling());
    }, POLL_MS).unref();
  }

  private inBackground(queue: RefreshQueue): void {
    if (!this.closed) queue.run().catch(this.onError);
  }
}
