/** Platform administration: moves a project to another PostgreSQL server (docs/reference/scaling.md). */
import { Controller, Get, Param, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { alreadyThere, noMove } from '../move.errors';
import type { MoveRow } from '../move.repository';
import { ProjectMover } from '../project-mover.service';
import { Actor } from '../../install/audit/audit-log.repository';
import { projectBusy } from '../../projects/projects.errors';
import { serverNotFound, serverUnusable } from '../../servers/server.errors';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';
import * as f from '../../http/model/fields';

const MOVE_STATUSES = ['running', 'undoing', 'switched', 'done', 'failed'] as const;

class MoveResponse extends f.model({
  from: f.nullable.text('Null: the project has its own server (`database_url`)', { example: 'platform' }),
  to: f.text({ example: 'db2' }),
  status: f.choice(
    MOVE_STATUSES,
    '`running`, `undoing`: the project is on the old server. `switched`: it is on the new one, and the old database is being dropped',
    { example: 'done' },
  ),
  step: f.text('The current step, as text to show', { example: 'done' }),
  bytes_copied: f.size("Bytes copied so far, in COPY's text format", { example: 1048576 }),
  bytes_total: f.size('Size of tables with their indexes before the move', { example: 2097152 }),
  writes_refused_ms: f.nullable.size('Milliseconds for which writes were refused', { example: 900 }),
  old_database_kept: f.flag({ example: false }),
  error: f.nullable.text('Why it failed; the project is where it was'),
  started_at: f.time(),
  finished_at: f.nullable.time(),
}) {}

class MoveProjectDto extends f.model({
  server: f.text('Name of a server, whatever its status and capacity', { example: 'db2' }),
  read_only_window: f.optional.flag(
    'Writes may be refused for as long as the copy takes, also for more than five seconds',
  ),
  keep: f.optional.flag('Keep the old database on its server; it accepts no connections'),
}) {}

@StaffApi()
@Controller('admin/v1/projects/:id/move')
export class ProjectMovesController {
  constructor(private readonly mover: ProjectMover) {}

  @Post()
  @Describe(`Move a project's database to another server
    Reads go on while rows are copied; writes get 503 with Retry-After. The request returns when the move has begun. If it fails, or the process ends, the project stays where it was.`)
  @Answer(202, 'The move has begun', MoveResponse)
  @Errors(invalidParameters('server must be a string'), serverUnusable(new Error('connect ECONNREFUSED')))
  @Errors(alreadyThere('db2'), projectBusy(), serverNotFound())
  async moveProject(
    @Param('id') id: string,
    @StrictBody() { server, read_only_window: readOnlyWindow = false, keep = false }: MoveProjectDto,
    @CurrentActor() actor: Actor,
  ): Promise<MoveResponse> {
    return toRecord(await this.mover.start(id, { server, readOnlyWindow, keep }, actor));
  }

  @Get()
  @Describe(`Get the progress or the outcome of the last move of a project`)
  @Answer(200, 'The last move', MoveResponse)
  @Errors(noMove())
  async getProjectMove(@Param('id') id: string): Promise<MoveResponse> {
    return toRecord(await this.mover.get(id));
  }
}

function toRecord(move: MoveRow): MoveResponse {
  const { sourceServer: from, targetServer: to, keep: oldDatabaseKept } = move;
  return f.answerOf(MoveResponse, { ...move, from, to, oldDatabaseKept });
}
