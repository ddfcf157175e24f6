/** The PostgreSQL servers for projects' databases: lists them, and chooses the server of a new project. */
import { TLSSocket } from 'node:tls';
import type { Client } from 'pg';
import { Inject, Injectable } from '@nestjs/common';
import { messageOf } from '../common/errors/error-facts';
import { type HostAddress, parseHost } from '../pg-pipeline';
import type { ServerReplicas } from '../database/replicas/replica-sets';
import { withConnection } from '../database/pools/one-off-connection';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { endOf } from '../infra/outbound/certificate';
import type { Actor, AuditEntry } from '../install/audit/audit-log.repository';
import { Secrets } from '../install/secrets.service';
import { DatabaseServer, MAINTENANCE_DATABASE } from '../provisioning/database-server';
import { TemplateDatabase } from '../provisioning/template-database';
import {
  noRoom,
  platformServerFixed,
  serverExists,
  serverInUse,
  serverNotFound,
  serverUnusable,
} from './server.errors';
import { ServerChange, ServerRepository, ServerRow } from './server.repository';

/** Milliseconds after which a server that does not answer counts as down. */
const PROBE_MS = 3_000;

/** A server as administrators see it, without its password. */
export interface ServerState {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly status: ServerRow['status'];
  readonly capacity: number;
  readonly projects: number;
  readonly createdAt: Date;
  /** Null if the server answers, else the reason. */
  readonly fault: string | null;
  readonly replicas: readonly ReplicaState[];
  readonly pooler: string | null;
  /** Seconds since 1970; null without TLS, or if the server does not answer. */
  readonly certificateEnd: number | null;
}

export interface ReplicaState extends HostAddress {
  /** Null if the replica answers and is a standby, else the reason why it does not serve reads. */
  readonly fault: string | null;
  /** Bytes of the primary's log that the replica has not replayed; null if the replica or the primary does not answer. */
  readonly lagBytes: number | null;
}

export interface ServerAddresses {
  readonly name: string;
  readonly server: DatabaseServer;
  readonly replicas: readonly HostAddress[];
  readonly pooler: HostAddress | null;
}

/** The server on which the database of a new project is created. */
export interface Placement {
  readonly server: string;
  /** Null for the server of the platform database. */
  readonly url: string | null;
}

/**
 * The fields of a server that the archive of an install keeps. Replicas are left out, since a restored
 * install may not reach them.
 */
export interface ServerPlace {
  readonly name: string;
  readonly url: string;
  readonly capacity: number;
}

export interface NewServer extends ServerPlace {
  readonly replicas: readonly string[];
  readonly pooler: string | null;
}

@Injectable()
export class ServersService {
  /** Called after each change of the list. */
  onChange: () => Promise<void> = () => Promise.resolve();

