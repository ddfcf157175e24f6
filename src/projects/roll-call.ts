/**
 * Asks all processes of the install whether they have heard what was announced so far. PostgreSQL delivers notifications
 * in the order of commits, so who answers the call has dealt with every change that was announced before it.
 */
import { Client } from 'pg';
import { LISTENER_NAME } from '../database/listen/notification-listener';
import { withConnection } from '../database/pools/one-off-connection';
import { randomId } from '../infra/crypto/random';

const CALL = 'roll-call:';
const ANSWERS_CHANNEL = 'plinth_heard';
/** Milliseconds: a process that is gone without a word may still be counted for a while. */
const PATIENCE_MS = 2_000;

/**
 * @param channel on which every process listens on one connection
 * @returns false when somebody did not answer in time
 */
export async function everybodyHeard(platformUrl: string, channel: string): Promise<boolean> {
  return withConnection({ connectionString: platformUrl }, async (client) => {
    const call = CALL + randomId();
    await client.query(`listen ${ANSWERS_CHANNEL}`);
    const { rows } = await client.query<{ listeners: number }>(
      `select count(*)::int as listeners from pg_stat_activity
       where datname = current_database() and application_name = $1`,
      [LISTENER_NAME],
    );
    const answered = answersTo(call, client, rows[0]?.listeners ?? 0);
    await client.query('select pg_notify($1, $2)', [channel, call]);
    return answered;
  });
}

/** The channel and text to answer with; null for a payload that is no call. */
export function answerTo(payload: string): { channel: string; payload: string } | null {
  return payload.startsWith(CALL) ? { channel: ANSWERS_CHANNEL, payload } : null;
}

function answersTo(call: string, client: Client, expected: number): Promise<boolean> {
  return new Promise((resolve) => {
    let count = 0;
    const timer = setTimeout(() => resolve(false), PATIENCE_MS);
    const settle = (): void => {
      if (count < expected) return;
      clearTimeout(timer);
      resolve(true);
    };
    client.on('notification', ({ payload }) => {
      if (payload === call) count += 1;
      settle();
    });
    settle();
  });
}
