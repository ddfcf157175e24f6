/** Platform administration: the schedules of a project. */
import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { Answer, Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';
import { answerOf } from '../../http/model/fields';
import { StrictBody, StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { MAX_SCHEDULES } from '../schedules/schedule';
import { SchedulesService } from '../schedules/schedules.service';
import { needsHttpPost, scheduleExists, scheduleNotFound, tooManySchedules } from '../webhooks.errors';
import {
  changesOf,
  CreateScheduleDto,
  ListRunsQuery,
  ScheduleResponse,
  ScheduleRunResponse,
  UpdateScheduleDto,
} from './schedules.dto';

const DEFAULT_LIMIT = 50;
const MALFORMED = invalidParameters('a schedule has either sql or url');

@StaffApi()
@PathErrors({ ':schedule_id': scheduleNotFound() })
@Controller('admin/v1/projects/:id/schedules')
export class SchedulesController {
  constructor(private readonly schedules: SchedulesService) {}

  @Get()
  @Describe(`List the schedules of a project
    By name, at most ${MAX_SCHEDULES}.`)
  @Answer(200, 'The schedules', [ScheduleResponse])
  async listSchedules(@Param('id') projectId: string): Promise<ScheduleResponse[]> {
    return (await this.schedules.list(projectId)).map((schedule) => answerOf(ScheduleResponse, schedule));
  }

  @Post()
  @Describe(`Create a schedule
    Runs SQL as the owner, or sends a request, at the times of a cron expression: once, whatever the number of processes. Of the times that pass while Plinth is stopped, the last one is made up for.`)
  @Answer(201, 'The schedule', ScheduleResponse)
  @Errors(MALFORMED, scheduleExists('purge-carts'), tooManySchedules(MAX_SCHEDULES), needsHttpPost())
  async createSchedule(
    @Param('id') projectId: string,
    @StrictBody() body: CreateScheduleDto,
    @CurrentActor() actor: Actor,
  ): Promise<ScheduleResponse> {
    const content = {
      name: body.name,
      cron: body.cron,
      timeZone: body.time_zone ?? 'UTC',
      sql: body.sql ?? null,
      url: body.url ?? null,
      body: body.body ?? null,
      enabled: body.enabled ?? true,
    };
    return answerOf(ScheduleResponse, await this.schedules.create(projectId, content, actor));
  }

  @Patch(':schedule_id')
  @Describe(`Change a schedule
    Members that are left out stay as they are.`)
  @Answer(200, 'The changed schedule', ScheduleResponse)
  @Errors(MALFORMED, scheduleExists('purge-carts'), needsHttpPost())
  async updateSchedule(
    @Param('id') projectId: string,
    @Param('schedule_id') id: string,
    @StrictBody() body: UpdateScheduleDto,
    @CurrentActor() actor: Actor,
  ): Promise<ScheduleResponse> {
    const schedule = await this.schedules.updateSchedule(projectId, id, changesOf(body), actor);
    return answerOf(ScheduleResponse, schedule);
  }

  @Delete(':schedule_id')
  @Describe(`Delete a schedule
    Its history is deleted as well. A run that has begun goes on.`)
  @Answer(204, 'It is deleted')
  async deleteSchedule(
    @Param('id') projectId: string,
    @Param('schedule_id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.schedules.remove(projectId, id, actor);
  }

  @Get(':schedule_id/runs')
  @Describe(`List the runs of a schedule
    The newest first. The last 200 are kept.`)
  @Answer(200, 'The runs', [ScheduleRunResponse])
  @Errors(invalidParameters('limit must not be greater than 200'))
  async listScheduleRuns(
    @Param('id') projectId: string,
    @Param('schedule_id') id: string,
    @StrictQuery() { limit }: ListRunsQuery,
  ): Promise<ScheduleRunResponse[]> {
    return this.schedules.listRuns(projectId, id, limit ?? DEFAULT_LIMIT);
  }
}
