/** Checks whether requests reach the right server through PgBouncer, in transaction mode. */
import { Inject, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { messageOf } from '../../common/errors/error-facts';
import { APP_CONFIG, AppConfig } from '../../config/app-config';
import { withConnection } from '../../database/pools/one-off-connection';
import { formatHost, type HostAddress, type HostListConfig } from '../../pg-pipeline';
import { type DatabaseServer, MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { ServersService } from '../../servers/servers.service';
import { DoctorCheck, Finding } from '../finding';

const CONNECT_MS = 3_000;
/** PgBouncer's own console. */
const CONSOLE = 'pgbouncer';
const SYSTEM = 'select system_identifier::text as system from pg_control_system()';
const SESSION = 'select pg_backend_pid() as pid';
/** Times that two clients are compared: another client may take the session in between. */
const ATTEMPTS = 3;

@Injectable()
export class PoolerCheck extends DoctorCheck {
  readonly name = 'pooler';

  constructor(
    private readonly servers: ServersService,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {
    super();
  }

  async find(): Promise<Finding[]> {
    const found = (await this.servers.listPlaces()).flatMap(({ name, server, pooler }) =>
      pooler === null ? [] : [this.findOn(name, server, pooler)],
    );
    if (found.length === 0) return [this.skipped('no server is reached through PgBouncer')];
    return (await Promise.all(found)).flat();
  }

  private async findOn(name: string, server: DatabaseServer, address: HostAddress): Promise<Finding[]> {
    const pooler = `PgBouncer ${formatHost(address)} of "${name}"`;
    const to = (database: string): HostListConfig => ({
      ...server.addressedConfig(database),
      ...address,
      hosts: [],
      connectionTimeoutMillis: CONNECT_MS,
    });
    try {
      if (!(await isSameServer(server, to(MAINTENANCE_DATABASE))))
        return [
          this.failed(`${pooler} leads to another server`, 'Check host and port in its [databases] section.'),
        ];
      const mode = (await sharesSessions(to(MAINTENANCE_DATABASE)))
        ? this.ok(`${pooler} answers, and shares sessions between transactions`)
        : this.failed(`${pooler} keeps a session for each client`, 'Set pool_mode = transaction.');
      return [mode, ...(await this.settings(pooler, to(CONSOLE)))];
    } catch (error) {
      const remedy = 'Start it, and check auth_user and auth_query (docs/reference/scaling.md, "PgBouncer").';
      return [this.failed(`${pooler} cannot be used: ${messageOf(error)}`, remedy)];
    }
  }

  /** Checks the settings that its console shows. */
  private async settings(pooler: string, config: HostListConfig): Promise<Finding[]> {
    let settings: Map<string, string>;
    try {
      const rows = await withConnection(config, (client) =>
        client.query<{ key: string; value: string }>('show config'),
      );
      settings = new Map(rows.rows.map(({ key, value }) => [key, value]));
    } catch {
      return [
        this.skipped(
          `the settings of ${pooler} cannot be read: add Plinth's role to its stats_users to have them checked`,
        ),
      ];
    }
    const found: Finding[] = [];
    const { maxConnections } = this.config.database;
    const clients = Number(settings.get('max_client_conn'));
    if (clients < maxConnections)
      found.push(
        this.warning(
          `${pooler} admits ${clients} clients, and each process of Plinth opens up to ${maxConnections}`,
          'Raise max_client_conn above DATABASE_MAX_CONNECTIONS times the number of processes.',
        ),
      );
    if (
      settings.get('server_reset_query_always') !== '1' ||
      !/discard all/i.test(settings.get('server_reset_query') ?? '')
    )
      found.push(
        this.warning(
          `${pooler} does not reset sessions, so a request may see state that a function of the same project left in a session`,
          'Set server_reset_query = discard all and server_reset_query_always = 1.',
        ),
      );
    return found;
  }
}

async function isSameServer(server: DatabaseServer, pooled: HostListConfig): Promise<boolean> {
  const systemOf = async (client: Client): Promise<unknown> => (await client.query(SYSTEM)).rows[0];
  const [one, other] = await Promise.all([
    server.asAdmin(MAINTENANCE_DATABASE, systemOf),
    withConnection(pooled, systemOf),
  ]);
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether a client gets the session of another client that is connected, but not in a transaction. */
async function sharesSessions(config: HostListConfig): Promise<boolean> {
  return withConnection(config, (first) =>
    withConnection(config, async (second) => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const ids: unknown[] = [];
        for (const client of [first, second])
          ids.push((await client.query<{ pid: number }>(SESSION)).rows[0]?.pid);
        if (ids[0] === ids[1]) return true;
      }
      return false;
    }),
  );
}
