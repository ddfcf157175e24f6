/** What the install's admin role may do on a server, and what follows where it may not. */
import { Client } from 'pg';

export interface ServerCapabilities {
  /** Major version. */
  readonly version: number;
  readonly superuser: boolean;
  readonly createDatabase: boolean;
  readonly createRole: boolean;
  /** May create roles that bypass row-level security (service_role). */
  readonly grantBypassRls: boolean;
}

const OLDEST_VERSION = 14;

export async function readCapabilities(client: Client): Promise<ServerCapabilities> {
  const { rows } = await client.query<{
    version: number;
    superuser: boolean;
    createdb: boolean;
    createrole: boolean;
    bypassrls: boolean;
  }>(`select current_setting('server_version_num')::int / 10000 as version, rolsuper as superuser,
        rolcreatedb as createdb, rolcreaterole as createrole, rolbypassrls as bypassrls
      from pg_roles where rolname = current_user`);
  const row = rows[0];
  if (!row) throw new Error('the database role could not be read');
  return {
    version: row.version,
    superuser: row.superuser,
    createDatabase: row.superuser || row.createdb,
    createRole: row.superuser || row.createrole,
    // Before PostgreSQL 16 only a superuser could hand BYPASSRLS on.
    grantBypassRls: row.superuser || (row.bypassrls && row.version >= 16),
  };
}

/** Faults that make the server unusable, one line each; empty when there is none. */
export function missingCapabilities(capabilities: ServerCapabilities): string[] {
  const faults: string[] = [];
  if (capabilities.version < OLDEST_VERSION) {
    faults.push(`PostgreSQL ${OLDEST_VERSION} or later is needed; this server is ${capabilities.version}`);
  }
  if (!capabilities.createDatabase) faults.push('the role lacks CREATEDB (alter role ... createdb)');
  if (!capabilities.createRole) faults.push('the role lacks CREATEROLE (alter role ... createrole)');
  return faults;
}
