/** Platform administration: projects and their keys. */
import { Controller, Delete, Get, Param, Patch, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { MailTemplateCheck } from '../../auth/mail/mail-template-check.service';
import { Actor } from '../../install/audit/audit-log.repository';
import { ProjectAdminService } from './project-admin.service';
import { StaffApi, CurrentStaff, CurrentActor } from '../../staff/http/staff-api.decorator';
import { isOperator, type StaffCaller, visibleProjects } from '../../staff/roles/staff';
import { roleForbids } from '../../staff/staff.errors';
import {
  CreatedProject,
  DatabaseAccess,
  DeletedProject,
  ProjectKeysWithSecret,
  ProjectResponse,
} from './dto/project-responses';
import { CreateProjectDto, ListProjectsQuery, RotateKeysDto, UpdateProjectDto } from './dto/projects.dto';
import { StrictBody, StrictQuery } from '../../http/input/strict-input.decorator';
import { COUNT } from '../../http/docs/documented-headers';
import { invalidParameters } from '../../common/errors/app-error';
import {
  invalidSlug,
  nameWithoutSlug,
  noSigningKeys,
  projectBusy,
  projectChanged,
  slugTaken,
} from '../projects.errors';
import { noRoom, serverNotFound } from '../../servers/server.errors';
import { changesQuotas } from '../settings/quota.settings';
import { Answer, Describe, Errors, JsonBody } from '../../http/docs/operation.decorators';

const DEFAULT_GRACE_SECONDS = 86_400;
const DEFAULT_LIMIT = 100;

@StaffApi()
@Controller('admin/v1/projects')
export class ProjectsController {
  constructor(
    private readonly projects: ProjectAdminService,
    private readonly templates: MailTemplateCheck,
  ) {}

  @Post()
  @Describe(`Create a project
    Creates a database, roles and keys, which takes about a third of a second. Besides the keys call, only this response contains the keys.`)
  @Answer(201, 'The project with its keys', CreatedProject)
  @Errors(invalidSlug(), nameWithoutSlug(), slugTaken('acme', false), noRoom(), serverNotFound())
  async createProject(
    @StrictBody() body: CreateProjectDto,
    @CurrentActor() actor: Actor,
  ): Promise<CreatedProject> {
    const { database_url: databaseUrl, ...rest } = body;
    if ((databaseUrl ?? null) !== null && (rest.server ?? null) !== null)
      throw invalidParameters('server and database_url exclude each other');
    await this.templates.assertValid(body.settings?.mail_templates ?? {});
    return this.projects.create({ ...rest, databaseUrl }, actor);
  }

  @Get()
  @Describe(`List projects in the order of creation
    At most 1000 per page. Keys are not listed.`)
  @Answer(200, 'A page of projects', [ProjectResponse], {
    'X-Total-Count': { description: 'Total number of matching projects', schema: COUNT },
  })
  @Errors(invalidParameters('limit must not be greater than 1000'))
  async listProjects(
    @StrictQuery() { limit = DEFAULT_LIMIT, offset = 0, slug, search }: ListProjectsQuery,
    @CurrentStaff() staff: StaffCaller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ProjectResponse[]> {
    const among = visibleProjects(staff);
    const { records, total } = await this.projects.list({ limit, offset, slug, search, among });
    response.setHeader('X-Total-Count', total);
    return records;
  }

  @Get(':id')
  @Describe(`Get a project
    The settings hold all values, defaults included.`)
  @Answer(200, 'The project', ProjectResponse)
  getProject(@Param('id') id: string): Promise<ProjectResponse> {
    return this.projects.get(id);
  }

  @Patch(':id')
  @Describe(`Change name, plan or settings of a project
    Omitted members and settings keep their values; null resets a setting to its default. The slug cannot change.`)
  @Answer(200, 'The updated project', ProjectResponse)
  @Errors(projectChanged(), invalidParameters('settings.max_rows must not be less than 1'))
  async updateProject(
    @Param('id') id: string,
    @StrictBody() body: UpdateProjectDto,
    @CurrentStaff() staff: StaffCaller,
    @CurrentActor() actor: Actor,
  ): Promise<ProjectResponse> {
    // The installation grants plan and quotas to a project, so the project's own administrators cannot raise them.
    const isGranted = (body.plan ?? null) !== null || changesQuotas(body.settings ?? {});
    if (isGranted && !isOperator(staff)) throw roleForbids();
    await this.templates.assertValid(body.settings?.mail_templates ?? {});
    return this.projects.updateProject(id, body, actor);
  }

  @Post(':id/pause')
  @Describe(`Pause a project: its API answers 503 until it is resumed
    Takes effect with the next request, on every replica; requests in progress are completed. Data, keys, sessions and the administration stay, and backups go on. A project that is paused already stays as it is.`)
  @Answer(200, 'The paused project', ProjectResponse)
  pauseProject(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<ProjectResponse> {
    return this.projects.pause(id, actor);
  }

  @Post(':id/resume')
  @Describe(`Resume a paused project
    Takes effect with the next request. A project that is not paused stays as it is.`)
  @Answer(200, 'The project, which serves requests again', ProjectResponse)
  resumeProject(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<ProjectResponse> {
    return this.projects.resume(id, actor);
  }

  @Delete(':id')
  @Describe(`Delete a project with its database
    This cannot be undone: all rows, users and files are deleted. The slug can be used again afterwards.`)
  @Answer(200, 'The project was deleted', DeletedProject)
  @Answer(202, 'The project no longer serves requests; its database is still being dropped', DeletedProject)
  @Errors(projectBusy())
  async deleteProject(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DeletedProject> {
    const answer = await this.projects.remove(id, actor);
    response.status(answer.deleted ? 200 : 202);
    return answer;
  }

  @Get(':id/keys')
  @Describe(`Get the keys of a project and the secret that signs them
    Each access is recorded in the audit log.`)
  @Answer(200, 'The keys and the secret', ProjectKeysWithSecret)
  getProjectKeys(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<ProjectKeysWithSecret> {
    return this.projects.keys(id, actor);
  }

  @Post(':id/keys/rotate')
  @Describe(`Rotate the keys and secrets of a project
    Returns the new keys. Old signatures stay valid for a grace period; if it is 0, all existing tokens and signed URLs stop working at once. With "end_named_keys", S3 keys and named keys end as well. The owner role of the database gets a new password at once, and its sessions end. With "only": "signing_keys", the next key pair signs users' tokens, and the rest stays.`)
  @JsonBody(RotateKeysDto, { required: false })
  @Answer(200, 'The new keys and the new secret', ProjectKeysWithSecret)
  @Errors(invalidParameters('grace_seconds must not be less than 0'), noSigningKeys())
  rotateProjectKeys(
    @Param('id') id: string,
    @StrictBody() body: RotateKeysDto,
    @CurrentActor() actor: Actor,
  ): Promise<ProjectKeysWithSecret> {
    const { grace_seconds: grace = DEFAULT_GRACE_SECONDS, only, end_named_keys: endsNamed = false } = body;
    return this.projects.rotateKeys(id, { grace, onlySigning: only !== undefined, endsNamed }, actor);
  }

  @Get(':id/database')
  @Describe(`Get the owner's connection to a project's database, for psql and migration tools
    The password is that of the role that owns the database. Each access is recorded in the audit log.`)
  @Answer(200, 'The connection', DatabaseAccess)
  getProjectDatabase(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<DatabaseAccess> {
    return this.projects.database(id, actor);
  }
}
