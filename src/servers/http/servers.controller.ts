/** Platform administration: PostgreSQL servers for projects' databases (docs/scaling.md). */
import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { invalidParameters } from '../../common/errors/http-errors';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { platformServerFixed, serverExists, serverInUse, serverNotFound } from '../server.errors';
import { ServersService, type ServerState } from '../servers.service';
import { RemovedServer, ServerRecord } from './dto/server-responses';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { STAFF_ERRORS, StaffApi } from '../../staff/http/staff-api.decorator';
import { AddServerDto, UpdateServerDto } from './dto/servers.dto';

const DEFAULT_CAPACITY = 1_000;

const ServerParam = (): MethodDecorator =>
  ApiParam({ name: 'name', description: 'Name of the server', example: 'db2' });

@StaffApi()
@Controller('admin/v1/servers')
export class ServersController {
  constructor(private readonly servers: ServersService) {}

  @Get()
  @ApiOperation({
    operationId: 'listServers',
    summary: "List the PostgreSQL servers for projects' databases",
    description: 'Each server is contacted, with a timeout of three seconds.',
  })
  @Answer(200, 'The servers, beginning with that of the platform database', [ServerRecord])
  @PlatformErrors(STAFF_ERRORS)
  async list(): Promise<ServerRecord[]> {
    return (await this.servers.list()).map(toRecord);
  }

  @Post()
  @ApiOperation({
    operationId: 'addServer',
    summary: 'Add a PostgreSQL server',
    description:
      'The server is checked and prepared. New projects go to the open server with the largest share of free places.',
  })
  @JsonBody(AddServerDto)
  @Answer(201, 'The server', ServerRecord)
  @PlatformErrors(
    invalidParameters('url must begin with postgres://'),
    serverExists('db2'),
    JSON_BODY_ERRORS,
    STAFF_ERRORS,
  )
  async add(
    @StrictBody() { name, url, capacity = DEFAULT_CAPACITY, replicas = [], pooler = null }: AddServerDto,
    @CurrentActor() actor: Actor,
  ): Promise<ServerRecord> {
    return toRecord(await this.servers.add({ name, url, capacity, replicas, pooler }, actor));
  }

  @Patch(':name')
  @ApiOperation({
    operationId: 'updateServer',
    summary: 'Drain or reopen a server, change its capacity, its replicas, its pooler or its URL',
    description:
      'A draining server keeps its projects and gets no new ones. A new URL must point to the same server, with other credentials or another address.',
  })
  @ServerParam()
  @JsonBody(UpdateServerDto)
  @Answer(200, 'The updated server', ServerRecord)
  @PlatformErrors(
    invalidParameters('url must begin with postgres://'),
    serverNotFound(),
    platformServerFixed(),
    JSON_BODY_ERRORS,
    STAFF_ERRORS,
  )
  async update(
    @Param('name') name: string,
    @StrictBody() { status, capacity, url, replicas, pooler }: UpdateServerDto,
    @CurrentActor() actor: Actor,
  ): Promise<ServerRecord> {
    return toRecord(await this.servers.update(name, { status, capacity, url, replicas, pooler }, actor));
  }

  @Delete(':name')
  @ApiOperation({
    operationId: 'removeServer',
    summary: 'Remove a server without projects',
    description:
      'Nothing is changed on the server itself: the roles and the template that Plinth created stay.',
  })
  @ServerParam()
  @Answer(200, 'The server is removed', RemovedServer)
  @PlatformErrors(serverNotFound(), serverInUse(3), STAFF_ERRORS)
  async remove(@Param('name') name: string, @CurrentActor() actor: Actor): Promise<RemovedServer> {
    await this.servers.remove(name, actor);
    return { name, removed: true };
  }
}

function toRecord({ createdAt, fault, ...state }: ServerState): ServerRecord {
  const replicas = state.replicas.map((replica) => ({ ...replica, reachable: replica.fault === null }));
  return { ...state, replicas, reachable: fault === null, fault, created_at: createdAt };
}
