/** Platform administration: the catalog of a project's database. */
import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Answer } from '../../http/docs/answer.decorator';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { ProjectsService } from '../../projects/projects.service';
import { CatalogRelation } from '../catalog/catalog-records';
import { CatalogRepository } from '../catalog/catalog.repository';
import { TableRecord } from '../catalog/table-record';
import { TablesRepository } from '../catalog/tables.repository';
import { PROJECT_ERRORS, ProjectIdParam, StaffApi } from '../../staff/http/staff-api.decorator';

@StaffApi()
@Controller('admin/v1/projects/:id')
export class ProjectCatalogController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly catalog: CatalogRepository,
    private readonly tables: TablesRepository,
  ) {}

  @Get('catalog')
  @ApiOperation({
    operationId: 'getProjectCatalog',
    summary: 'Get the tables and views with their columns, keys, indexes and policies',
    description: 'All schemas except those of PostgreSQL. Relations of extensions are left out.',
  })
  @ProjectIdParam()
  @Answer(200, 'The tables and views, by schema and name', [CatalogRelation])
  @PlatformErrors(PROJECT_ERRORS)
  async get(@Param('id') id: string): Promise<CatalogRelation[]> {
    return this.catalog.list(await this.projects.get(id));
  }

  @Get('tables')
  @ApiOperation({
    operationId: 'listProjectTables',
    summary: 'List tables with row-level security on or off',
    description: 'All schemas except those of Plinth and of PostgreSQL.',
  })
  @ProjectIdParam()
  @Answer(200, 'The tables, by schema and name', [TableRecord])
  @PlatformErrors(PROJECT_ERRORS)
  async listTables(@Param('id') id: string): Promise<TableRecord[]> {
    return this.tables.list(await this.projects.get(id));
  }
}
