/**
 * A mark on the target that a project was in service there after a move. If the platform database is restored to a moment
 * before the end of the move, its row says that the move was interrupted; the mark keeps the newer database from being dropped.
 */
import type { Client } from 'pg';
import { quoteIdentifier, quoteLiteral } from '../database/sql/identifier';

const MARK = 'plinth: in service after a move';

/**
 * @param client of the admin role on the target, in another database
 * @param loginRole of the project
 */
export async function markInService(client: Client, loginRole: string): Promise<void> {
  await client.query(`comment on role ${quoteIdentifier(loginRole)} is ${quoteLiteral(MARK)}`);
}

/** False if the role does not exist. */
export async function isInService(client: Client, loginRole: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_roles where rolname = $1 and shobj_description(oid, 'pg_authid') = $2`,
    [loginRole, MARK],
  );
  return rowCount === 1;
}

export async function hasDatabase(client: Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
  return rowCount === 1;
}
