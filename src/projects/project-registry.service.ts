/** Looks projects up for every request: cached, and dropped from the cache when any process changes them. */
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { NotificationListener } from '../database/listen/notification-listener';
import { ProjectPools } from '../database/pools/project-pools';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { DatabaseServer } from './provisioning/database-server';
import { Project, ProjectSecret } from './project';
import { ProjectRepository, ProjectRow, PROJECTS_CHANNEL } from './project.repository';
import { revisionOf } from './project-revision';
import { ProjectSecrets } from './project-secrets';
import { effectiveSettings } from './project-settings';
import { projectNotFound } from './projects.errors';
import { answerTo, everybodyHeard } from './roll-call';

const CACHED_PROJECTS = 2_000;
/** A lookup is repeated after this long even without a notification: the safety net of a lost listener. */
const CACHE_MS = 60_000;
/** How old the cache's idea of now may be: it sets a timer each time that it looks at the clock. */
const CLOCK_MS = 100;
/** Slugs and ids that no project has are kept apart: many of them must not push projects out. */
const CACHED_UNKNOWN = 1_000;
const UNKNOWN_MS = 1_000;

type Key = `id:${string}` | `slug:${string}`;

@Injectable()
export class ProjectRegistry implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ProjectRegistry.name);
  private readonly cache = new LRUCache<Key, Project>({
    max: CACHED_PROJECTS,
    ttl: CACHE_MS,
    ttlResolution: CLOCK_MS,
  });
  private readonly unknown = new LRUCache<Key, true>({
    max: CACHED_UNKNOWN,
    ttl: UNKNOWN_MS,
    ttlResolution: CLOCK_MS,
  });
  /** As last read, by id, and kept longer than `cache`: a project that did not change is not opened again. */
  private readonly opened = new LRUCache<string, Project>({ max: CACHED_PROJECTS });
  private readonly loading = new Map<Key, Promise<Project | null>>();
  private readonly changeHandlers: ((projectId: string) => void)[] = [];
  private readonly listener: NotificationListener;

  constructor(
    private readonly projects: ProjectRepository,
    private readonly secrets: ProjectSecrets,
    private readonly pools: ProjectPools,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {
    this.listener = new NotificationListener({ connectionString: platformUrl }, PROJECTS_CHANNEL, {
      onNotification: (payload) => this.hear(payload),
      onListening: () => this.clear(),
      onError: (error) => this.logger.warn(`lost the platform database's notifications: ${error.message}`),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.listener.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.listener.stop();
  }

  /**
   * Waits until every process of the install has dropped what it knew of the projects that changed before.
   * @returns false when one did not say so within two seconds, or could not be asked
   */
  async everybodyHeard(): Promise<boolean> {
    try {
      return await everybodyHeard(this.platformUrl, PROJECTS_CHANNEL);
    } catch (error) {
      this.logger.warn(`the roll of processes could not be called: ${String(error)}`);
      return false;
    }
  }

  /** The active project of that id, or null. */
  findById(id: string): Promise<Project | null> {
    return this.find(`id:${id}`, { id });
  }

  /** @throws AppError 404 when there is no active project of that id */
  async get(id: string): Promise<Project> {
    const project = await this.findById(id);
    if (!project) throw projectNotFound();
    return project;
  }

  /** As findById(), but from the cache only. */
  peek(id: string): Project | null {
    return this.cache.get(`id:${id}`) ?? null;
  }

  /** The active project of that slug, or null. */
  findBySlug(slug: string): Promise<Project | null> {
    return this.find(`slug:${slug}`, { slug });
  }

  /** The projects that were asked for lately. */
  inUse(): Project[] {
    return [...new Set(this.cache.values())];
  }

  /** Calls back with the id of each project that changed or went, in this process or another. */
  onChange(handler: (projectId: string) => void): void {
    this.changeHandlers.push(handler);
  }

  /** Drops a project from the cache: the next look-up reads it afresh. */
  forget(id: string): void {
    for (const [key, project] of this.cache.entries()) {
      if (project.id === id) this.cache.delete(key);
    }
    this.unknown.clear();
    // A look-up under way may have read the old row.
    this.loading.clear();
    void this.evictIfGone(id);
    for (const handler of this.changeHandlers) handler(id);
  }

  private clear(): void {
    this.cache.clear();
    this.unknown.clear();
  }

  private hear(payload: string): void {
    const answer = answerTo(payload);
    if (!answer) return this.forget(payload);
    this.listener
      .say(answer.channel, answer.payload)
      .catch((error: Error) => this.logger.warn(`a roll call could not be answered: ${error.message}`));
  }

  private async evictIfGone(id: string): Promise<void> {
    try {
      if ((await this.findById(id)) === null) await this.pools.evict(id);
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
    // Forgotten meanwhile: what was read may be old, so it serves this request and is not kept.
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
      polled: project.polled,
      database: Object.freeze({
        key: project.id,
        host: server.host,
        port: server.port,
        ssl: server.ssl,
        database: project.databaseName,
        user: project.loginRole,
        password: this.secrets.open('login-password', project.id, project.loginPassword),
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
