/**
 * Refuses all writes to a database while reads go on: table locks of mode EXCLUSIVE. They belong to a session, so
 * they are gone as soon as this process is.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { codeOf } from '../common/errors/error-facts';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { quoteQualified } from '../database/sql/identifier';
import { LOCK_NOT_AVAILABLE } from '../database/sql/sqlstate';
import { writersHoldLocks } from './move.errors';

/** Milliseconds of an attempt: less than deadlock_timeout, so that no writer is chosen as the victim of a deadlock. */
const ATTEMPT_MS = 700;
/** Attempts before sessions that hold a lock for longer are ended, and in all. */
const PATIENT_ATTEMPTS = 2;
const ATTEMPTS = 6;
const POLL_INTERVAL_MS = 500;

/** PostgreSQL notices within about 15 seconds that the host of this process is gone. */
const SESSION = `set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 3; set tcp_keepalives_count = 3;
  set lock_timeout = ${ATTEMPT_MS}`;

export interface LockedTable {
  readonly schema: string;
  readonly name: string;
}

/**
 * Locks the tables in one transaction, which stays open. Writers that came first get a moment to finish, then they are ended.
 * @param client of the owner, with an empty search_path; it ends the lock by disconnecting
 * @param admin of the same server, in another database
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
