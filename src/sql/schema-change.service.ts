/** Makes DDL that ran through Plinth effective before its response is sent: the next request of the client may rely on it. */
import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../common/errors/error-facts';
import { ProjectEntity } from '../projects/project.entity';
import { ProjectRegistry } from '../projects/project-registry.service';
import { RelationAdopter } from '../projects/relation-adopter.service';
import { CatalogService } from '../rest/catalog/catalog.service';

@Injectable()
export class SchemaChangeService {
  private readonly logger = new Logger(SchemaChangeService.name);

  constructor(
    private readonly adopter: RelationAdopter,
    private readonly registry: ProjectRegistry,
    private readonly catalogs: CatalogService,
  ) {}

  /** Secures new tables, and compares the catalog of table REST in this process with the database. */
  async follow(project: ProjectEntity): Promise<void> {
    await this.adopter.adopt(project);
    await this.refreshCatalog(project);
  }

  /** The DDL is committed whether or not this works, and the event trigger announces the change as well. */
  private async refreshCatalog({ id, slug }: ProjectEntity): Promise<void> {
    try {
      const project = await this.registry.findById(id);
      if (project) await this.catalogs.refresh(project.database);
    } catch (error) {
      this.logger.warn(`the schema of project ${slug} could not be compared: ${messageOf(error)}`);
    }
  }
}
