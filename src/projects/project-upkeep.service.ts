/**
 * At the start, checks the server and migrates outdated databases. At the start and every 30 seconds, undoes
 * creations and finishes deletions that a crash interrupted.
 */
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { OwnerDatabase } from './owner-database';
import { ProjectEntity } from './project.entity';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { ProjectsService } from './projects.service';
import { DatabaseServer } from './provisioning/database-server';
import { migrateProjectDatabase, PROJECT_SCHEMA_VERSION } from './provisioning/project-migrations';
import { TemplateDatabase } from './provisioning/template-database';

const RECOVERY_INTERVAL_MS = 30_000;
/** Databases that are migrated or dropped in parallel, so that a slow one does not delay the others. */
const CONCURRENT_DATABASES = 4;

@Injectable()
export class ProjectUpkeep implements OnApplicationShutdown {
  private readonly logger = new Logger(ProjectUpkeep.name);
  private timer: NodeJS.Timeout | undefined;
  private recovering: Promise<void> | undefined;

  constructor(
    private readonly projects: ProjectRepository,
    private readonly service: ProjectsService,
    private readonly template: TemplateDatabase,
    private readonly owner: OwnerDatabase,
    private readonly secrets: ProjectSecrets,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  /**
   * Runs before the first request. A project that cannot be migrated or recovered does not stop the others.
   * @throws ServerUnusableError listing all rights that the installation's database role lacks
   * @throws MasterKeyError when the secrets of the projects were encrypted with another key
   */
  async start(): Promise<void> {
    await this.template.ensureOn(new DatabaseServer(this.platformUrl));
    await this.assertMasterKey();
    await this.recover();
    await this.migrateOutdated();
    this.timer = setInterval(() => void this.recover(), RECOVERY_INTERVAL_MS).unref();
  }

  /** With a wrong key every request would fail, and secrets of new projects would be encrypted with another key. */
  private async assertMasterKey(): Promise<void> {
    const newest = await this.projects.findNewest();
    if (newest) this.secrets.assertOpens('owner-password', newest.id, newest.ownerPassword);
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.recovering;
  }

  /**
   * Undoes interrupted creations and finishes interrupted deletions, except those that another process is
   * working on.
   */
  recover(): Promise<void> {
    this.recovering ??= this.recoverAll().finally(() => (this.recovering = undefined));
    return this.recovering;
  }

  /** Migrates every project's database to the current schema, as its owner. */
  async migrateOutdated(): Promise<void> {
    const waiting = await this.projects.listOutdated(PROJECT_SCHEMA_VERSION);
    if (waiting.length === 0) return;
    this.logger.log(`migrating the databases of ${waiting.length} projects`);
    await withEach(waiting, (entity) => this.migrate(entity));
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

  private async migrate(entity: ProjectEntity): Promise<void> {
    try {
      await this.projects.whileLocked(entity.id, async () => {
        await this.owner.repairAccess(entity);
        await migrateProjectDatabase(this.owner.connectionOf(entity));
        await this.projects.setSchemaVersion(entity.id, PROJECT_SCHEMA_VERSION);
      });
    } catch (error) {
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
