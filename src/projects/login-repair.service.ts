/**
 * Sets the password of a login role again when the server refuses it. A project's functions run in sessions of that
 * role, and any role may change its own password, so project code can lock Plinth out.
 */
import { Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { ProjectPools } from '../database/pools/project-pools';
import { AuditLogRepository } from '../install/audit/audit-log.repository';
import { changedBySql, isAccepted } from './owner-database';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { ProjectsService } from './projects.service';
import { DatabaseProvisioner } from '../provisioning/database-provisioner';

@Injectable()
export class LoginRepair implements OnApplicationBootstrap {
  private readonly logger = new Logger(LoginRepair.name);
  /** Keyed by project id: requests that are refused at the same time share one repair. */
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly pools: ProjectPools,
    private readonly repository: ProjectRepository,
    private readonly projects: ProjectsService,
    private readonly provisioner: DatabaseProvisioner,
    private readonly secrets: ProjectSecrets,
    private readonly audit: AuditLogRepository,
  ) {}

  onApplicationBootstrap(): void {
    this.pools.onRefused = ({ key, password }) => this.begin(key, password);
  }

  private begin(id: string, refused: string): void {
    if (this.running.has(id)) return;
    const repair = this.repair(id, refused)
      .catch((error: unknown) =>
        this.logger.warn(
          `the login role of project ${id} is refused and could not be repaired: ${String(error)}`,
        ),
      )
      .finally(() => this.running.delete(id));
    this.running.set(id, repair);
  }

  private async repair(id: string, refused: string): Promise<void> {
    const row = await this.repository.findActive({ id });
    if (!row) return;
    const { project } = row;
    const password = this.secrets.open('login-password', id, project.loginPassword);
    // The password was rotated after the request had begun.
    if (refused !== password) return;
    const server = this.projects.serverOf(project);
    // The refusal of a connection may arrive after the repair that another one began.
    const login = server.configFor(project.databaseName, project.loginRole, password);
    if (await isAccepted(login)) return;
    await this.provisioner.resetLogin(server, project, password);
    await this.audit.write(changedBySql(id, project.loginRole));
    this.logger.warn(
      `the login role of project ${project.slug} was refused; its password and rights are set again`,
    );
  }
}
