/**
 * The catalogs of all projects in use, least recently used dropped first. Some of those in steady use listen on a connection
 * each; an idle project has no connection.
 */
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ProjectDatabase } from '../../database/pools/project-database';
import { DDL_CHANNEL } from '../../projects/provisioning/event-triggers';
import { ProjectRegistry } from '../../projects/project-registry.service';
import type { Catalog } from './catalog';
import { CatalogRepository } from './catalog.repository';
import { ProjectCatalog } from './project-catalog';

/** Number of catalogs in memory. */
const CATALOGS = 2_000;
/** Limit for the catalogSize() of all of them, which is about 120 MB; a project without tables of its own has about 300. */
export const CATALOG_ENTRIES = 400_000;
/** Milliseconds without use after which a listening connection is closed: between one and two times as many. */
const IDLE_MS = 30_000;
/** Number of listening connections; projects beyond that are polled while in use. */
const LISTENERS = 16;

@Injectable()
export class CatalogService implements OnApplicationShutdown {
  private readonly logger = new Logger(CatalogService.name);
  private readonly catalogs = new LRUCache<string, ProjectCatalog>({
    max: CATALOGS,
    dispose: (catalog) => {
      this.listening.delete(catalog);
      void catalog.close();
    },
  });
  private readonly listening = new Set<ProjectCatalog>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly repository: CatalogRepository,
    private readonly registry: ProjectRegistry,
  ) {
    this.timer = setInterval(() => this.closeIdleListeners(), IDLE_MS).unref();
    registry.onChange((projectId) => void this.forgetIfGone(projectId));
  }

  /** The project's cached catalog, or a promise if it must be read first. */
  current(database: ProjectDatabase): Catalog | Promise<Catalog> {
    const entry = this.entryOf(database);
    const catalog = entry.peek();
    if (catalog) return catalog;
    this.listenIfAllowed(entry);
    return entry.current();
  }

  /** The catalog after a comparison with the database. Used before a request is refused because a name is unknown. */
  async verified(database: ProjectDatabase): Promise<Catalog> {
    return this.entryOf(database).verified();
  }

  /**
   * Compares a catalog in memory with the database after DDL that ran through Plinth, so that the next request here
   * sees the change. Does nothing for a project whose catalog is not in memory.
   */
  async refresh(database: ProjectDatabase): Promise<void> {
    await this.catalogs.peek(database.key)?.verified();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all([...this.catalogs.values()].map((catalog) => catalog.close()));
  }

  private entryOf(database: ProjectDatabase): ProjectCatalog {
    const known = this.catalogs.get(database.key);
    if (known && isSame(known.database, database)) return known;
    const warn = (error: unknown): void =>
      this.logger.warn(`schema changes of project ${database.key} could not be read: ${String(error)}`);
    const entry = new ProjectCatalog(database, this.repository, warn, () => this.dropOldest());
    this.catalogs.set(database.key, entry);
    return entry;
  }

  /** From the second use on: a project that gets a single request needs no second connection. */
  private listenIfAllowed(entry: ProjectCatalog): void {
    if (this.listening.size >= LISTENERS || this.listening.has(entry) || !entry.canListen) return;
    this.listening.add(entry);
    entry.listen(DDL_CHANNEL);
  }

  /** Runs every IDLE_MS. */
  closeIdleListeners(): void {
    for (const entry of this.listening) {
      if (entry.takeUse()) continue;
      this.listening.delete(entry);
      void entry.unlisten();
    }
  }

  private dropOldest(): void {
    let entries = 0;
    for (const catalog of this.catalogs.values()) entries += catalog.entries;
    while (entries > CATALOG_ENTRIES && this.catalogs.size > 1) entries -= this.catalogs.pop()?.entries ?? 0;
  }

  /**
   * Closes the connection of a deleted or paused project. Settings do not matter: the catalog depends on the database
   * alone.
   */
  private async forgetIfGone(projectId: string): Promise<void> {
    const known = this.catalogs.peek(projectId);
    if (!known) return;
    const project = await this.registry.findById(projectId).catch(() => null);
    if (!project || project.database.isPaused || !isSame(known.database, project.database))
      this.catalogs.delete(projectId);
  }
}

function isSame(a: ProjectDatabase, b: ProjectDatabase): boolean {
  return (
    a === b ||
    (a.host === b.host && a.port === b.port && a.database === b.database && a.password === b.password)
  );
}
