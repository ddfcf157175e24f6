/** Platform administration: the requests of a project, live and as samples. */
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Server } from 'node:http';
import { Clock } from '../../common/time/clock';
import { TEXT, NOT_STORED } from '../../http/docs/documented-headers';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { HistoryRepository } from '../../install/history/history.repository';
import { ListHistoryQuery, ProjectHistoryEntry } from './dto/project-history';
import { LiveRequests, MAX_LISTENERS } from '../live/live-requests.service';
import { percentileOf } from '../samples/duration-histogram';
import { SampleRepository, SampleRow, STEPS } from '../samples/sample.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { StaffRecheck } from '../../staff/http/staff-recheck.service';
import type { StaffCaller } from '../../staff/roles/staff';
import { ProjectSamples, RANGES } from './dto/request-responses';
import { StaffApi, CurrentStaff } from '../../staff/http/staff-api.decorator';
import { EventStream } from './event-stream';
import { Answer, Describe, Errors, StreamAnswer } from '../../http/docs/operation.decorators';
import * as f from '../../http/model/fields';
import { AppError, invalidParameters } from '../../common/errors/app-error';

/** @param of who has reached the limit; the limit of the process affects everybody */
const tooManyListeners = (of: 'person' | 'project' | 'process'): AppError =>
  new AppError(
    of === 'process' ? 503 : 429,
    of === 'process' ? 'service_unavailable' : 'rate_limited',
    `This ${of} has as many listeners for live requests as it may have`,
    { headers: { 'Retry-After': '10' } },
  );

class ListSamplesQuery extends f.model({
  range: f.optional.choice(RANGES, 'Default: hour'),
}) {}

const HEADERS = {
  ...NOT_STORED,
  'X-Accel-Buffering': { description: '`no`: nginx passes events on at once', schema: TEXT },
};

const DEFAULT_LIMIT = 100;
const PAGE_HEADERS = {
  'X-Next-Cursor': {
    description: 'Value of `before` for the next page; absent on the last page',
    schema: TEXT,
  },
};

const EVENTS = `event: request
data: {"at":"2026-01-01T08:00:00.000Z","method":"GET","path":"/rest/v1/notes?select=***","status":200,"role":"anon","ms":1.9,"ms_database":0.8,"bytes":512}

event: dropped
data: {"count":12}

`;

@StaffApi()
@Controller('admin/v1/projects/:id')
export class ProjectRequestsController {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly live: LiveRequests,
    private readonly samples: SampleRepository,
    private readonly history: HistoryRepository,
    private readonly clock: Clock,
    private readonly host: HttpAdapterHost<AbstractHttpAdapter<Server>>,
    private readonly recheck: StaffRecheck,
  ) {}

  @Get('requests')
  @Describe(`Watch the requests of a project as server-sent events
    Streams the requests of all processes of the install as they finish: event \`request\` with \`at\`, \`method\`, \`path\`, \`status\`, \`role\`, \`ms\`, \`ms_database\` and \`bytes\`. Values of query strings, and parts of paths that could be tokens, are \`***\`. Event \`dropped\` has the \`count\` of requests that were left out because there were too many. \`ms_database\` is the time spent holding, or waiting for, a database connection; null for a request that began before the stream. A person may have ${MAX_LISTENERS.person} streams in each process, a project ${MAX_LISTENERS.project}. A stream ends after 15 minutes (reconnect then), and within seconds after the session or token ends or the role is removed.`)
  @StreamAnswer(
    'Events, until the client or the server ends the stream',
    { 'text/event-stream': EVENTS },
    HEADERS,
  )
  @Errors(tooManyListeners('process'), tooManyListeners('person'))
  async watchProjectRequests(
    @Param('id') id: string,
    @CurrentStaff() staff: StaffCaller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.registry.get(id);
    const person = staff.member?.id ?? 'platform-admin-key';
    const limit = this.live.limitFor(id, person);
    if (limit !== null) throw tooManyListeners(limit);
    if (request.method === 'HEAD') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end();
      return;
    }
    const server = this.host.httpAdapter.getHttpServer();
    const stream = new EventStream(
      request,
      response,
      () => server.listening,
      () => this.recheck.isStillAllowed(request),
      () => leave(),
    );
    const leave = this.live.listen(id, person, ({ requests, dropped }) => {
      for (const one of requests) stream.send('request', one);
      stream.skip(dropped);
    });
  }

  @Get('history')
  @Describe(`Search the requests, mails and webhook deliveries of a project, newest first
    Kept for HISTORY_DAYS, and at most 64 MiB of each project. Values of query strings, and parts of paths that could be tokens, are \`***\`; statements have parameters in place of values. Of each second a process keeps at most 50 requests that failed or took longer than a second, and 20 others: \`left_out\` counts those that were left out before an entry. Entries appear within two seconds.`)
  @Answer(200, 'A page of entries', [ProjectHistoryEntry], PAGE_HEADERS)
  @Errors(invalidParameters('before must be the id of an entry'))
  async listProjectHistory(
    @Param('id') id: string,
    @StrictQuery() { limit = DEFAULT_LIMIT, ...filter }: ListHistoryQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ProjectHistoryEntry[]> {
    await this.registry.get(id);
    const entries = await this.history.list(id, filter, limit + 1);
    const page = entries.slice(0, limit);
    const last = page.at(-1);
    if (entries.length > page.length && last) response.setHeader('X-Next-Cursor', last.id);
    return page;
  }

  @Get('samples')
  @Describe(`Get samples for charts: requests, errors, durations, bytes and the size of the database
    Each process writes its samples once a minute, so the newest minute is missing. The last hour has a sample for each minute, the last day one for every ten minutes. Durations are estimated from histogram buckets and differ from the exact values by less than 42 %.`)
  @Answer(200, 'The samples', ProjectSamples)
  @Errors(invalidParameters('range must be one of the following values: hour, day'))
  async listProjectSamples(
    @Param('id') id: string,
    @StrictQuery() { range = 'hour' }: ListSamplesQuery,
  ): Promise<ProjectSamples> {
    await this.registry.get(id);
    const rows = await this.samples.list(id, range, this.clock.date());
    return { range, step_seconds: STEPS[range], samples: rows.map(toSample) };
  }
}

function toSample({ at, durations, ...row }: SampleRow): ProjectSamples['samples'][number] {
  return {
    at: at.toISOString(),
    requests: row.requests,
    refused: row.refused,
    errors: row.errors,
    p50_ms: percentileOf(durations, 0.5),
    p99_ms: percentileOf(durations, 0.99),
    bytes: row.bytes,
    database_bytes: row.database_bytes,
  };
}
