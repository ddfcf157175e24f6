/** Platform administration: the tables of a project whose changes are published. */
import { Controller, Get, Param, Patch } from '@nestjs/common';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { type Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectsService } from '../../projects/projects.service';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { allTablesLive, needsIdentity, tableUnknown } from '../changes.errors';
import { LiveTables } from '../live-tables.service';
import * as f from '../../http/model/fields';

/** Bytes of a name in PostgreSQL. */
const NAME_LENGTH = 63;
const SCHEMA = { example: 'public', minLength: 1, maxLength: NAME_LENGTH } as const;
const TABLE = { example: 'orders', minLength: 1, maxLength: NAME_LENGTH } as const;
const LIVE = { description: 'Whether clients that may read its rows can follow their changes' } as const;

@f.Example({ schema: SCHEMA.example, table: TABLE.example, live: true })
class ChangeLiveTableDto extends f.model({
  schema: f.text({ min: 1, max: NAME_LENGTH, ...SCHEMA }),
  table: f.text({ min: 1, max: NAME_LENGTH, ...TABLE }),
  live: f.flag(LIVE),
}) {}

@f.Example({ schema: SCHEMA.example, table: TABLE.example, live: true, can_be_live: true })
class LiveTable extends f.model({
  schema: f.text(),
  table: f.text(),
  live: f.flag(LIVE),
  can_be_live: f.flag('False without a primary key or another replica identity'),
}) {}

@StaffApi()
@Controller('admin/v1/projects/:id/live-tables')
export class LiveTablesController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly tables: LiveTables,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get()
  @Describe(`List the tables of a project, and whether their changes are published
    By name, at most 2000. A table is live if it is in the publication supabase_realtime.`)
  @Answer(200, 'The tables', [LiveTable])
  async listLiveTables(@Param('id') id: string): Promise<LiveTable[]> {
    return this.tables.list(await this.projects.get(id));
  }

  @Patch()
  @Describe(`Switch the changes of a table on or off
    Adds the table to the publication supabase_realtime, which is created if it is missing, or removes it. Subscriptions that are open follow at once.`)
  @Answer(200, 'The table', LiveTable)
  @Errors(tableUnknown('public', 'orders'), needsIdentity('public', 'orders'), allTablesLive())
  async updateLiveTable(
    @Param('id') projectId: string,
    @StrictBody() { schema, table, live }: ChangeLiveTableDto,
    @CurrentActor() actor: Actor,
  ): Promise<LiveTable> {
    const changed = await this.tables.change(await this.projects.get(projectId), { schema, table, live });
    await this.audit.write({
      action: 'project.live_tables.update',
      actor,
      projectId,
      details: { schema, table, live },
    });
    return changed;
  }
}
