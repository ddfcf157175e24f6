/** A PostgreSQL server that holds projects' databases, reached as the installation's admin role. */
import { Client } from 'pg';
import { type HostAddress, HostListClient, type HostListConfig, hostsOf, withHostList } from '../pg-pipeline';
import { lockAsAdmin } from '../database/pools/admin-lock';
import { CONNECT_MS, withConnection } from '../database/pools/one-off-connection';
import { ProjectDatabase } from '../database/pools/project-database';

/** Work on the server's global objects runs in this database, which exists on every server. */
export const MAINTENANCE_DATABASE = 'postgres';

/** Advisory lock for changes to a server's global objects, by any process or installation. */
const SERVER_LOCK = '7046102';

export class DatabaseServer {
  /** Name or address, or the directory of its Unix socket. */
  readonly host: string;
  /**
   * The host for clients other than this process: the URL's own host, even if a parameter sends Plinth to a
   * socket.
   */
  readonly publicHost: string;
  readonly port: number;
  readonly ssl: ProjectDatabase['ssl'];
  /** Set if the URL has several hosts: one of them is the primary, and `host` and `port` are those of the first. */
  readonly hosts: readonly HostAddress[];
  /** Equal for the same server and admin role. */
  readonly key: string;

  private readonly adminUrl: string;

  /** @param url connection URL as a role with CREATEDB and CREATEROLE; its database part is not used */
  constructor(url: string) {
    const adminUrl = withHostList(url);
    this.adminUrl = adminUrl;
    // node-postgres parses everything that the URL may contain (sslmode, sslrootcert, a socket's directory).
    const { host, port, ssl, user = '' } = new Client({ connectionString: adminUrl });
    this.host = host;
    this.publicHost = hostIn(adminUrl) || host;
    this.port = port;
    this.ssl = ssl;
    this.hosts = hostsOf(adminUrl);
    this.key = `${user}@${host}:${port}`;
  }

  /** Connects as the admin role. After provisioning, never use it in a project's database: owner code runs there. */
  async asAdmin<T>(database: string, work: (client: Client) => Promise<T>): Promise<T> {
    return withConnection(this.adminConfig(database), work);
  }

  /** Like asAdmin(), but the connection stays open and the caller ends it. */
  async connectAsAdmin(database: string, name: string): Promise<Client> {
    const client = new HostListClient({
      ...this.adminConfig(database),
      application_name: name,
      connectionTimeoutMillis: CONNECT_MS,
    });
    await client.connect();
    return client;
  }

  /** Runs work as the admin role, under the lock on the server's global objects. */
  async exclusively<T>(work: (client: Client) => Promise<T>): Promise<T> {
    return this.asAdmin(MAINTENANCE_DATABASE, async (client) => {
      await this.lock(client, SERVER_LOCK);
      return work(client);
    });
  }

  /** Takes an advisory lock until the session ends. @param client connected to the maintenance database */
  lock(client: Client, key: string): Promise<void> {
    return lockAsAdmin(client, key, (work) => this.asAdmin(MAINTENANCE_DATABASE, work));
  }

  /** Settings to connect as the admin role, without a connection string, whose address would override a replica's. */
  addressedConfig(database: string): HostListConfig {
    const { user, password } = new Client({ connectionString: this.adminUrl });
    return this.configFor(database, user ?? '', password ?? '');
  }

  private adminConfig(database: string): HostListConfig {
    return { connectionString: this.adminUrlOf(database) };
  }

  private adminUrlOf(database: string): string {
    const url = new URL(this.adminUrl);
    url.pathname = `/${encodeURIComponent(database)}`;
    return url.href;
  }

  /** Connection settings for another role. */
  configFor(
    database: string,
    user: string,
    password: string,
  ): HostListConfig & { host: string; port: number; database: string; user: string; password: string } {
    const { host, port, hosts, ssl } = this;
    return { host, port, hosts, ssl, database, user, password };
  }
}

/** An IPv6 address without its brackets, as node-postgres returns it. */
function hostIn(url: string): string {
  return decodeURIComponent(new URL(url).hostname).replace(/^\[(.*)\]$/, '$1');
}
