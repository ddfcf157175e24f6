/** Platform administration: moves a project to another PostgreSQL server (docs/reference/scaling.md). */
import { Controller, Get, Param, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/http-errors';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { alreadyThere, noMove } from '../move.errors';
import type { MoveRow } from '../move.repository';
import { ProjectMover } from '../project-mover.service';
import { Actor } from '../../install/audit/audit-log.repository';
import { projectBusy } from '../../projects/projects.errors';
import { serverNotFound, serverUnusable } from '../../servers/server.errors';
import { MoveResponse } from './dto/move-responses';
import { StaffApi } from '../../staff/http/staff-api.decorator';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { MoveProjectDto } from './dto/moves.dto';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

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
  return {
    from: move.sourceServer,
    to: move.targetServer,
    status: move.status,
    step: move.step,
    bytes_copied: move.bytesCopied,
    bytes_total: move.bytesTotal,
    writes_refused_ms: move.writesRefusedMs,
    old_database_kept: move.keep,
    error: move.error,
    started_at: move.startedAt,
    finished_at: move.finishedAt,
  };
}
