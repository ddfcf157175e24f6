/** Finds projects for every request, through a cache. A notification evicts a project that any process changed. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ProjectPools } from '../database/pools/project-pools';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { DatabaseServer } from '../provisioning/database-server';
import { MessageBus } from '../install/message-bus.service';
import type { ApiKey } from './api-keys';
import { Project, ProjectSecret } from './project';
import { ProjectRepository, ProjectRow } from './project.repository';
import { revisionOf } from './project-revision';
import { ProjectSecrets } from './project-secrets';
import { effectiveSettings } from './project-settings';
import { projectNotFound } from './projects.errors';
import type { S3Key } from './s3-keys';
import { openSigningKey, type StoredSigningKey } from './signing-keys';

const CACHED_PROJECTS = 2_000;
/** Unknown slugs and ids have their own cache, so that many of them do not displace projects. */
const CACHED_UNKNOWN = 1_000;
const UNKNOWN_MS = 1_000;

type Key = `id:${string}` | `slug:${string}`;

@Injectable()
export class ProjectRegistry {
  private readonly logger = new Logger(ProjectRegistry.name);
  private readonly cache = new LRUCache<Key, Project>({ max: CACHED_PROJECTS });
  private readonly unknown = new LRUCache<Key, true>({ max: CACHED_UNKNOWN, ttl: UNKNOWN_MS });
  /**
   * Projects by id as last read, kept longer than in `cache`: the secrets of an unchanged project are not
   * decrypted again.
   */
  private readonly opened = new LRUCache<string, Project>({ max: CACHED_PROJECTS });
  private readonly loading = new Map<Key, Promise<Project | null>>();
  private readonly changeHandlers: ((projectId: string) => void)[] = [];

  constructor(
    private readonly projects: ProjectRepository,
    private readonly secrets: ProjectSecrets,
    private readonly pools: ProjectPools,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
    bus: MessageBus,
  ) {
    bus.onProjectChange((id) => this.forget(id));
    bus.onGap(() => this.clear());
    // A process that is cut off must not accept rotated keys indefinitely.
    bus.onLongGap(() => this.cache.clear());
  }

  /** The active project with that id, or null. */
  findById(id: string): Promise<Project | null> {
    return this.find(`id:${id}`, { id });
  }

  /** @throws AppError 404 when there is no active project with that id */
  async get(id: string): Promise<Project> {
    const project = await this.findById(id);
    if (!project) throw projectNotFound();
    return project;
  }

  listIds(): Promise<string[]> {
    return this.projects.listActiveIds();
  }

  /** Like findById(), but from the cache only. */
  peek(id: string): Project | null {
    return this.cache.get(`id:${id}`) ?? null;
  }

  /** Like findBySlug(), but from the cache only. */
  peekBySlug(slug: string): Project | null {
    return this.cache.get(`slug:${slug}`) ?? null;
  }

  /** The active project with that slug, or null. */
  findBySlug(slug: string): Promise<Project | null> {
    return this.find(`slug:${slug}`, { slug });
  }

  /** The projects in the cache: those of recent requests. */
  inUse(): Project[] {
    return [...new Set(this.cache.values())];
  }

  /** Registers a handler for the id of each project that is changed or deleted, in this process or another. */
  onChange(handler: (projectId: string) => void): void {
    this.changeHandlers.push(handler);
  }

  /** Evicts a project from the cache: the next lookup reads it again. */
  forget(id: string): void {
    for (const [key, project] of this.cache.entries()) {
      if (project.id === id) this.cache.delete(key);
    }
    this.unknown.clear();
    // A lookup in progress may have read the old row.
    this.loading.clear();
    void this.evictIfClosed(id);
    for (const handler of this.changeHandlers) handler(id);
  }

  /** Notifications may have been lost: any project may have changed, even one that is being read. */
  private clear(): void {
    const ids = this.inUse().map(({ id }) => id);
    this.cache.clear();
    this.unknown.clear();
    this.loading.clear();
    for (const id of ids) for (const handler of this.changeHandlers) handler(id);
  }

