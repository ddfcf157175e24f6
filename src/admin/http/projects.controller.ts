/** Platform administration: projects, their keys and databases (DECISIONS.md 7). */
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { PlatformAdminGuard } from '../../access/platform-admin.guard';
import { JsonBodyInterceptor } from '../../common/http/json-body.interceptor';
import { ProjectAdminService } from '../project-admin.service';
import { CreateProjectDto, RotateKeysDto, SqlDto, UpdateProjectDto } from './dto/projects.dto';

const DEFAULT_GRACE_SECONDS = 86_400;

@ApiTags('admin')
@ApiBearerAuth('platform-admin-key')
@Controller('admin/v1/projects')
@UseGuards(PlatformAdminGuard)
@UseInterceptors(JsonBodyInterceptor)
export class ProjectsController {
  constructor(private readonly projects: ProjectAdminService) {}

  @Post()
  create(@Body() body: CreateProjectDto): Promise<unknown> {
    const { database_url: databaseUrl, ...rest } = body;
    return this.projects.create({ ...rest, databaseUrl });
  }

  @Get()
  list(): Promise<unknown> {
    return this.projects.list();
  }

  @Get(':id')
  get(@Param('id') id: string): Promise<unknown> {
    return this.projects.get(id);
  }

  @Patch(':id')
  update(@Param('id') id: string, @Body() body: UpdateProjectDto): Promise<unknown> {
    return this.projects.update(id, body);
  }

  @Delete(':id')
  remove(@Param('id') id: string): Promise<unknown> {
    return this.projects.remove(id);
  }

  @Get(':id/keys')
  keys(@Param('id') id: string): Promise<unknown> {
    return this.projects.keys(id);
  }

  @Post(':id/keys/rotate')
  @HttpCode(200)
  rotate(@Param('id') id: string, @Body() body: RotateKeysDto): Promise<unknown> {
    return this.projects.rotateKeys(id, body.grace_seconds ?? DEFAULT_GRACE_SECONDS);
  }

  @Get(':id/database')
  database(@Param('id') id: string): Promise<unknown> {
    return this.projects.database(id);
  }

  @Post(':id/sql')
  @HttpCode(200)
  sql(@Param('id') id: string, @Body() body: SqlDto): Promise<unknown> {
    return this.projects.sql(id, body.query);
  }

  @Get(':id/tables')
  tables(@Param('id') id: string): Promise<unknown> {
    return this.projects.tables(id);
  }
}
