/** Platform administration: the catalog of a project's database. */
import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Answer } from '../../http/docs/answer.decorator';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { ProjectsService } from '../../projects/projects.service';
import { CatalogRelation } from '../catalog/catalog-records';
import { CatalogRepository } from '../catalog/catalog.repository';
import { AdminApi, PROJECT_ERRORS, ProjectParam } from './admin-api.decorator';

@AdminApi()
@Controller('admin/v1/projects/:id/catalog')
export class ProjectCatalogController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly catalog: CatalogRepository,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'getProjectCatalog',
    summary: 'Get the tables and views with their columns, keys, indexes and policies',
    description: 'All schemas except those of PostgreSQL. Relations of extensions are left out.',
  })
  @ProjectParam()
  @Answer(200, 'The tables and views, by schema and name', [CatalogRelation])
  @PlatformErrors(PROJECT_ERRORS)
  async get(@Param('id') id: string): Promise<CatalogRelation[]> {
    return this.catalog.list(await this.projects.get(id));
  }
}
