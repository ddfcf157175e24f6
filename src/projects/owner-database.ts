/** The owner's access to a project's database: DDL, migrations, psql. */
import { Injectable } from '@nestjs/common';
import type { DatabaseServer } from '../provisioning/database-server';
import { randomSecret } from '../infra/crypto/random';
import { codeOf } from '../common/errors/error-facts';
import {
  BoundedClient,
  BoundedClientConfig,
  withBoundedConnection,
} from '../database/pools/one-off-connection';
import { isLoginRefused } from '../database/pools/pool.errors';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { Actor, AuditEntry, PLINTH } from '../install/audit/audit-log.repository';
import { entryFor } from './project-entries';
import { ProjectEntity } from './project.entity';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { ProjectsService } from './projects.service';
import { DatabaseProvisioner } from '../provisioning/database-provisioner';

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
  connectionOf(project: ProjectEntity): ReturnType<DatabaseServer['configFor']> {
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
    const attempt = (entity: ProjectEntity): Promise<T> =>
      withBoundedConnection({ ...this.connectionOf(entity), ...settings }, (client) => {
        isConnected = true;
        return work(client);
      });
    try {
      return await attempt(project);
    } catch (error) {
      if (isConnected || !REFUSED.has(codeOf(error) ?? '')) throw error;
      return attempt(await this.restorePassword(project));
    }
  }

  /** Sets the role's password again if the owner changed it, which locks Plinth out. */
  async repairAccess(project: ProjectEntity): Promise<void> {
    const settings = { options: OWNER_WORK_OPTIONS };
    await this.use(project, 'the owner role can log in', async () => undefined, settings);
  }

  /**
   * Gives the owner role a new password and ends its sessions, so that staff who knew the old one lose access. The
   * password of the login role, which is never revealed, is set again, because project code can change it.
   * @param actor null if another entry of the audit log records the change
   * @throws AppError 404 for an unknown project
   */
  async rotatePassword(id: string, actor: Actor | null): Promise<void> {
    await this.projects.get(id);
    await this.repository.changeOwnerPassword(id, async (project) => {
      project.ownerPassword = this.secrets.seal('owner-password', id, randomSecret());
      const server = this.projects.serverOf(project);
      const { ownerPassword, loginPassword } = this.projects.blueprintOf(project);
      await this.provisioner.replaceOwnerPassword(server, project, ownerPassword);
      await this.provisioner.resetLogin(server, project, loginPassword);
      return actor && entryFor('project.database.rotate', actor, id, {});
    });
  }

  /** @returns the project with the password that is now valid */
  private async restorePassword(refused: ProjectEntity): Promise<ProjectEntity> {
    const restored = await this.repository.changeOwnerPassword(refused.id, async (project) => {
      // The password was rotated after the project was read, or another connection has restored it.
      if (await isAccepted(this.connectionOf(project))) return null;
      const { ownerRole } = project;
      const { password } = this.connectionOf(project);
      await this.provisioner.resetOwnerPassword(this.projects.serverOf(project), ownerRole, password);
      return changedBySql(project.id, ownerRole);
    });
    return restored ?? refused;
  }
}

/**
 * The audit log's entry of a repair: the owner's SQL, or a function of the project, changed the role, and
 * Plinth has undone the change.
 */
export const changedBySql = (projectId: string, role: string): AuditEntry =>
  entryFor('project.database.restore_access', PLINTH, projectId, { role, reason: 'changed by SQL' });

/** False if the server refuses the login. @throws the error of a server that cannot be reached */
export async function isAccepted(login: BoundedClientConfig): Promise<boolean> {
  try {
    await withBoundedConnection(login, async () => undefined);
    return true;
  } catch (error) {
    if (isLoginRefused(error as Error)) return false;
    throw error;
  }
}
