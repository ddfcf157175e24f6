/** node-postgres' client, which connects to the primary among several hosts. */
import { Client, type ClientConfig, DatabaseError } from 'pg';
import { CONNECTION_EVENTS } from './driver-internals';
import { HostGroup, NoPrimaryError } from './host-group';
import { type HostAddress, hostsOf } from './host-list';
import { Socket } from 'node:net';

/** Milliseconds for a connection to one of several hosts, if the configuration has no limit. */
const CONNECT_MS = 2_000;
/** Milliseconds to find out whether a host is the primary. */
const PROBE_MS = 1_000;
const STANDBY = 'in_hot_standby';

export interface HostListConfig extends ClientConfig {
  /** Replaces `host` and `port`. Default: the hosts in the connection string (host-list.ts). */
  readonly hosts?: readonly HostAddress[];
}

export class HostListClient extends Client {
  private readonly hosts: readonly HostAddress[];
  /** Reported by the server (manual, 54.2.7; PostgreSQL 14 and later). */
  private isStandby = false;

  constructor(config: HostListConfig = {}) {
    const hosts = config.hosts ?? hostsOf(config.connectionString);
    const { connectionTimeoutMillis = CONNECT_MS } = config;
    const ofList = hosts.length > 1 ? { connectionTimeoutMillis, stream: undefined } : {};
    // Named explicitly, because a pool makes the password non-enumerable.
    super({ ...config, password: config.password, ...ofList });
    this.hosts = hosts;
    // An error rejects pending calls. The event itself must not end the process, and a pool adds its listener too late.
    this.on('error', () => undefined);
    this.connection.on(CONNECTION_EVENTS.parameterStatus, ({ parameterName, parameterValue }: Status) => {
      if (parameterName === STANDBY) this.isStandby = parameterValue === 'on';
    });
  }

  override connect(): Promise<Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<Client> | void {
    const connected = this.hosts.length > 1 ? this.connectToPrimary() : super.connect();
    if (!callback) return connected;
    const done = callback as (error: Error | null) => void;
    connected.then(
      () => done(null),
      (error: Error) => done(error),
    );
  }

  /** The host to connect to, if there are several. @throws NoPrimaryError, or the refusal of a host */
  async findPrimary(): Promise<HostAddress> {
    return HostGroup.of(this.hosts).find((candidate) => this.isPrimary(candidate));
  }

  private async connectToPrimary(): Promise<Client> {
    const group = HostGroup.of(this.hosts);
    const address = await this.findPrimary();
    Object.assign(this, address);
    try {
      await super.connect();
    } catch (error) {
      if (isUnreachable(error)) group.suspect(address);
      throw error;
    }
    if (!this.isStandby) return this;
    group.suspect(address);
    await this.end();
    throw new NoPrimaryError([address], [new Error('it is a standby')]);
  }

  private async isPrimary(address: HostAddress): Promise<boolean> {
    const { user, password, database, ssl } = this;
    const client = new HostListClient({
      ...{ user, password: password ?? undefined, database, ssl, ...address, hosts: [] },
      ...{ application_name: 'plinth-hosts', connectionTimeoutMillis: PROBE_MS },
    });
    await client.connect();
    void client.end().catch(() => undefined);
    return !client.isStandby;
  }
}

/** False if the server answered and refused the client. */
function isUnreachable(error: unknown): boolean {
  return !(error instanceof DatabaseError) || /^(08|57)/.test(error.code ?? '');
}

interface Status {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** A socket to the primary among several hosts, for a node-postgres client that other code creates. */
export class PrimarySocket extends Socket {
  /** @param url with several hosts (host-list.ts) */
  constructor(private readonly url: string) {
    super();
  }

  /** @param _args the address of the first host, which the client passes; it is not used */
  override connect(..._args: unknown[]): this {
    new HostListClient({ connectionString: this.url }).findPrimary().then(
      ({ host, port }) => super.connect(port, host),
      (error: Error) => this.destroy(error),
    );
    return this;
  }
}