  constructor(
    private readonly servers: ServerRepository,
    private readonly secrets: Secrets,
    private readonly template: TemplateDatabase,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  /** Asks all servers concurrently whether they answer. */
  async list(): Promise<ServerState[]> {
    return Promise.all((await this.servers.list()).map((row) => this.stateOf(row)));
  }

  /** The servers, except the server of the platform database. */
  async listOthers(): Promise<DatabaseServer[]> {
    const rows = (await this.servers.list()).filter(({ url }) => url !== null);
    return rows.map((row) => new DatabaseServer(this.urlOf(row)));
  }

  /** Addresses of every server, its replicas and its pooler. */
  async listPlaces(): Promise<ServerAddresses[]> {
    return (await this.servers.list()).map((row) => ({
      name: row.name,
      server: new DatabaseServer(this.urlOf(row)),
      replicas: addressesOf(row.replicas),
      pooler: row.pooler === null ? null : parseHost(row.pooler),
    }));
  }

  /** All servers, except the server of the platform database, with their passwords, for a backup. */
  async listForBackup(): Promise<ServerPlace[]> {
    const rows = (await this.servers.list()).filter(({ url }) => url !== null);
    return rows.map((row) => ({ name: row.name, url: this.urlOf(row), capacity: row.capacity }));
  }

  /**
   * Adds the servers of a restored install whose names are free. They get no new projects: the install that was backed up
   * may still use them, or they may be lost.
   * @returns how many were added
   */
  async addFromBackup(servers: readonly ServerPlace[], actor: Actor): Promise<number> {
    let added = 0;
    for (const { name, url, capacity } of servers) {
      const { host, port } = new DatabaseServer(url);
      const entry = entryOf('server.add', actor, { name, host, port, capacity });
      const row = {
        name,
        url: this.seal(name, url),
        capacity,
        status: 'draining',
        replicas: [],
        pooler: null,
      } as const;
      if (await this.servers.insert(row, entry)) added += 1;
    }
    return added;
  }

  /** The replicas of the servers that have any, and the addresses of poolers by server name. */
  async listAddresses(): Promise<{ replicas: ServerReplicas[]; poolers: Map<string, HostAddress> }> {
    const rows = await this.servers.list();
    const poolers = new Map<string, HostAddress>();
    for (const { name, pooler } of rows) {
      const address = pooler === null ? null : parseHost(pooler);
      if (address) poolers.set(name, address);
    }
    const replicated = rows.filter(({ replicas }) => replicas.length > 0);
    return { replicas: replicated.map((row) => this.replicasOf(row)), poolers };
  }

  private replicasOf(row: ServerRow): ServerReplicas {
    const { name, replicas } = row;
    const url = this.urlOf(row);
    return {
      server: name,
      version: JSON.stringify([url, replicas]),
      primary: new DatabaseServer(url).addressedConfig(MAINTENANCE_DATABASE),
      replicas: addressesOf(replicas),
    };
  }

  /** Prepares the server for projects. @throws AppError 400 if it cannot be used, 409 if the name is taken */
  async add({ name, url, ...rest }: NewServer, actor: Actor): Promise<ServerState> {
    if (await this.servers.find(name)) throw serverExists(name);
    await this.assertUsable(url);
    const { host, port } = new DatabaseServer(url);
    const entry = entryOf('server.add', actor, { name, host, port, capacity: rest.capacity });
    const row = { name, url: this.seal(name, url), ...rest, status: 'open' } as const;
    if (!(await this.servers.insert(row, entry))) throw serverExists(name);
    await this.onChange();
    return this.get(name);
  }

  /** @throws AppError 404 for an unknown server, 400 for a URL that cannot be used, 409 for the URL of the platform's server */
  async updateServer(
    name: string,
    change: ServerChange & { url?: string },
    actor: Actor,
  ): Promise<ServerState> {
    const row = await this.row(name);
    const { url, ...rest } = change;
    if (url !== undefined) {
      if (row.url === null) throw platformServerFixed();
      await this.assertUsable(url);
      const { host, port } = new DatabaseServer(url);
      const sealFor = (projectId: string): Buffer => this.secrets.seal('server-url', projectId, url);
      const entry = entryOf('server.update', actor, { name, host, port });
      await this.servers.setUrl(name, this.seal(name, url), sealFor, entry);
    }
    if (Object.values(rest).some((value) => value !== undefined)) {
      const details = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, String(value)]));
      await this.servers.updateServer(name, rest, entryOf('server.update', actor, { name, ...details }));
    }
    await this.onChange();
    return this.get(name);
  }

  /** @throws AppError 404 for an unknown server, 409 for a server with projects and for the platform's server */
  async remove(name: string, actor: Actor): Promise<void> {
    const { url, projects } = await this.row(name);
    if (url === null) throw platformServerFixed();
    if (!(await this.servers.remove(name, entryOf('server.remove', actor, { name }))))
      throw serverInUse(Math.max(1, projects));
    await this.onChange();
  }

  /**
   * Chooses the server of a new project. Its row is checked again when the project is inserted.
   * @param name a particular server, whatever its status and capacity; default: the open server with the most room
   * @throws AppError 404 for an unknown server, 409 if no server has room
   */
  async place(name?: string): Promise<Placement> {
    const row = name === undefined ? await this.servers.findRoomiest() : await this.row(name);
    if (!row) throw noRoom();
    return { server: row.name, url: row.url === null ? null : this.urlOf(row) };
  }

  private async get(name: string): Promise<ServerState> {
    return this.stateOf(await this.row(name));
  }

  private async row(name: string): Promise<ServerRow> {
    const row = await this.servers.find(name);
    if (!row) throw serverNotFound();
    return row;
  }

  private async stateOf(row: ServerRow): Promise<ServerState> {
    const { name, status, capacity, projects, createdAt } = row;
    const server = new DatabaseServer(this.urlOf(row));
    const { publicHost: host, port } = server;
    const state = { name, host, port, status, capacity, projects, createdAt, pooler: row.pooler };
    const primary = server.asAdmin(MAINTENANCE_DATABASE, readPosition);
    const [fault, replicas] = await Promise.all([
      faultOf(primary),
      Promise.all(addressesOf(row.replicas).map((address) => replicaState(server, address, primary))),
    ]);
    const certificateEnd = fault === null ? (await primary).certificateEnd : null;
    return { ...state, fault, replicas, certificateEnd };
  }

  private async assertUsable(url: string): Promise<void> {
    await this.template.ensureOn(new DatabaseServer(url)).catch((error: Error) => {
      throw serverUnusable(error);
    });
  }

  private urlOf({ name, url }: ServerRow): string {
    return url === null ? this.platformUrl : this.secrets.open('server-url', `server:${name}`, url);
  }

  private seal(name: string, url: string): Buffer {
    return this.secrets.seal('server-url', `server:${name}`, url);
  }
}

