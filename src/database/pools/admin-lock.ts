/**
 * Advisory locks in a database that roles of projects may be able to enter: the maintenance database, if Plinth cannot close it.
 * Such a role can hold every lock, or wait for it in front of Plinth.
 */
import type { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL_MS = 200;

/** Ends the sessions that hold the lock or wait for it, of roles that are not administrators. */
const END_HOLDERS = `select pg_terminate_backend(l.pid) from pg_locks l
  join pg_stat_activity a on a.pid = l.pid join pg_roles r on r.oid = a.usesysid
  where l.locktype = 'advisory' and l.objsubid = 1 and (l.classid::bigint << 32) | l.objid::bigint = $1::bigint
    and l.database = (select oid from pg_database where datname = current_database())
    and not r.rolsuper and not r.rolcreatedb
    and (pg_has_role(r.oid, 'USAGE') or pg_has_role('pg_signal_backend', 'USAGE'))`;

/** @returns whether there were such sessions */
export async function endForeignHolders(client: Client, key: string): Promise<boolean> {
  const { rowCount } = await client.query(END_HOLDERS, [key]);
  return (rowCount ?? 0) > 0;
}

/** The key of a named lock. */
export async function lockKeyOf(client: Client, name: string): Promise<string> {
  const { rows } = await client.query<{ key: string }>('select hashtextextended($1, 0)::text as key', [name]);
  return rows[0]?.key ?? '';
}

/**
 * Takes a lock until the session ends. While it waits, earlier sessions of other roles than administrators are ended; later
 * sessions cannot overtake it.
 * @param connected runs work over another connection to the same database
 */
export async function lockAsAdmin(
  client: Client,
  key: string,
  connected: (work: (other: Client) => Promise<void>) => Promise<void>,
): Promise<void> {
  const isTaken = new AbortController();
  const endInFront = async (): Promise<void> => {
    await sleep(POLL_INTERVAL_MS, undefined, { signal: isTaken.signal });
    await connected(async (other) => {
      for (;;) {
        await endForeignHolders(other, key);
        await sleep(POLL_INTERVAL_MS, undefined, { signal: isTaken.signal });
      }
    });
  };
  const ending = endInFront().catch((error: unknown) => {
    if (!isTaken.signal.aborted) throw error;
  });
  const taking = client.query('select pg_advisory_lock($1)', [key]).finally(() => isTaken.abort());
  await Promise.all([taking, ending]);
}
