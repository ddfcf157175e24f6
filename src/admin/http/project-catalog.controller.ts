/** Platform administration: the catalog of a project's database. */
import { Controller, Get, Param } from '@nestjs/common';
import { ProjectsService } from '../../projects/projects.service';
import { CatalogRelation } from '../catalog/catalog-records';
import { CatalogRepository } from '../catalog/catalog.repository';
import { AdminApi } from './admin-api.decorator';
import { Answer, Describe } from '../../http/docs/operation.decorators';

@AdminApi()
@Controller('admin/v1/projects/:id/catalog')
export class ProjectCatalogController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly catalog: CatalogRepository,
  ) {}

  @Get()
  @Describe(`Get the tables and views with their columns, keys, indexes and policies
    All schemas except those of PostgreSQL. Relations of extensions are left out.`)
  @Answer(200, 'The tables and views, by schema and name', [CatalogRelation])
  async getProjectCatalog(@Param('id') id: string): Promise<CatalogRelation[]> {
    return this.catalog.list(await this.projects.get(id));
  }
}
