/** Databases that no role of another project can enter, not even while they are created. */
import type { Client } from 'pg';
import { quoteIdentifier } from '../sql/identifier';

/** Rights of one role on a database, in addition to its owner's rights. */
interface DatabaseGrant {
  readonly rights: 'connect' | 'create, connect';
  readonly role: string;
}

/**
 * Creates a database without rights for PUBLIC. CREATE DATABASE commits before CONNECT can be revoked, so the database accepts no
 * connections until then. A crash in between leaves a database that accepts no connections.
 * @param options SQL that follows the name in CREATE DATABASE
 */
export async function createClosedDatabase(
  client: Client,
  name: string,
  options: string,
  grant: DatabaseGrant | null,
): Promise<void> {
  await client.query(`create database ${quoteIdentifier(name)} ${options} allow_connections false`);
  await openClosedDatabase(client, name, grant);
}

/** Lets the owner and one role connect to a closed database, in one transaction. */
export async function openClosedDatabase(
  client: Client,
  name: string,
  grant: DatabaseGrant | null,
): Promise<void> {
  const database = quoteIdentifier(name);
  const admit = grant
    ? `grant ${grant.rights} on database ${database} to ${quoteIdentifier(grant.role)};`
    : '';
  await client.query(
    `revoke all on database ${database} from public; ${admit} alter database ${database} allow_connections true`,
  );
}

/**
 * The state of a database after its creation. Opening it changes its privileges, so a database that accepts no connections and has
 * changed privileges was closed later.
 */
export async function stateOfDatabase(
  client: Client,
  name: string,
): Promise<'absent' | 'interrupted' | 'closed' | 'open'> {
  const { rows } = await client.query<{ open: boolean; unchanged: boolean }>(
    'select datallowconn as open, datacl is null as unchanged from pg_database where datname = $1',
    [name],
  );
  const [row] = rows;
  if (!row) return 'absent';
  if (row.open) return 'open';
  return row.unchanged ? 'interrupted' : 'closed';
}
