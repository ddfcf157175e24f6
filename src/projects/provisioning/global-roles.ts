/** The roles that all projects of a server share. What they may do is granted in each project's own database. */
import { Client } from 'pg';
import { quoteIdentifier } from '../../database/sql/identifier';
import { ServerCapabilities } from './server-capabilities';

/** Roles that a request may run as by default. */
export const REQUEST_ROLES = ['anon', 'authenticated', 'service_role'] as const;

/** Owns the objects of the template database; a new project's owner takes them over. */
export const TEMPLATE_OWNER = 'plinth_template_owner';

/** Creates what is missing; call it under the server's lock. */
export async function ensureGlobalRoles(client: Client, capabilities: ServerCapabilities): Promise<void> {
  await ensureRole(client, 'anon', 'nologin noinherit');
  await ensureRole(client, 'authenticated', 'nologin noinherit');
  await ensureRole(
    client,
    'service_role',
    `nologin noinherit ${capabilities.grantBypassRls ? 'bypassrls' : ''}`,
  );
  await ensureRole(client, TEMPLATE_OWNER, 'login noinherit');
  if (!capabilities.superuser) await joinRole(client, TEMPLATE_OWNER);
}

/** Makes the admin role a member, which a role that is no superuser needs before it may hand objects over. */
export async function joinRole(client: Client, role: string): Promise<void> {
  await client.query(`grant ${quoteIdentifier(role)} to current_user`);
}

async function ensureRole(client: Client, name: string, attributes: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name]);
  if (rowCount === 0) await client.query(`create role ${quoteIdentifier(name)} ${attributes}`);
}
