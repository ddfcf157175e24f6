/** The roles that all projects of a server share. What they may do is granted in each project's own database. */
import { Client } from 'pg';
import { REQUEST_ROLES, ServerCapabilities } from '../../database/platform/server-capabilities';
import { quoteIdentifier } from '../../database/sql/identifier';

/** Creates what is missing; call it under the server's lock. */
export async function ensureGlobalRoles(client: Client, capabilities: ServerCapabilities): Promise<void> {
  const known = new Map(capabilities.sharedRoles.map((role) => [role.name, role]));
  for (const name of REQUEST_ROLES) {
    const bypass = name === 'service_role' && capabilities.grantBypassRls;
    if (!known.has(name)) {
      await client.query(`create role ${name} nologin noinherit ${bypass ? 'bypassrls' : ''}`);
    } else if (bypass && !known.get(name)?.bypassRls) {
      await client.query(`alter role ${name} bypassrls`);
    }
  }
}

/** True when the service-role key needs no policy. */
export async function serviceBypassesRls(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ bypasses: boolean }>(
    `select rolbypassrls as bypasses from pg_roles where rolname = 'service_role'`,
  );
  return rows[0]?.bypasses ?? false;
}

/**
 * Makes the admin role a member that has the role's rights: one that is no superuser needs it before it may hand
 * objects over, end sessions or drop a database.
 */
export async function joinRole(
  client: Client,
  role: string,
  { version }: Pick<ServerCapabilities, 'version'>,
): Promise<void> {
  // From PostgreSQL 16 on, who creates a role is its administrator without having its rights.
  const options = version >= 16 ? 'with inherit true, set true' : '';
  await client.query(`grant ${quoteIdentifier(role)} to current_user ${options}`);
}
