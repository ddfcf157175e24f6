/** A copy of the whole running cluster, made with the command BASE_BACKUP of the replication protocol. */
import { randomUUID } from 'node:crypto';
import { copyFailed } from '../backup.errors';
import { notSupported } from '../../copies/copies.errors';
import { CopyMessages, ReplicationConnection } from '../../replication/replication-connection';
import { parseLsn } from './wal-position';

/** Message types: the first byte of a message. */
const [NEW_ARCHIVE, MANIFEST, DATA] = ['n', 'm', 'd'].map((letter) => letter.charCodeAt(0));

/**
 * The files of the write-ahead log that the copy needs are part of it, so it is complete without an archive of the log. A fast
 * checkpoint starts immediately instead of within minutes.
 */
const COMMAND = `BASE_BACKUP (LABEL 'plinth', CHECKPOINT 'fast', WAL, MANIFEST 'yes')`;

export interface BaseBackup {
  /** Identifies the cluster, also after it was restored. */
  readonly systemId: string;
  readonly timeline: number;
  /** The position in the write-ahead log at which its recovery begins. */
  readonly start: bigint;
  /** As in server_version_num. */
  readonly serverVersion: number;
  /** A tar file of the data directory. It must be read to its end, before the manifest. */
  cluster(): AsyncGenerator<Buffer, void, undefined>;
  /** PostgreSQL's own list of the files, for pg_verifybackup. */
  manifest(): AsyncGenerator<Buffer, void, undefined>;
}

/**
 * Calls `work` with the copy, once the server has started it.
 * @param url the URL of the superuser
 * @throws AppError 400 for a cluster with tablespaces
 */
export async function withBaseBackup<T>(url: string, work: (backup: BaseBackup) => Promise<T>): Promise<T> {
  const connection = await ReplicationConnection.open(url);
  try {
    const [system] = await connection.query<{ systemid: string }>('IDENTIFY_SYSTEM');
    const [version] = await connection.query<{ server_version_num: string }>('SHOW server_version_num');
    // Keeps the log from the beginning of the copy until the connection ends.
    await connection.query(
      `CREATE_REPLICATION_SLOT plinth_backup_${randomUUID().slice(0, 8)} TEMPORARY PHYSICAL RESERVE_WAL`,
    );
    const messages = connection.copy(COMMAND);
    const first = await nextOf(messages);
    const [started, ...tablespaces] = messages.rows;
    if (!first || !started || !system || !version) throw new Error('PostgreSQL sent no backup');
    if (tablespaces.length > 1) throw notSupported('A cluster with tablespaces cannot be backed up');
    return await work({
      systemId: system.systemid,
      start: parseLsn(started[0] ?? ''),
      timeline: Number(started[1]),
      serverVersion: Number(version.server_version_num),
      cluster: () => dataUntil(messages, MANIFEST),
      manifest: () => dataUntil(messages, undefined),
    });
  } finally {
    connection.close();
  }
}

async function nextOf(messages: CopyMessages): Promise<Buffer | null | undefined> {
  try {
    return await messages.next();
  } catch (error) {
    throw copyFailed(error as Error);
  }
}

/** The content of the messages before the one of kind `end`; undefined: before the last one. */
async function* dataUntil(
  messages: CopyMessages,
  end: number | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  for (;;) {
    const message = await nextOf(messages);
    if (!message) {
      if (end === undefined) return;
      throw new Error('PostgreSQL ended the backup early');
    }
    const [kind] = message;
    if (kind === end) return;
    if (kind === NEW_ARCHIVE) throw notSupported('A cluster with tablespaces cannot be backed up');
    if (kind === DATA) yield message.subarray(1);
  }
}
