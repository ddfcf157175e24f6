/** Recovers a restored cluster to a moment, with PostgreSQL itself, and stops it. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { withConnection } from '../../database/pools/one-off-connection';
import { EmbeddedPostgres } from '../../database/embedded/embedded-postgres';
import type { Settings } from '../../database/embedded/cluster-settings';
import { WalArchiveError } from './wal-archive';

/** The moment of the backup, the end of the archive, or a time with its zone as PostgreSQL reads it. */
export type RecoveryTarget = 'backup' | 'latest' | { readonly until: string };

export interface Recovered {
  /** Number of the timeline that begins here. */
  readonly timeline: number;
  /** Time of the last change that was recovered; null: none came after the backup. */
  readonly lastChangeAt: Date | null;
}

/**
 * All files of the log are in the cluster already, so the command that fetches a file always fails. Clients are not admitted
 * before the end.
 */
const SETTINGS: Settings = {
  restore_command: 'false',
  recovery_target_action: 'promote',
  recovery_target_timeline: 'latest',
  hot_standby: 'off',
};

/**
 * Starts a new timeline also at the end of the log, because the old timeline may continue elsewhere.
 * @throws WalArchiveError when the log ends before the time, EmbeddedPostgresError when PostgreSQL fails
 */
export async function recover(dataDir: string, target: RecoveryTarget): Promise<Recovered> {
  await writeFile(path.join(dataDir, 'postgres', 'recovery.signal'), '', { mode: 0o600, flush: true });
  const postgres = await EmbeddedPostgres.start({ dataDir, settings: settingsFor(target) }).catch(
    async (error: unknown) => {
      throw await explained(error, dataDir, target);
    },
  );
  try {
    return await withConnection({ connectionString: postgres.url }, async (client) => {
      const { rows } = await client.query<{ file: string; at: Date | null }>(
        `select pg_walfile_name(pg_current_wal_lsn()) as file, pg_last_xact_replay_timestamp() as at`,
      );
      const [row] = rows;
      return { timeline: Number.parseInt(row?.file.slice(0, 8) ?? '', 16), lastChangeAt: row?.at ?? null };
    });
  } finally {
    await postgres.stop();
  }
}

function settingsFor(target: RecoveryTarget): Settings {
  if (target === 'latest') return SETTINGS;
  if (target === 'backup')
    return { ...SETTINGS, recovery_target: 'immediate', recovery_target_timeline: 'current' };
  return { ...SETTINGS, recovery_target_time: settingOf(target.until) };
}

/** PostgreSQL does not accept the zone Z in a configuration file. */
function settingOf(time: string): string {
  return time.replace('T', ' ').replace(/Z$/, '+00:00');
}

/** The log of the failed start is removed with the directory, so its reason becomes the message. */
async function explained(error: unknown, dataDir: string, target: RecoveryTarget): Promise<unknown> {
  const log = await readFile(path.join(dataDir, 'postgres.log'), 'utf8').catch(() => '');
  if (typeof target === 'string') return error;
  if (log.includes('requested recovery stop point is before consistent recovery point'))
    return new WalArchiveError(
      `The backup was not complete before ${target.until}: restore until a later time, or from an older backup`,
    );
  if (!log.includes('recovery ended before configured recovery target was reached')) return error;
  const last = /last completed transaction was at log time ([^\n]+)/.exec(log)?.[1];
  const end = last === undefined ? '' : ` (the last one was at ${last})`;
  return new WalArchiveError(
    `The archive has no change after ${target.until}${end}: restore until latest, or until an earlier time`,
  );
}
