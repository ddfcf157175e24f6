/** Platform administration: moves a project to another PostgreSQL server (docs/scaling.md). */
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { invalidParameters } from '../../common/errors/http-errors';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { alreadyThere, noMove } from '../move.errors';
import type { MoveRow } from '../move.repository';
import { ProjectMover } from '../project-mover.service';
import { Actor } from '../../install/audit/audit-log.repository';
import { projectBusy } from '../../projects/projects.errors';
import { serverNotFound, serverUnusable } from '../../servers/server.errors';
import { MoveRecord } from './dto/move-responses';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { PROJECT_ERRORS, ProjectIdParam, StaffApi } from '../../staff/http/staff-api.decorator';
import { MoveProjectDto } from './dto/moves.dto';

@StaffApi()
@Controller('admin/v1/projects/:id/move')
export class ProjectMovesController {
  constructor(private readonly mover: ProjectMover) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({
    operationId: 'moveProject',
    summary: "Move a project's database to another server",
    description:
      'Reads go on while rows are copied; writes get 503 with Retry-After. The request returns when the move has begun. If it fails, or the process ends, the project stays where it was.',
  })
  @ProjectIdParam()
  @JsonBody(MoveProjectDto)
  @Answer(202, 'The move has begun', MoveRecord)
  @PlatformErrors(
    invalidParameters('server must be a string'),
    serverUnusable(new Error('connect ECONNREFUSED')),
    alreadyThere('db2'),
    projectBusy(),
    serverNotFound(),
    PROJECT_ERRORS,
    JSON_BODY_ERRORS,
  )
  async start(
    @Param('id') id: string,
    @StrictBody() { server, read_only_window: readOnlyWindow = false, keep = false }: MoveProjectDto,
    @CurrentActor() actor: Actor,
  ): Promise<MoveRecord> {
    return toRecord(await this.mover.start(id, { server, readOnlyWindow, keep }, actor));
  }

  @Get()
  @ApiOperation({
    operationId: 'getProjectMove',
    summary: 'Get the progress or the outcome of the last move of a project',
  })
  @ProjectIdParam()
  @Answer(200, 'The last move', MoveRecord)
  @PlatformErrors(noMove(), PROJECT_ERRORS)
  async get(@Param('id') id: string): Promise<MoveRecord> {
    return toRecord(await this.mover.get(id));
  }
}

function toRecord(move: MoveRow): MoveRecord {
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
