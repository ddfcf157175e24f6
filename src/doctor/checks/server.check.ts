/** A check of each PostgreSQL server of the installation, as the role that administers it. */
import type { Client } from 'pg';
import { isTlsFault, messageOf } from '../../common/errors/error-facts';
import type { ProjectsService } from '../../projects/projects.service';
import { DatabaseServer, MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { DoctorCheck, Finding } from '../finding';

export abstract class ServerCheck extends DoctorCheck {
  constructor(
    private readonly projects: ProjectsService,
    protected readonly platformUrl: string,
  ) {
    super();
  }

  async find(): Promise<Finding[]> {
    const servers = [
      new DatabaseServer(this.platformUrl),
      // The finding about the platform's server says why it cannot be read.
      ...(await this.projects.listServersElsewhere().catch(() => [])),
    ];
    const unique = new Map(servers.map((server) => [server.key, server]));
    const found = await Promise.all([...unique.values()].map((server) => this.findOn(server)));
    return found.flat();
  }

  private async findOn(server: DatabaseServer): Promise<Finding[]> {
    const address = `PostgreSQL at ${server.host}:${server.port}`;
    try {
      return await server.asAdmin(MAINTENANCE_DATABASE, (client) => this.findIn(client, address, server));
    } catch (error) {
      if (!isTlsFault(error)) return [this.failure(address, messageOf(error))];
      return [
        this.failed(
          `${address} cannot be used: its certificate is refused: ${messageOf(error)}`,
          'Renew the certificate of the server, or name its authority with sslrootcert in the URL.',
        ),
      ];
    }
  }

  protected abstract findIn(client: Client, address: string, server: DatabaseServer): Promise<Finding[]>;

  /** For a server that cannot be checked. */
  protected abstract failure(address: string, message: string): Finding;
}
