/** Platform administration: SQL that staff saved under a name. It is stored, and never run from here. */
import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { invalidParameters } from '../../common/errors/app-error';
import { UUID } from '../../common/text/uuid';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { ProjectsService } from '../../projects/projects.service';
import { isOperator, projectRoleOf, type StaffCaller } from '../../staff/roles/staff';
import { savedQueryExists, savedQueryNotFound, tooManySavedQueries } from '../sql.errors';
import { MAX_SAVED, SavedQueryRepository } from '../queries/saved-query.repository';
import { StaffApi, CurrentStaff, CurrentActor } from '../../staff/http/staff-api.decorator';
import { Answer, Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';
import * as f from '../../http/model/fields';

/** Maximum characters of a name. */
const NAME_LENGTH = 100;
const SQL_LENGTH = 100_000;

const NAME = { example: 'Signups of the week', minLength: 1, maxLength: NAME_LENGTH } as const;
const SQL = { example: 'select count(*) from auth.users', minLength: 1, maxLength: SQL_LENGTH } as const;
const SHARED = {
  description: 'Whether all staff who can run SQL in the project see it; otherwise only its author does',
} as const;

@f.Example({ name: NAME.example, sql: SQL.example, shared: true })
class SaveQueryDto extends f.model({
  name: f.text('Unique among the queries of the author in the project', {
    min: 1,
    max: NAME_LENGTH,
    ...NAME,
  }),
  sql: f.text({ min: 1, max: SQL_LENGTH, ...SQL }),
  shared: f.optional.flag(SHARED),
}) {}

class UpdateQueryDto extends f.model({
  name: f.optional.text({ min: 1, max: NAME_LENGTH, ...NAME }),
  sql: f.optional.text({ min: 1, max: SQL_LENGTH, ...SQL }),
  shared: f.optional.flag({ ...SHARED, example: false }),
}) {}

class SavedQuery extends f.model({
  id: f.uuid(),
  name: f.text({ example: NAME.example }),
  sql: f.text({ example: SQL.example }),
  shared: f.flag(SHARED),
  mine: f.flag('True if the sender saved it, and may change it', { example: false }),
  author: f.nullable.text('Name of the staff member; null: saved with PLATFORM_ADMIN_KEY', {
    example: 'Ada Lovelace',
  }),
  created_at: f.time(),
  updated_at: f.time(),
}) {}

const idOf = (staff: StaffCaller): string | null => staff.member?.id ?? null;

@StaffApi()
@PathErrors({ ':query_id': savedQueryNotFound() })
@Controller('admin/v1/projects/:id/queries')
export class SavedQueriesController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly queries: SavedQueryRepository,
    private readonly clock: Clock,
  ) {}

  @Get()
  @Describe(`List the saved queries of the sender, and the shared ones of the project
    By name, at most 2000.`)
  @Answer(200, 'The queries', [SavedQuery])
  async listSavedQueries(
    @Param('id') projectId: string,
    @CurrentStaff() staff: StaffCaller,
  ): Promise<SavedQuery[]> {
    await this.projects.get(projectId);
    return this.queries.list({ projectId, memberId: idOf(staff) });
  }

  @Post()
  @Describe(`Save SQL under a name
    At most ${MAX_SAVED} for each staff member in a project.`)
  @Answer(201, 'The saved query', SavedQuery)
  @Errors(invalidParameters('name must be longer than or equal to 1 characters'))
  @Errors(savedQueryExists('Signups of the week'), tooManySavedQueries(MAX_SAVED))
  async saveQuery(
    @Param('id') projectId: string,
    @StrictBody() { name, sql, shared }: SaveQueryDto,
    @CurrentStaff() staff: StaffCaller,
    @CurrentActor() actor: Actor,
  ): Promise<SavedQuery> {
    await this.projects.get(projectId);
    const owner = { projectId, memberId: idOf(staff), actor };
    return this.queries.insert(owner, { name, sql, shared: shared ?? false }, this.clock.date());
  }

  @Patch(':query_id')
  @Describe(`Change a saved query
    Members that are left out stay as they are. Only its author may change it.`)
  @Answer(200, 'The changed query', SavedQuery)
  @Errors(invalidParameters('name must be longer than or equal to 1 characters'))
  @Errors(savedQueryExists('Signups of the week'))
  async updateSavedQuery(
    @Param('id') projectId: string,
    @Param('query_id') id: string,
    @StrictBody() body: UpdateQueryDto,
    @CurrentStaff() staff: StaffCaller,
    @CurrentActor() actor: Actor,
  ): Promise<SavedQuery> {
    await this.projects.get(projectId);
    if (!UUID.test(id)) throw savedQueryNotFound();
    const owner = { projectId, memberId: idOf(staff), actor };
    const changed = await this.queries.updateQuery(owner, id, body, this.clock.date());
    if (!changed) throw savedQueryNotFound();
    return changed;
  }

  @Delete(':query_id')
  @Describe(`Delete a saved query
    Its author may, and for a shared one the administrators of the project.`)
  @Answer(204, 'It is deleted')
  async deleteSavedQuery(
    @Param('id') projectId: string,
    @Param('query_id') id: string,
    @CurrentStaff() staff: StaffCaller,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.projects.get(projectId);
    const mayAny = isOperator(staff) || projectRoleOf(staff, projectId) === 'admin';
    const owner = { projectId, memberId: idOf(staff), actor };
    if (!UUID.test(id) || !(await this.queries.remove(owner, id, mayAny))) throw savedQueryNotFound();
  }
}
