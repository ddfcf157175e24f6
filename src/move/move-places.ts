/** The two servers of a move, and the rows of the project on each. */
import { Injectable } from '@nestjs/common';
import type { ProjectEntity } from '../projects/project.entity';
import { ProjectSecrets } from '../projects/project-secrets';
import { ProjectsService } from '../projects/projects.service';
import type { DatabaseServer } from '../provisioning/database-server';
import { ServersService } from '../servers/servers.service';
import type { MoveRow } from './move.repository';

export interface Place {
  readonly project: ProjectEntity;
  readonly server: DatabaseServer;
}

@Injectable()
export class MovePlaces {
  constructor(
    private readonly projects: ProjectsService,
    private readonly servers: ServersService,
    private readonly secrets: ProjectSecrets,
  ) {}

  /** The project as its row will be on the server of that name. @throws AppError 404 */
  async onServer(project: ProjectEntity, name: string): Promise<Place> {
    const { server, url } = await this.servers.place(name);
    const serverUrl = url === null ? null : this.secrets.seal('server-url', project.id, url);
    return this.placeOf({ ...project, server, serverUrl });
  }

  /** The project as it was before the move. */
  before(project: ProjectEntity, { sourceServer: server, sourceUrl: serverUrl }: MoveRow): Place {
    return this.placeOf({ ...project, server, serverUrl });
  }

  placeOf(project: ProjectEntity): Place {
    return { project, server: this.projects.serverOf(project) };
  }
}
