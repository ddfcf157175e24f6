/** Settings and memberships that owners gave to roles which are not theirs. Both are removed. */
import { Inject, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import { ProjectsService } from '../../projects/projects.service';
import { findForeignGrants, resetSharedRoles, revokeForeignGrants } from '../../provisioning/shared-roles';
import type { Finding } from '../finding';
import { ServerCheck } from './server.check';

/** Maximum number of names in a finding. */
const NAMED = 10;

@Injectable()
export class SharedRolesCheck extends ServerCheck {
  readonly name = 'shared_roles';

  constructor(projects: ProjectsService, @Inject(PLATFORM_URL) platformUrl: string) {
    super(projects, platformUrl);
  }

  protected failure(address: string, message: string): Finding {
    return this.failed(
      `${address}: settings of roles cannot be removed: ${message}`,
      'Run alter role ... reset all for anon, authenticated and service_role as a superuser.',
    );
  }

  protected async findIn(client: Client, address: string): Promise<Finding[]> {
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
    return found.length > 0 ? found : [this.ok(`${address}: roles have nothing of other projects`)];
  }
}

function listOf(names: readonly string[]): string {
  return names.slice(0, NAMED).join('; ') + (names.length > NAMED ? ` and ${names.length - NAMED} more` : '');
}
