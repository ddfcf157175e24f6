/** Platform administration: SQL that people saved under a name. It is stored, and never run from here. */
import { Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse } from '@nestjs/swagger';
import { Clock } from '../../common/time/clock';
import { invalidParameters } from '../../common/errors/http-errors';
import { UUID } from '../../common/text/uuid';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { UUID_EXAMPLE } from '../../http/docs/documented-types';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../projects/audit-log.repository';
import { ProjectsService } from '../../projects/projects.service';
import { CurrentStaff } from '../../staff/http/current-staff.decorator';
import { isOperator, personOf, projectRoleOf, type Staff } from '../../staff/roles/staff';
import { savedQueryExists, savedQueryNotFound, tooManySavedQueries } from '../admin.errors';
import { SavedQuery, SaveQueryDto, UpdateQueryDto } from '../queries/saved-query-records';
import { MAX_SAVED, SavedQueryRepository } from '../queries/saved-query.repository';
import { AdminApi, PROJECT_ERRORS, ProjectParam } from './admin-api.decorator';
import { CurrentActor } from './current-actor.decorator';

const QueryParam = (): MethodDecorator =>
  ApiParam({ name: 'query_id', type: String, description: 'The id of the query', example: UUID_EXAMPLE });

const idOf = (staff: Staff): string | null => personOf(staff)?.id ?? null;

@AdminApi()
@Controller('admin/v1/projects/:id/queries')
export class SavedQueriesController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly queries: SavedQueryRepository,
    private readonly clock: Clock,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listSavedQueries',
    summary: 'List the saved queries of the sender, and the shared ones of the project',
    description: 'By name, at most 2000.',
  })
  @ProjectParam()
  @Answer(200, 'The queries', [SavedQuery])
  @PlatformErrors(PROJECT_ERRORS)
  async list(@Param('id') projectId: string, @CurrentStaff() staff: Staff): Promise<SavedQuery[]> {
    await this.projects.get(projectId);
    return this.queries.list({ projectId, personId: idOf(staff) });
  }

  @Post()
  @ApiOperation({
    operationId: 'saveQuery',
    summary: 'Save SQL under a name',
    description: `At most ${MAX_SAVED} for each person in a project.`,
  })
  @ProjectParam()
  @JsonBody(SaveQueryDto)
  @Answer(201, 'The saved query', SavedQuery)
  @PlatformErrors(
    invalidParameters('name must be longer than or equal to 1 characters'),
    savedQueryExists('Signups of the week'),
    tooManySavedQueries(MAX_SAVED),
    JSON_BODY_ERRORS,
    PROJECT_ERRORS,
  )
  async create(
    @Param('id') projectId: string,
    @StrictBody() { name, sql, shared }: SaveQueryDto,
    @CurrentStaff() staff: Staff,
    @CurrentActor() actor: Actor,
  ): Promise<SavedQuery> {
    await this.projects.get(projectId);
    const owner = { projectId, personId: idOf(staff), actor };
    return this.queries.insert(owner, { name, sql, shared: shared ?? false }, this.now());
  }

  @Patch(':query_id')
  @ApiOperation({
    operationId: 'updateSavedQuery',
    summary: 'Change a saved query',
    description: 'Members that are left out stay as they are. Only its author may change it.',
  })
  @ProjectParam()
  @QueryParam()
  @JsonBody(UpdateQueryDto)
  @Answer(200, 'The changed query', SavedQuery)
  @PlatformErrors(
    invalidParameters('name must be longer than or equal to 1 characters'),
    savedQueryExists('Signups of the week'),
    savedQueryNotFound(),
    JSON_BODY_ERRORS,
    PROJECT_ERRORS,
  )
  async update(
    @Param('id') projectId: string,
    @Param('query_id') id: string,
    @StrictBody() body: UpdateQueryDto,
    @CurrentStaff() staff: Staff,
    @CurrentActor() actor: Actor,
  ): Promise<SavedQuery> {
    await this.projects.get(projectId);
    if (!UUID.test(id)) throw savedQueryNotFound();
    const owner = { projectId, personId: idOf(staff), actor };
    const changed = await this.queries.update(owner, id, body, this.now());
    if (!changed) throw savedQueryNotFound();
    return changed;
  }

  @Delete(':query_id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteSavedQuery',
    summary: 'Delete a saved query',
    description: 'Its author may, and for a shared one the administrators of the project.',
  })
  @ProjectParam()
  @QueryParam()
  @ApiResponse({ status: 204, description: 'It is deleted' })
  @PlatformErrors(savedQueryNotFound(), PROJECT_ERRORS)
  async remove(
    @Param('id') projectId: string,
    @Param('query_id') id: string,
    @CurrentStaff() staff: Staff,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.projects.get(projectId);
    const mayAny = isOperator(staff) || projectRoleOf(staff, projectId) === 'admin';
    const owner = { projectId, personId: idOf(staff), actor };
    if (!UUID.test(id) || !(await this.queries.remove(owner, id, mayAny))) throw savedQueryNotFound();
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}
