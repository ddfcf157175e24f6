/** Platform administration: projects and their keys (DECISIONS.md 7). */
import { Controller, Delete, Get, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiQuery, ApiResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { PlatformError } from '../../http/errors/platform-error.dto';
import { MailTemplateCheck } from '../../auth/mail/mail-template-check.service';
import { Actor } from '../../projects/audit-log.repository';
import { ProjectAdminService } from '../project-admin.service';
import { AdminApi, INVALID, PROJECT_NOT_FOUND } from './admin-api.decorator';
import { CurrentActor } from './current-actor.decorator';
import { CreatedProject, DeletedProject, ProjectKeysWithSecret, ProjectRecord } from '../admin-records';
import { CreateProjectDto, ListProjectsQuery, RotateKeysDto, UpdateProjectDto } from './dto/projects.dto';
import { StrictBody, StrictQuery } from '../../http/input/strict-input.decorator';

const DEFAULT_GRACE_SECONDS = 86_400;
const DEFAULT_LIMIT = 100;

@AdminApi()
@Controller('admin/v1/projects')
export class ProjectsController {
  constructor(
    private readonly projects: ProjectAdminService,
    private readonly templates: MailTemplateCheck,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create a project', operationId: 'createProject' })
  @ApiBody({ type: CreateProjectDto })
  @ApiResponse({ status: 201, type: CreatedProject })
  @ApiResponse(INVALID)
  @ApiResponse({
    status: 409,
    description: 'The given or derived slug is taken',
    type: PlatformError,
  })
  async create(@StrictBody() body: CreateProjectDto, @CurrentActor() actor: Actor): Promise<CreatedProject> {
    const { database_url: databaseUrl, ...rest } = body;
    await this.templates.assertValid(body.settings?.mail_templates ?? {});
    return this.projects.create({ ...rest, databaseUrl }, actor);
  }

  @Get()
  @ApiOperation({ summary: 'List projects in the order of creation', operationId: 'listProjects' })
  @ApiQuery({ type: ListProjectsQuery })
  @ApiResponse({
    status: 200,
    type: [ProjectRecord],
    headers: {
      'X-Total-Count': { description: 'Projects that match, on all pages', schema: { type: 'integer' } },
    },
  })
  @ApiResponse(INVALID)
  async list(
    @StrictQuery() { limit = DEFAULT_LIMIT, offset = 0, slug, search }: ListProjectsQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ProjectRecord[]> {
    const { records, total } = await this.projects.list({ limit, offset, slug, search });
    response.setHeader('X-Total-Count', total);
    return records;
  }

  @Get(':id')
  @ApiOperation({ summary: 'Get a project', operationId: 'getProject' })
  @ApiResponse({ status: 200, type: ProjectRecord })
  @ApiResponse(PROJECT_NOT_FOUND)
  get(@Param('id') id: string): Promise<ProjectRecord> {
    return this.projects.get(id);
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Change name, plan or settings; takes effect with the next request',
    operationId: 'updateProject',
  })
  @ApiBody({ type: UpdateProjectDto })
  @ApiResponse({ status: 200, type: ProjectRecord })
  @ApiResponse(INVALID)
  @ApiResponse(PROJECT_NOT_FOUND)
  async update(
    @Param('id') id: string,
    @StrictBody() body: UpdateProjectDto,
    @CurrentActor() actor: Actor,
  ): Promise<ProjectRecord> {
    await this.templates.assertValid(body.settings?.mail_templates ?? {});
    return this.projects.update(id, body, actor);
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a project with its database', operationId: 'deleteProject' })
  @ApiResponse({ status: 200, type: DeletedProject })
  @ApiResponse({
    status: 202,
    description: 'The project no longer serves requests; its database is still being dropped',
    type: DeletedProject,
  })
  @ApiResponse(PROJECT_NOT_FOUND)
  @ApiResponse({
    status: 409,
    description: 'Another request is creating or deleting the project',
    type: PlatformError,
  })
  async remove(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DeletedProject> {
    const answer = await this.projects.remove(id, actor);
    response.status(answer.deleted ? 200 : 202);
    return answer;
  }

  @Get(':id/keys')
  @ApiOperation({
    summary: 'Get the keys of a project and the secret that signs them',
    operationId: 'getProjectKeys',
  })
  @ApiResponse({ status: 200, type: ProjectKeysWithSecret })
  @ApiResponse(PROJECT_NOT_FOUND)
  keys(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<ProjectKeysWithSecret> {
    return this.projects.keys(id, actor);
  }

  @Post(':id/keys/rotate')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Rotate the keys and secrets of a project; old signatures stay valid for a grace period',
    operationId: 'rotateProjectKeys',
  })
  @ApiBody({ type: RotateKeysDto, required: false })
  @ApiResponse({ status: 200, type: ProjectKeysWithSecret })
  @ApiResponse(INVALID)
  @ApiResponse(PROJECT_NOT_FOUND)
  rotate(
    @Param('id') id: string,
    @StrictBody() body: RotateKeysDto,
    @CurrentActor() actor: Actor,
  ): Promise<ProjectKeysWithSecret> {
    return this.projects.rotateKeys(id, body.grace_seconds ?? DEFAULT_GRACE_SECONDS, actor);
  }
}
