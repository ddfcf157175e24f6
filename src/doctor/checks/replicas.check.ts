/** Checks whether the read replicas stream from their primary, and how far they are behind. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { withConnection } from '../../database/pools/one-off-connection';
import { formatHost, type HostAddress } from '../../pg-pipeline';
import { type DatabaseServer, MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { ServersService } from '../../servers/servers.service';
import { DoctorCheck, Finding } from '../finding';

/** Milliseconds for a connection. */
const CONNECT_MS = 3_000;
/** Milliseconds that a replica may be behind; above this, reads are sent to the primary. */
const LAG_MS = 1_000;
const POLL_INTERVAL_MS = 20;

/** The status of the receiver is null for a role that may not see it. */
const STATE = `select system_identifier::text as system, pg_is_in_recovery() as "isStandby",
    pg_postmaster_start_time()::text as started,
    (select status from pg_stat_wal_receiver) as receiver, has_function_privilege('pg_stat_get_wal_receiver()', 'execute')
      and pg_has_role(current_user, 'pg_read_all_stats', 'usage') as "seesReceiver"
  from pg_control_system()`;
const WRITTEN = 'select pg_current_wal_flush_lsn()::text as position';
const IS_REPLAYED = 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as is';

interface ServerIdentity {
  readonly system: string;
  readonly isStandby: boolean;
  readonly started: string;
  readonly receiver: string | null;
  readonly seesReceiver: boolean;
}

@Injectable()
export class ReplicasCheck extends DoctorCheck {
  readonly name = 'replicas';

  constructor(private readonly servers: ServersService) {
    super();
  }

  async find(): Promise<Finding[]> {
    const places = (await this.servers.listPlaces()).filter(({ replicas }) => replicas.length > 0);
    if (places.length === 0) return [this.skipped('no server has read replicas')];
    const found = await Promise.all(
      places.flatMap(({ name, server, replicas }) =>
        replicas.map((replica) => this.findOn(name, server, replica)),
      ),
    );
    return found;
  }

  private async findOn(name: string, server: DatabaseServer, address: HostAddress): Promise<Finding> {
    const replica = `the replica ${formatHost(address)} of "${name}"`;
    try {
      return await server.asAdmin(MAINTENANCE_DATABASE, async (primary) => {
        const config = { ...server.addressedConfig(MAINTENANCE_DATABASE), ...address, hosts: [] };
        return withConnection({ ...config, connectionTimeoutMillis: CONNECT_MS }, async (client) => {
          const [its, own] = await Promise.all(
            [client, primary].map(async (one) => (await one.query<ServerIdentity>(STATE)).rows[0]),
          );
          if (!its || !own) throw new Error('no answer');
          return (
            this.foreign(replica, its, own) ??
            this.broken(replica, its) ??
            (await this.lag(replica, client, primary))
          );
        });
      });
    } catch (error) {
      return this.failed(
        `${replica} cannot be asked: ${messageOf(error)}`,
        'Start it, and check its address and pg_hba.conf. Until then, reads go to the primary.',
      );
    }
  }

  /** The server is not a standby of this primary. */
  private foreign(replica: string, its: ServerIdentity, own: ServerIdentity): Finding | null {
    if (its.system !== own.system)
      return this.failed(
        `${replica} belongs to a different cluster from its primary (${its.system}, not ${own.system})`,
        'Remove it with plinth server update --replicas, or create it again with pg_basebackup.',
      );
    if (its.isStandby) return null;
    if (its.started === own.started) return this.ok(`${replica} is the primary at present, and not read`);
    return this.failed(
      `${replica} takes writes, as a second primary does`,
      'Create it again with pg_basebackup or pg_rewind. Until then it is not read, but must not be written to.',
    );
  }

  private broken(replica: string, { receiver, seesReceiver }: ServerIdentity): Finding | null {
    if (!seesReceiver || receiver === 'streaming') return null;
    return this.warning(
      `${replica} does not stream from a primary`,
      'Check primary_conninfo and the log of the replica; it may need log that the primary has removed.',
    );
  }

  private async lag(
    replica: string,
    client: Parameters<Parameters<typeof withConnection>[1]>[0],
    primary: Parameters<Parameters<typeof withConnection>[1]>[0],
  ): Promise<Finding> {
    const { rows } = await primary.query<{ position: string }>(WRITTEN);
    const begun = performance.now();
    for (;;) {
      const { rows: answers } = await client.query<{ is: boolean }>(IS_REPLAYED, [rows[0]?.position]);
      const took = performance.now() - begun;
      if (answers[0]?.is) return this.ok(`${replica} streams, and is ${Math.ceil(took)} ms behind at most`);
      if (took > LAG_MS)
        return this.warning(
          `${replica} is more than ${LAG_MS / 1000} s behind, so it is not read`,
          'Check the replica for long queries that delay its replay, and check its disk and the network.',
        );
      await sleep(POLL_INTERVAL_MS);
    }
  }
}
