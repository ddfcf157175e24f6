/** A PostgreSQL server that holds projects' databases, reached as the install's admin role. */
import { Client, ClientConfig } from 'pg';
import { withConnection } from '../../database/pools/one-off-connection';

/** Global objects of one server change under this lock, whichever process or install changes them. */
const SERVER_LOCK = 7_046_102;

export class DatabaseServer {
  /** @param adminUrl connection URL as a role with CREATEDB and CREATEROLE; its database part is not used */
  constructor(private readonly adminUrl: string) {}

  get host(): string {
    return new URL(this.adminUrl).hostname || 'localhost';
  }

  get port(): number {
    return Number(new URL(this.adminUrl).port || 5432);
  }

  get ssl(): boolean {
    return /[?&]sslmode=(require|verify-ca|verify-full)/.test(this.adminUrl);
  }

  /** The admin role in a database of this server. After provisioning never in a project's: owner code runs there. */
  async asAdmin<T>(database: string, work: (client: Client) => Promise<T>): Promise<T> {
    const url = new URL(this.adminUrl);
    url.pathname = `/${encodeURIComponent(database)}`;
    return withConnection({ connectionString: url.href }, work);
  }

  /** The admin role, alone on the server among those that change global objects. */
  async exclusively<T>(work: (client: Client) => Promise<T>): Promise<T> {
    return this.asAdmin('postgres', async (client) => {
      await client.query('select pg_advisory_lock($1)', [SERVER_LOCK]);
      return work(client);
    });
  }

  /** Connection settings for another role. */
  configFor(database: string, user: string, password: string): ClientConfig {
    return { host: this.host, port: this.port, ssl: this.ssl, database, user, password };
  }
}
