/** Platform administration: PostgreSQL servers for projects' databases (docs/reference/scaling.md). */
import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { platformServerFixed, serverExists, serverInUse, serverNotFound } from '../server.errors';
import { ServersService, type ServerState } from '../servers.service';
import { RemovedServer, DatabaseServerResponse } from './dto/server-responses';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { AddServerDto, UpdateServerDto } from './dto/servers.dto';
import { Answer, Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';

const DEFAULT_CAPACITY = 1_000;

@StaffApi()
@PathErrors({ ':name': serverNotFound() })
@Controller('admin/v1/servers')
export class ServersController {
  constructor(private readonly servers: ServersService) {}

  @Get()
  @Describe(`List the PostgreSQL servers for projects' databases
    Each server is contacted, with a timeout of three seconds.`)
  @Answer(200, 'The servers, beginning with that of the platform database', [DatabaseServerResponse])
  async listServers(): Promise<DatabaseServerResponse[]> {
    return (await this.servers.list()).map(toRecord);
  }

  @Post()
  @Describe(`Add a PostgreSQL server
    The server is checked and prepared. New projects go to the open server with the largest share of free places.`)
  @Answer(201, 'The server', DatabaseServerResponse)
  @Errors(invalidParameters('url must begin with postgres://'), serverExists('db2'))
  async addServer(
    @StrictBody() { name, url, capacity = DEFAULT_CAPACITY, replicas = [], pooler = null }: AddServerDto,
    @CurrentActor() actor: Actor,
  ): Promise<DatabaseServerResponse> {
    return toRecord(await this.servers.add({ name, url, capacity, replicas, pooler }, actor));
  }

  @Patch(':name')
  @Describe(`Drain or reopen a server, change its capacity, its replicas, its pooler or its URL
    A draining server keeps its projects and gets no new ones. A new URL must point to the same server, with other credentials or another address.`)
  @Answer(200, 'The updated server', DatabaseServerResponse)
  @Errors(invalidParameters('url must begin with postgres://'), platformServerFixed())
  async updateServer(
    @Param('name') name: string,
    @StrictBody() { status, capacity, url, replicas, pooler }: UpdateServerDto,
    @CurrentActor() actor: Actor,
  ): Promise<DatabaseServerResponse> {
    return toRecord(
      await this.servers.updateServer(name, { status, capacity, url, replicas, pooler }, actor),
    );
  }

  @Delete(':name')
  @Describe(`Remove a server without projects
    Nothing is changed on the server itself: the roles and the template that Plinth created stay.`)
  @Answer(200, 'The server is removed', RemovedServer)
  @Errors(serverInUse(3))
  async removeServer(@Param('name') name: string, @CurrentActor() actor: Actor): Promise<RemovedServer> {
    await this.servers.remove(name, actor);
    return { name, removed: true };
  }
}

function toRecord({
  createdAt,
  fault,
  certificateEnd: _ofMetrics,
  ...state
}: ServerState): DatabaseServerResponse {
  const replicas = state.replicas.map(({ host, port, fault: reason }) => ({
    host,
    port,
    reachable: reason === null,
    fault: reason,
  }));
  return { ...state, replicas, reachable: fault === null, fault, created_at: createdAt };
}
