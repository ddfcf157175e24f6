/** Settings and memberships that owners gave to roles which are not theirs. Both are removed. */
import { Inject, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { messageOf } from '../../common/errors/error-facts';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import { ProjectsService } from '../../projects/projects.service';
import { DatabaseServer, MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { findForeignGrants, resetSharedRoles, revokeForeignGrants } from '../../provisioning/shared-roles';
import { DoctorCheck, Finding } from '../finding';

/** Names in a finding. */
const NAMED = 10;

@Injectable()
export class SharedRolesCheck extends DoctorCheck {
  readonly name = 'shared_roles';

  constructor(
    private readonly projects: ProjectsService,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {
    super();
  }

  async find(): Promise<Finding[]> {
    const servers = [new DatabaseServer(this.platformUrl), ...(await this.projects.listServersElsewhere())];
    const unique = new Map(servers.map((server) => [server.key, server]));
    const found = await Promise.all([...unique.values()].map((server) => this.findOn(server)));
    return found.flat();
  }

  private async findOn(server: DatabaseServer): Promise<Finding[]> {
    const address = `PostgreSQL at ${server.host}:${server.port}`;
    try {
      const found = await server.asAdmin(MAINTENANCE_DATABASE, (client) => this.findIn(client, address));
      return found.length > 0 ? found : [this.ok(`${address}: roles have nothing of other projects`)];
    } catch (error) {
      return [
        this.failed(
          `${address}: settings of roles cannot be removed: ${messageOf(error)}`,
          'Run alter role ... reset all for anon, authenticated and service_role as a superuser.',
        ),
      ];
    }
  }

  private async findIn(client: Client, address: string): Promise<Finding[]> {
    const found: Finding[] = [];
    const grants = await findForeignGrants(client);
    const failure = await revokeForeignGrants(client, grants);
    if (failure !== null)
      found.push(
        this.failed(
          `${address}: memberships that other projects gave cannot be revoked: ${failure}`,
          'Revoke them as a superuser (revoke ... granted by ...), or delete the project that gave them.',
        ),
      );
    else if (grants.length > 0)
      found.push(
        this.warning(
          `${address}: removed memberships that other projects gave: ${listOf(grants.flatMap(({ roles, member }) => roles.map((role) => `${role} to ${member}`)))}`,
          'Ask the owner of the project that created these roles.',
        ),
      );
    const settings = await resetSharedRoles(client);
    if (settings.length > 0)
      found.push(
        this.warning(
          `${address}: removed settings of shared roles, which nothing reads: ${listOf(settings)}`,
          'Set what a project needs in its role_settings.',
        ),
      );
    return found;
  }
}

function listOf(names: readonly string[]): string {
  return names.slice(0, NAMED).join('; ') + (names.length > NAMED ? ` and ${names.length - NAMED} more` : '');
}