function addressesOf(replicas: readonly string[]): HostAddress[] {
  return replicas.map(parseHost).filter((address) => address !== null);
}

async function replicaState(
  server: DatabaseServer,
  address: HostAddress,
  primary: Promise<Position>,
): Promise<ReplicaState> {
  let replayed: Position | undefined;
  const fault = await faultOf(
    readStandby(server, address).then((position) => {
      replayed = position;
    }),
  );
  const written = fault === null && (await faultOf(primary)) === null ? await primary : undefined;
  const lagBytes = replayed && written ? Math.max(0, written.bytes - replayed.bytes) : null;
  return { ...address, fault, lagBytes };
}

interface Position {
  readonly standby: boolean;
  /** Position in the log in bytes: up to here the log was written, or a standby has replayed it. */
  readonly bytes: number;
  readonly certificateEnd: number | null;
}

async function readPosition(client: Client): Promise<Position> {
  const { rows } = await client.query<Omit<Position, 'certificateEnd'>>(
    `select pg_is_in_recovery() as standby, (case when pg_is_in_recovery() then pg_last_wal_replay_lsn()
       else pg_current_wal_flush_lsn() end - '0/0')::float8 as bytes`,
  );
  const { connection } = client as Client & { readonly connection?: { readonly stream?: unknown } };
  const stream = connection?.stream;
  const certificateEnd = stream instanceof TLSSocket ? endOf(stream.getPeerCertificate()) : null;
  return { ...(rows[0] as Position), certificateEnd };
}

async function readStandby(server: DatabaseServer, address: HostAddress): Promise<Position> {
  const config = { ...server.addressedConfig(MAINTENANCE_DATABASE), ...address, hosts: [] };
  const position = await withConnection(config, readPosition);
  if (!position.standby) throw new Error('it is not a standby');
  return position;
}

async function faultOf(probe: Promise<unknown>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${PROBE_MS} ms`), PROBE_MS);
  });
  const answer = probe.then(
    () => null,
    (error: unknown) => messageOf(error),
  );
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

function entryOf(action: string, actor: Actor, details: Record<string, string | number>): AuditEntry {
  return { action, actor, projectId: null, details };
}
