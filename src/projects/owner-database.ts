/** The owner's access to a project's database: DDL, migrations, psql. */
import { Injectable } from '@nestjs/common';
import type { HostListConfig } from '../pg-pipeline';
import { codeOf } from '../common/errors/error-facts';
import {
  BoundedClient,
  BoundedClientConfig,
  withBoundedConnection,
} from '../database/pools/one-off-connection';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { ProjectEntity } from './project.entity';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { ProjectsService } from './projects.service';
import { DatabaseProvisioner } from './provisioning/database-provisioner';

/** Wrong password, or a role without LOGIN: an owner can change both. */
const REFUSED = new Set(['28P01', '28000']);

@Injectable()
export class OwnerDatabase {
  constructor(
    private readonly projects: ProjectsService,
    private readonly repository: ProjectRepository,
    private readonly provisioner: DatabaseProvisioner,
    private readonly secrets: ProjectSecrets,
  ) {}

  /** How the owner role connects. */
  connectionOf(project: ProjectEntity): HostListConfig & { host: string; port: number; password: string } {
    const password = this.secrets.open('owner-password', project.id, project.ownerPassword);
    return this.projects.serverOf(project).configFor(project.databaseName, project.ownerRole, password);
  }

  async find(id: string): Promise<ProjectEntity | null> {
    return (await this.repository.findActive({ id }))?.project ?? null;
  }

  /**
   * Runs work in a session that logged in as the owner role: after a mere SET ROLE, project code could reset
   * the role.
   * @param _reason why the owner's rights are needed; it documents the call
   */
  async use<T>(
    project: ProjectEntity,
    _reason: string,
    work: (client: BoundedClient) => Promise<T>,
    settings: BoundedClientConfig = {},
  ): Promise<T> {
    let isConnected = false;
    const attempt = (): Promise<T> =>
      withBoundedConnection({ ...this.connectionOf(project), ...settings }, (client) => {
        isConnected = true;
        return work(client);
      });
    try {
      return await attempt();
    } catch (error) {
      if (isConnected || !REFUSED.has(codeOf(error) ?? '')) throw error;
      await this.resetPassword(project);
      return attempt();
    }
  }

  /** Sets the role's password again if the owner changed it, which locks Plinth out. */
  async repairAccess(project: ProjectEntity): Promise<void> {
    const settings = { options: OWNER_WORK_OPTIONS };
    await this.use(project, 'the owner role can log in', async () => undefined, settings);
  }

  private async resetPassword(project: ProjectEntity): Promise<void> {
    const { password } = this.connectionOf(project);
    await this.provisioner.resetOwnerPassword(this.projects.serverOf(project), project.ownerRole, password);
  }
}
