/** Platform administration: the catalog of a project's database. */
import { Controller, Get, Param } from '@nestjs/common';
import { ProjectsService } from '../../projects/projects.service';
import { CatalogObjects } from '../catalog/catalog-objects';
import { CatalogRelation } from '../catalog/catalog-records';
import { CatalogRepository } from '../catalog/catalog.repository';
import { TableResponse } from '../catalog/table-record';
import { TablesRepository } from '../catalog/tables.repository';
import { StaffApi } from '../../staff/http/staff-api.decorator';
import { Answer, Describe } from '../../http/docs/operation.decorators';

@StaffApi()
@Controller('admin/v1/projects/:id')
export class ProjectCatalogController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly catalog: CatalogRepository,
    private readonly tables: TablesRepository,
  ) {}

  @Get('catalog')
  @Describe(`Get the tables and views with their columns, keys, indexes and policies
    All schemas except those of PostgreSQL. Relations of extensions are left out.`)
  @Answer(200, 'The tables and views, by schema and name', [CatalogRelation])
  async getProjectCatalog(@Param('id') id: string): Promise<CatalogRelation[]> {
    return this.catalog.list(await this.projects.get(id));
  }

  @Get('catalog/objects')
  @Describe(`Get the types, functions, triggers, views and extensions
    With the statements that create them. All schemas except those of PostgreSQL; objects of extensions are left out.`)
  @Answer(200, 'The objects, by schema and name', CatalogObjects)
  async getProjectObjects(@Param('id') id: string): Promise<CatalogObjects> {
    return this.catalog.listObjects(await this.projects.get(id));
  }

  @Get('tables')
  @Describe(`List tables with row-level security on or off
    All schemas except those of Plinth and of PostgreSQL.`)
  @Answer(200, 'The tables, by schema and name', [TableResponse])
  async listProjectTables(@Param('id') id: string): Promise<TableResponse[]> {
    return this.tables.list(await this.projects.get(id));
  }
}
