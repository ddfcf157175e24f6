/**
 * Asks all processes of the installation to acknowledge the notifications sent so far. PostgreSQL delivers them
 * in commit order, so a process that answers has handled every earlier change.
 */
import { Client } from 'pg';
import { LISTENER_NAME } from '../database/listen/notification-listener';
import { withConnection } from '../database/pools/one-off-connection';
import { randomId } from '../infra/crypto/random';

const REQUEST = 'acknowledge:';
const ANSWERS_CHANNEL = 'plinth_acknowledged';
/** Milliseconds. The listener of a crashed process may still be counted for a while. */
const ACKNOWLEDGE_TIMEOUT_MS = 2_000;

/**
 * @param channel on which every process listens on one connection
 * @param message is sent before
 * @returns false when a process did not answer in time
 */
export async function allReplicasAcknowledged(
  platformUrl: string,
  channel: string,
  message?: string,
): Promise<boolean> {
  return withConnection({ connectionString: platformUrl }, async (client) => {
    const request = REQUEST + randomId();
    await client.query(`listen ${ANSWERS_CHANNEL}`);
    const { rows } = await client.query<{ listeners: number }>(
      `select count(*)::int as listeners from pg_stat_activity
       where datname = current_database() and application_name = $1`,
      [LISTENER_NAME],
    );
    const answered = awaitAnswers(request, client, rows[0]?.listeners ?? 0);
    if (message !== undefined) await client.query('select pg_notify($1, $2)', [channel, message]);
    await client.query('select pg_notify($1, $2)', [channel, request]);
    return answered;
  });
}

/** The channel and payload to answer with; null for any other payload. */
export function acknowledgementOf(payload: string): { channel: string; payload: string } | null {
  return payload.startsWith(REQUEST) ? { channel: ANSWERS_CHANNEL, payload } : null;
}

function awaitAnswers(request: string, client: Client, expected: number): Promise<boolean> {
  return new Promise((resolve) => {
    let count = 0;
    const timer = setTimeout(() => resolve(false), ACKNOWLEDGE_TIMEOUT_MS);
    const settle = (): void => {
      if (count < expected) return;
      clearTimeout(timer);
      resolve(true);
    };
    client.on('notification', ({ payload }) => {
      if (payload === request) count += 1;
      settle();
    });
    settle();
  });
}
