/**
 * Handles the sessions of a database while writes are stopped. First, table locks of mode EXCLUSIVE refuse writes while
 * reads continue. They belong to a session, so they end with this process. At the switch the database refuses all sessions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { codeOf } from '../common/errors/error-facts';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { quoteIdentifier, quoteQualified } from '../database/sql/identifier';
import { LOCK_NOT_AVAILABLE } from '../database/sql/sqlstate';
import { sessionsRemain, writersHoldLocks } from './move.errors';

/** Milliseconds of an attempt: less than deadlock_timeout, so that no writer is chosen as the victim of a deadlock. */
const ATTEMPT_MS = 700;
/** Attempts before sessions that hold a lock for longer are ended, and attempts in all. */
const PATIENT_ATTEMPTS = 2;
const ATTEMPTS = 6;
const POLL_INTERVAL_MS = 500;
/** Milliseconds between checks for remaining sessions, and until endOthers() gives up. */
const CLOSE_POLL_MS = 50;
const CLOSE_LIMIT_MS = 5_000;

/** PostgreSQL notices within about 15 seconds when the host of this process is down. */
const SESSION = `set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 3; set tcp_keepalives_count = 3;
  set lock_timeout = ${ATTEMPT_MS}`;

export interface LockedTable {
  readonly schema: string;
  readonly name: string;
}

/**
 * Locks the tables in one transaction, which stays open. Earlier writers get a moment to finish before they are ended.
 * @param client connected as the owner, with an empty search_path; it ends the lock by disconnecting
 * @param admin connected as the admin role of the same server, in another database
 * @throws AppError 409 when writers do not end
 */
export async function lockWrites(
  client: BoundedClient,
  admin: Client,
  tables: readonly LockedTable[],
): Promise<void> {
  await client.query(SESSION);
  const pid = await pidOf(client);
  const list = tables.map(({ schema, name }) => `only ${quoteQualified(schema, name)}`).join(', ');
  for (let attempt = 1; ; attempt += 1) {
    const blockers = attempt > PATIENT_ATTEMPTS ? endBlockers(admin, pid) : Promise.resolve();
    try {
      await client.query('begin');
      if (tables.length > 0) await client.query(`lock table ${list} in exclusive mode`);
      return;
    } catch (error) {
      await client.query('rollback');
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt === ATTEMPTS) throw writersHoldLocks(error);
    } finally {
      await blockers;
    }
  }
}

/** @throws when the session has ended, and with it its locks */
export async function pidOf(client: Pick<Client, 'query'>): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_catalog.pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

async function endBlockers(admin: Client, pid: number): Promise<void> {
  await sleep(ATTEMPT_MS / 2);
  await admin.query(
    `select pg_terminate_backend(s.pid) from pg_stat_activity s, unnest(pg_blocking_pids($1)) b where s.pid = b and s.pid <> $1`,
    [pid],
  );
}

/**
 * Ends sessions that wait for one of the sessions that hold the locks: their clients get 503 and try again, instead of
 * holding connections that reads need. Repeats it until `isOver`.
 */
export async function endWaitingWriters(
  admin: Client,
  database: string,
  holder: number,
  isOver: AbortSignal,
): Promise<void> {
  while (!isOver.aborted) {
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = $1 and wait_event_type = 'Lock' and $2 = any (pg_blocking_pids(pid))`,
      [database, holder],
    );
    await sleep(POLL_INTERVAL_MS, undefined, { signal: isOver }).catch(() => undefined);
  }
}

const OTHERS = `select pid, pg_terminate_backend(pid) from pg_stat_activity
  where datname = $1 and pid <> all ($2) and pid <> pg_backend_pid() and backend_type <> 'autovacuum worker'`;

/**
 * Refuses new sessions and ends the others; no other session is left when it resolves. After that no process can write to the
 * database, even one that does not know about the move.
 * @param client connected as the admin role, in another database
 * @param exempt sessions of the caller
 * @throws AppError 409 when a session cannot be ended
 */
export async function closeDatabase(
  client: Client,
  database: string,
  exempt: readonly number[],
): Promise<void> {
  await client.query(`alter database ${quoteIdentifier(database)} with allow_connections false`);
  await endOthers(client, database, exempt);
}

/** Ends all sessions except the exempt sessions, and waits until they have ended. @throws AppError 409 */
export async function endOthers(client: Client, database: string, exempt: readonly number[]): Promise<void> {
  const end = performance.now() + CLOSE_LIMIT_MS;
  // The list must be empty twice: a session that has just passed the check of ALLOW_CONNECTIONS is listed a moment later.
  for (let quiet = 0; quiet < 2;) {
    const { rowCount } = await client.query(OTHERS, [database, exempt]);
    quiet = rowCount === 0 ? quiet + 1 : 0;
    if (performance.now() > end) throw sessionsRemain(rowCount ?? 0);
    if (quiet < 2) await sleep(quiet === 0 ? CLOSE_POLL_MS / 5 : CLOSE_POLL_MS);
  }
}

export async function openDatabase(client: Client, database: string): Promise<void> {
  await client.query(`alter database ${quoteIdentifier(database)} with allow_connections true`);
}

/** Ends a CREATE DATABASE that a killed process began: PostgreSQL continues it, and it is not visible before its end. */
export async function endCreation(client: Client, database: string): Promise<void> {
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where pid <> pg_backend_pid() and state = 'active' and pg_has_role(usesysid, 'USAGE')
       and starts_with(query, $1)`,
    [`create database ${quoteIdentifier(database)} `],
  );
}
