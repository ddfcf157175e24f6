/**
 * Secures new tables of projects on servers without event triggers (relation-adoption.ts), by polling the projects in
 * use once a second. Does nothing for projects on other servers.
 */
import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { RlsTransaction } from '../database/rls/rls-transaction';
import { OwnerDatabase } from './owner-database';
import { Project } from './project';
import { ProjectEntity } from './project.entity';
import { ProjectRegistry } from './project-registry.service';
import { ADOPT, HAS_PENDING, SET_AUTO_RLS } from '../provisioning/relation-adoption';

const POLL_MS = 800;
/** Projects are polled one after the other: an owner's lock must not delay the others for longer. */
const TIMEOUT_MS = 5_000;

@Injectable()
export class RelationAdopter implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(RelationAdopter.name);
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> | undefined;

  constructor(
    private readonly registry: ProjectRegistry,
    private readonly rls: RlsTransaction,
    private readonly owner: OwnerDatabase,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.polling ??= this.poll().finally(() => (this.polling = undefined));
    }, POLL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.polling;
  }

  /** Call it after the owner's SQL ran through Plinth, so that its new tables are ready for the next request. */
  async adopt(project: ProjectEntity): Promise<void> {
    if (!project.polled) return;
    const work = async (client: BoundedClient): Promise<void> => {
      await client.query(SET_AUTO_RLS, [(project.settings.auto_rls ?? true) ? 'on' : 'off']);
      await client.query(ADOPT);
    };
    const settings = { options: OWNER_WORK_OPTIONS, statement_timeout: TIMEOUT_MS };
    await this.owner.use(project, 'new relations are closed and opened', work, settings);
  }

  private async poll(): Promise<void> {
    for (const project of this.registry
      .inUse()
      .filter(({ polled, database }) => polled && !database.isPaused)) {
      await this.look(project).catch((error: unknown) =>
        this.logger.warn(`new tables of project ${project.slug} could not be checked: ${String(error)}`),
      );
    }
  }

  private async look({ id, database }: Project): Promise<void> {
    const { rows } = await this.rls.systemQuery(database, 'catalogs are read for new relations', {
      name: 'relations-pending',
      text: HAS_PENDING,
    });
    if (rows[0]?.pending !== true) return;
    const entity = await this.owner.find(id);
    if (entity) await this.adopt(entity);
  }
}
