/** The catalogs of all projects in use; the least recently used are dropped first. An idle project has no connection. */
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ProjectDatabase } from '../../database/pools/project-database';
import { ProjectPools } from '../../database/pools/project-pools';
import { DDL_CHANNEL } from '../../provisioning/event-triggers';
import { ProjectRegistry } from '../../projects/project-registry.service';
import type { Catalog } from './catalog';
import { CatalogRepository } from './catalog.repository';
import { type HeardSince, ProjectCatalog } from './project-catalog';

/** Number of catalogs in memory. */
const CATALOGS = 2_000;
/** Maximum catalogSize() of all of them together, which is about 120 MB; a project without tables has about 300. */
export const CATALOG_ENTRIES = 400_000;
/**
 * A larger catalog, such as one of a thousand tables with twenty columns, is counted apart, so that a project with a huge
 * schema evicts only other huge schemas.
 */
export const LARGE_CATALOG = 20_000;
/** Maximum catalogSize() of all large catalogs together. A single catalog is kept even if it is larger. */
const LARGE_CATALOG_ENTRIES = 100_000;

@Injectable()
export class CatalogService implements OnApplicationShutdown {
  private readonly logger = new Logger(CatalogService.name);
  private readonly catalogs = new LRUCache<string, ProjectCatalog>({
    max: CATALOGS,
    dispose: (catalog) => catalog.close(),
  });
  private readonly heardSince: HeardSince = ({ key }) => this.pools.heardSince(key);

  constructor(
    private readonly repository: CatalogRepository,
    private readonly registry: ProjectRegistry,
    private readonly pools: ProjectPools,
  ) {
    pools.listenOn(DDL_CHANNEL, (key) => this.catalogs.peek(key)?.onAnnounced());
    registry.onChange((projectId) => void this.forgetIfGone(projectId));
  }

  /** The project's cached catalog, or a promise if it must be read first. */
  current(database: ProjectDatabase): Catalog | Promise<Catalog> {
    const entry = this.entryOf(database);
    return entry.peek() ?? entry.current();
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

  onApplicationShutdown(): void {
    this.catalogs.clear();
  }

  private entryOf(database: ProjectDatabase): ProjectCatalog {
    const known = this.catalogs.get(database.key);
    if (known && isSame(known.database, database)) return known;
    const warn = (error: unknown): void =>
      this.logger.warn(`schema changes of project ${database.key} could not be read: ${String(error)}`);
    const entry = new ProjectCatalog(database, this.repository, warn, this.heardSince, () =>
      this.dropOldest(),
    );
    this.catalogs.set(database.key, entry);
    return entry;
  }

  private dropOldest(): void {
    this.dropAbove(CATALOG_ENTRIES, ({ entries }) => entries <= LARGE_CATALOG);
    this.dropAbove(LARGE_CATALOG_ENTRIES, ({ entries }) => entries > LARGE_CATALOG);
  }

  /**
   * Drops the least recently used of the counted catalogs, but never the last one, until the sizes of the
   * rest add up to `limit` at most.
   */
  private dropAbove(limit: number, isCounted: (catalog: ProjectCatalog) => boolean): void {
    const oldestFirst = [...this.catalogs.rvalues()].filter(
      (catalog): catalog is ProjectCatalog => catalog !== undefined && isCounted(catalog),
    );
    let entries = oldestFirst.reduce((sum, catalog) => sum + catalog.entries, 0);
    for (const catalog of oldestFirst.slice(0, -1)) {
      if (entries <= limit) return;
      this.catalogs.delete(catalog.database.key);
      entries -= catalog.entries;
    }
  }

  /**
   * Drops the catalog of a deleted or paused project. Settings do not matter: the catalog depends on the database alone.
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
