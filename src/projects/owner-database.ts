/** The owner's access to a project's database: DDL, migrations, psql. */
import { Injectable } from '@nestjs/common';
import { Client, ClientConfig } from 'pg';
import { withConnection } from '../database/pools/one-off-connection';
import { ProjectEntity } from './project.entity';
import { ProjectSecrets } from './project-secrets';
import { ProjectsService } from './projects.service';

@Injectable()
export class OwnerDatabase {
  constructor(
    private readonly projects: ProjectsService,
    private readonly secrets: ProjectSecrets,
  ) {}

  /** How the owner role connects. */
  connectionOf(project: ProjectEntity): ClientConfig & { host: string; port: number; password: string } {
    const server = this.projects.serverOf(project);
    const password = this.secrets.open('owner-password', project.id, project.ownerPassword);
    return {
      ...server.configFor(project.databaseName, project.ownerRole, password),
      host: server.host,
      port: server.port,
      password,
    };
  }

  /**
   * Works as the owner role, logged in as it: a session that only switched to it could switch back.
   * @param reason why the owner's rights are needed; for the reader and for grep
   */
  async use<T>(project: ProjectEntity, _reason: string, work: (client: Client) => Promise<T>): Promise<T> {
    return withConnection(this.connectionOf(project), work);
  }
}
