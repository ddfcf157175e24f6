/** Projects and their secrets in the platform database. */
import { Inject, Injectable } from '@nestjs/common';
import { DataSource, EntityManager, In } from 'typeorm';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { withConnection } from '../database/pools/one-off-connection';
import { ProjectEntity, ProjectSecretEntity, ProjectStatus } from './project.entity';

/** Channel on which the platform database announces that a project changed; the payload is its id. */
export const PROJECTS_CHANNEL = 'plinth_projects';

export interface ProjectRow {
  readonly project: ProjectEntity;
  readonly secrets: ProjectSecretEntity[];
}

@Injectable()
export class ProjectRepository {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  async findActive(where: { id: string } | { slug: string }): Promise<ProjectRow | null> {
    const project = await this.dataSource.manager.findOneBy(ProjectEntity, { ...where, status: 'active' });
    if (!project) return null;
    return { project, secrets: await this.secretsOf(project.id) };
  }

  async listActive(): Promise<ProjectEntity[]> {
    return this.dataSource.manager.find(ProjectEntity, {
      where: { status: 'active' },
      order: { createdAt: 'ASC' },
    });
  }

  async listUnfinished(): Promise<ProjectEntity[]> {
    return this.dataSource.manager.findBy(ProjectEntity, { status: In(['provisioning', 'deleting']) });
  }

  async insert(project: ProjectEntity): Promise<void> {
    await this.dataSource.manager.insert(ProjectEntity, project);
  }

  /** Makes a provisioned project visible, with its first secret, in one transaction. */
  async activate(id: string, secret: ProjectSecretEntity): Promise<void> {
    await this.change(id, async (manager) => {
      await manager.insert(ProjectSecretEntity, secret);
      await manager.update(ProjectEntity, { id }, { status: 'active' satisfies ProjectStatus });
    });
  }

  async update(
    id: string,
    values: Partial<Pick<ProjectEntity, 'name' | 'plan' | 'settings' | 'status' | 'schemaVersion'>>,
  ): Promise<void> {
    await this.change(id, (manager) => manager.update(ProjectEntity, { id }, values));
  }

  /** The new secret signs from now on; the old ones are valid until `oldExpireAt`. */
  async rotateSecret(secret: ProjectSecretEntity, oldExpireAt: Date): Promise<void> {
    const id = secret.projectId;
    await this.change(id, async (manager) => {
      await manager.query('delete from project_secrets where project_id = $1 and expires_at < now()', [id]);
      await manager.query(
        'update project_secrets set expires_at = $2 where project_id = $1 and (expires_at is null or expires_at > $2)',
        [id, oldExpireAt],
      );
      await manager.insert(ProjectSecretEntity, secret);
    });
  }

  async remove(id: string): Promise<void> {
    await this.change(id, (manager) => manager.delete(ProjectEntity, { id }));
  }

  /**
   * Runs work that only one process may do for a project at a time. The lock has a connection of its own, for work that
   * waits for the pool must not hold a part of it.
   * @returns false when another process is at it
   */
  async whileLocked(id: string, work: () => Promise<void>): Promise<boolean> {
    return withConnection({ connectionString: this.platformUrl }, async (client) => {
      const { rows } = await client.query<{ locked: boolean }>(
        'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked',
        [id],
      );
      if (!rows[0]?.locked) return false;
      await work();
      return true;
    });
  }

  private async secretsOf(projectId: string): Promise<ProjectSecretEntity[]> {
    return this.dataSource.manager.findBy(ProjectSecretEntity, { projectId });
  }

  private async change(id: string, work: (manager: EntityManager) => Promise<unknown>): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await work(manager);
      await manager.query('select pg_notify($1, $2)', [PROJECTS_CHANNEL, id]);
    });
  }
}
