/**
 * At the start, checks the server. At the start and every 30 seconds, migrates outdated databases, undoes creations and
 * finishes deletions that a crash interrupted.
 */
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { messageOf } from '../common/errors/error-facts';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { OwnerDatabase } from './owner-database';
import { ProjectEntity } from './project.entity';
import { ProjectRepository } from './project.repository';
import { MasterKeyRotation } from './master-key-rotation.service';
import { ProjectsService } from './projects.service';
import { DatabaseServer } from '../provisioning/database-server';
import { renewEventTriggers } from '../provisioning/event-triggers';
import {
  isOutdated,
  migrateProjectDatabase,
  PROJECT_SCHEMA_VERSION,
} from '../provisioning/project-migrations';
import { TemplateDatabase } from '../provisioning/template-database';

const RECOVERY_INTERVAL_MS = 30_000;
/** Databases that are migrated or dropped in parallel, so that a slow one does not delay the others. */
const CONCURRENT_DATABASES = 4;
/** Outdated projects per page. */
const PAGE = 500;
/** Milliseconds to wait for another process that migrates or creates the same project. */
const WAIT_TIMEOUT_MS = 300_000;

export interface UpgradeResult {
  /** Slugs of the projects that this process migrated. */
  readonly migrated: string[];
  readonly failed: { readonly slug: string; readonly reason: string }[];
}

@Injectable()
export class ProjectUpkeep implements OnApplicationShutdown {
  private readonly logger = new Logger(ProjectUpkeep.name);
  private timer: NodeJS.Timeout | undefined;
  private recovering: Promise<void> | undefined;
  private keepingUp: Promise<void> | undefined;
  /** The last failure of each project, so that the log does not repeat it every 30 seconds. */
  private readonly failures = new Map<string, string>();

  constructor(
    private readonly projects: ProjectRepository,
    private readonly service: ProjectsService,
    private readonly template: TemplateDatabase,
    private readonly owner: OwnerDatabase,
    private readonly masterKey: MasterKeyRotation,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  /**
   * Runs before the first request. A project that cannot be migrated or recovered does not stop the others.
   * @throws ServerUnusableError listing all rights that the installation's database role lacks
   * @throws MasterKeyError when the secrets of the projects were encrypted with another key
   */
  async start(): Promise<void> {
    await this.template.ensureOn(new DatabaseServer(this.platformUrl));
    await this.masterKey.begin();
    await this.recover();
    await this.migrateOutdated();
    this.timer = setInterval(() => void this.keepUp(), RECOVERY_INTERVAL_MS).unref();
    void this.masterKey.advance();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    // A migration is not awaited: it can take minutes, and PostgreSQL rolls back an interrupted one.
    await this.recovering;
  }

  /** Runs every 30 seconds. An older process that runs at the same time may still create projects of its schema. */
  keepUp(): Promise<void> {
    this.keepingUp ??= this.recover()
      .then(() => this.migrateOutdated(0))
      .then(
        () => this.masterKey.advance(),
        (error: unknown) => this.logger.warn(`outdated projects could not be listed: ${String(error)}`),
      )
      .finally(() => (this.keepingUp = undefined));
    return this.keepingUp;
  }

  /**
   * Undoes interrupted creations and finishes interrupted deletions, except those that another process is
   * working on.
   */
  recover(): Promise<void> {
    this.recovering ??= this.recoverAll().finally(() => (this.recovering = undefined));
    return this.recovering;
  }

  /**
   * Migrates every project's database to the current schema, as its owner. Each migration is one transaction, so an
   * interrupted run continues with the rest.
   * @param waitTimeoutMs time to wait for each project that another process works on
   */
  async migrateOutdated(waitTimeoutMs = WAIT_TIMEOUT_MS): Promise<UpgradeResult> {
    const result: UpgradeResult = { migrated: [], failed: [] };
    // Reads pages: an installation may have a hundred thousand projects.
    for (let after = ''; ;) {
      const page = await this.projects.listOutdated(PROJECT_SCHEMA_VERSION, after, PAGE);
      const waiting = page.filter(({ schemaVersion }) => isOutdated(schemaVersion));
      await withEach(waiting, (entity) => this.migrate(entity, waitTimeoutMs, result));
      after = page.at(-1)?.id ?? '';
      if (page.length < PAGE) break;
    }
    const { migrated, failed } = result;
    if (migrated.length > 0)
      this.logger.log(`migrated the databases of ${migrated.length} projects; ${failed.length} failed`);
    return result;
  }

  private async recoverAll(): Promise<void> {
    try {
      await withEach(await this.projects.listUnfinished(), async (entity) => {
        await this.service.recover(entity).catch((error: unknown) => this.warn(entity, 'recovered', error));
      });
    } catch (error) {
      this.logger.warn(`unfinished projects could not be listed: ${String(error)}`);
    }
  }

  private async migrate(entity: ProjectEntity, waitTimeoutMs: number, result: UpgradeResult): Promise<void> {
    const { id, slug } = entity;
    try {
      const work = async (): Promise<void> => {
        // Another process may have migrated or deleted it in the meantime.
        const version = await this.projects.findSchemaVersion(id);
        if (version === null || !isOutdated(version)) return;
        await this.owner.repairAccess(entity);
        await migrateProjectDatabase(this.owner.connectionOf(entity));
        await this.service.serverOf(entity).asAdmin(entity.databaseName, renewEventTriggers);
        await this.projects.setSchemaVersion(id, PROJECT_SCHEMA_VERSION);
        result.migrated.push(slug);
      };
      const hadLock = await this.projects.whileLocked(id, work, waitTimeoutMs);
      if (!hadLock) result.failed.push({ slug, reason: 'another process works on it' });
      this.failures.delete(id);
    } catch (error) {
      const reason = messageOf(error);
      result.failed.push({ slug, reason });
      if (this.failures.get(id) === reason) return;
      this.failures.set(id, reason);
      this.warn(entity, 'migrated', error);
    }
  }

  private warn({ slug }: ProjectEntity, what: string, error: unknown): void {
    this.logger.error(`project ${slug} could not be ${what}: ${String(error)}`);
  }
}

/** Runs `work` for all items in order, CONCURRENT_DATABASES at a time. */
async function withEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: CONCURRENT_DATABASES }, worker));
}