  /** Closes the connections of a project that was deleted or paused. */
  private async evictIfClosed(id: string): Promise<void> {
    try {
      const project = await this.findById(id);
      if (project === null || project.database.isPaused) await this.pools.evict(id);
    } catch (error) {
      this.logger.warn(`could not re-read project ${id}: ${String(error)}`);
    }
  }

  private find(key: Key, where: { id: string } | { slug: string }): Promise<Project | null> {
    const cached = this.cache.get(key);
    if (cached) return Promise.resolve(cached);
    if (this.unknown.has(key)) return Promise.resolve(null);
    const loading = this.loading.get(key);
    if (loading) return loading;
    const loaded = this.projects.findActive(where).then((row) => this.open(where, row));
    this.loading.set(key, loaded);
    return this.remember(key, loaded);
  }

  private async remember(key: Key, loaded: Promise<Project | null>): Promise<Project | null> {
    // The row may have been read before forget(): it serves this request, but is not cached.
    const stillWanted = (): boolean => this.loading.get(key) === loaded;
    try {
      const project = await loaded;
      if (!stillWanted()) return project;
      if (project) this.cache.set(key, project);
      else this.unknown.set(key, true);
      return project;
    } finally {
      if (stillWanted()) this.loading.delete(key);
    }
  }

  private open(where: { id: string } | { slug: string }, row: ProjectRow | null): Project | null {
    if (row === null) {
      if ('id' in where) this.opened.delete(where.id);
      return null;
    }
    const { id } = row.project;
    const revision = revisionOf(row.project, row.secrets);
    const known = this.opened.get(id);
    if (known?.revision === revision) return known;
    const project = this.toProject(row, revision);
    // Connections to its former server would serve requests from the old database.
    if (known && !isSamePlace(known.database, project.database)) void this.pools.evict(id);
    this.opened.set(id, project);
    return project;
  }

  private toProject({ project, secrets }: ProjectRow, revision: string): Project {
    const serverUrl = project.serverUrl
      ? this.secrets.open('server-url', project.id, project.serverUrl)
      : this.platformUrl;
    const server = new DatabaseServer(serverUrl);
    return Object.freeze({
      id: project.id,
      revision,
      slug: project.slug,
      name: project.name,
      plan: project.plan,
      settings: effectiveSettings(project.settings),
      secrets: this.openSecrets(project.id, secrets),
      signingKeys: this.secrets
        .openList<StoredSigningKey>('signing-keys', project.id, project.signingKeys)
        .map(openSigningKey),
      s3Keys: this.secrets.openList<S3Key>('s3-keys', project.id, project.s3Keys),
      apiKeys: this.secrets.openList<ApiKey>('api-keys', project.id, project.apiKeys),
      polled: project.polled,
      dataSecret: this.secrets.dataSecretOf(project.id, project.dataSecret),
      database: Object.freeze({
        key: project.id,
        host: server.host,
        port: server.port,
        ssl: server.ssl,
        hosts: server.hosts,
        server: project.server ?? undefined,
        database: project.databaseName,
        user: project.loginRole,
        password: this.secrets.open('login-password', project.id, project.loginPassword),
        isPaused: project.pausedAt !== null,
      }),
    });
  }

  private openSecrets(projectId: string, rows: ProjectRow['secrets']): [ProjectSecret, ...ProjectSecret[]] {
    const secrets = rows.map((row) => this.secrets.openSigning(row));
    const current = secrets.find((secret) => secret.expiresAt === null);
    if (!current) throw new Error(`project ${projectId} has no current secret`);
    return [current, ...secrets.filter((secret) => secret !== current)];
  }
}

const isSamePlace = (a: Project['database'], b: Project['database']): boolean =>
  a.host === b.host && a.port === b.port;
