/** Closes a project's database to all connections, and opens it again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { quoteIdentifier } from '../database/sql/identifier';
import { sessionsRemain } from './move.errors';

const POLL_INTERVAL_MS = 50;
const LIMIT_MS = 5_000;

const OTHERS = `select pid, pg_terminate_backend(pid) from pg_stat_activity
  where datname = $1 and pid <> all ($2) and pid <> pg_backend_pid() and backend_type <> 'autovacuum worker'`;

/**
 * Refuses new sessions and ends the others; none is left when it resolves. No process can write to the database from then on,
 * whatever it knows about the move.
 * @param client of the admin role, in another database
 * @param spared sessions of the caller
 * @throws AppError 409 when a session cannot be ended
 */
export async function closeDatabase(
  client: Client,
  database: string,
  spared: readonly number[],
): Promise<void> {
  await client.query(`alter database ${quoteIdentifier(database)} with allow_connections false`);
  await endOthers(client, database, spared);
}

/** Ends all sessions but the spared ones, and waits until they are gone. @throws AppError 409 */
export async function endOthers(client: Client, database: string, spared: readonly number[]): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  // Twice without any: a session that has just passed the check of ALLOW_CONNECTIONS is listed a moment later.
  for (let quiet = 0; quiet < 2;) {
    const { rowCount } = await client.query(OTHERS, [database, spared]);
    quiet = rowCount === 0 ? quiet + 1 : 0;
    if (performance.now() > end) throw sessionsRemain(rowCount ?? 0);
    if (quiet < 2) await sleep(quiet === 0 ? POLL_INTERVAL_MS / 5 : POLL_INTERVAL_MS);
  }
}

/** Does nothing if the database does not exist. */
export async function openDatabase(client: Client, database: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
  if (rowCount === 0) return;
  await client.query(`alter database ${quoteIdentifier(database)} with allow_connections true`);
}

/** Ends a CREATE DATABASE that a killed process began: PostgreSQL goes on with it, and it is not seen before its end. */
export async function endCreation(client: Client, database: string): Promise<void> {
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where pid <> pg_backend_pid() and state = 'active' and pg_has_role(usesysid, 'USAGE')
       and starts_with(query, $1)`,
    [`create database ${quoteIdentifier(database)} `],
  );
}
