/** Starts and stops the database of an install. Loads nothing of the application, so that its faults are reported immediately. */
import { join } from 'node:path';
import { AppConfig } from '../config/app-config';
import { directoryFault } from '../config/directory-error';
import { Ballast } from '../database/embedded/ballast';
import { connectionLimits } from '../database/embedded/cluster-limits';
import type { EmbeddedPostgresError } from '../database/embedded/embedded-postgres.error';
import { diskSettings } from '../database/embedded/disk-space';
import { EmbeddedSupervisor } from '../database/embedded/embedded-supervisor';
import { InstanceLock } from '../database/embedded/instance-lock';
import { assertNoUnfinishedRestore } from '../backup/physical/unfinished-restore';
import { dropSlot, SLOT_SETTINGS, WalReceiver } from '../backup/physical/wal-receiver';

/** Name of the platform database on the embedded server. */
const PLATFORM_DATABASE = 'plinth';

export interface RunningDatabase {
  readonly platformUrl: string;
  /** Resolves with the fault when an embedded PostgreSQL cannot be kept running. */
  readonly lost: Promise<EmbeddedPostgresError>;
  /** Null without WAL_ARCHIVE_DIR. */
  readonly archive: WalReceiver | null;
  stop(): Promise<void>;
}

/**
 * Locks the data directory and, without DATABASE_URL, starts the PostgreSQL in it.
 * @param say called with a line about each step that takes time, and about each unexpected end of PostgreSQL
 * @throws DataDirInUseError, DirectoryError, EmbeddedPostgresError
 */
export async function startDatabase(
  config: AppConfig,
  say: (message: string) => void,
): Promise<RunningDatabase> {
  if (config.database.url) {
    return {
      platformUrl: config.database.url,
      lost: new Promise(() => undefined),
      archive: null,
      stop: async () => undefined,
    };
  }
  const { dataDir, database } = config;
  const lock = await InstanceLock.acquire(dataDir).catch((error: unknown) => {
    throw directoryFault('DATA_DIR', dataDir, error);
  });
  try {
    await assertNoUnfinishedRestore(dataDir);
    const { ballastBytes: bytes, reserveBytes: reserve } = config.disk;
    const ballast = await Ballast.keep({ dataDir, bytes, reserve, say });
    const settings = {
      ...connectionLimits(database.maxConnections * config.server.workers),
      ...(await diskSettings(dataDir)),
      ...SLOT_SETTINGS,
    };
    const postgres = await EmbeddedSupervisor.start(
      { dataDir, port: database.embeddedPort || undefined, settings, onProgress: say },
      say,
    );
    const platformUrl = platformUrlOf(postgres);
    const receiver = await startArchiving(postgres.url, config, say);
    ballast.watch();
    return {
      platformUrl,
      lost: postgres.gaveUp,
      archive: receiver,
      stop: async () => {
        // Both at the same time, because PostgreSQL does not end until the rest of its log was archived.
        try {
          await Promise.all([receiver?.stop(), postgres.stop(), ballast.stop()]);
        } finally {
          await lock.release();
        }
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function startArchiving(
  url: string,
  { dataDir, database: { walArchiveDir: directory } }: AppConfig,
  say: (message: string) => void,
): Promise<WalReceiver | null> {
  if (directory !== null) return WalReceiver.start({ url, directory, say });
  await dropSlot(url, join(dataDir, 'postgres'));
  return null;
}

function platformUrlOf({ url, socketDirectory }: EmbeddedSupervisor): string {
  const platformUrl = new URL(url);
  platformUrl.pathname = `/${PLATFORM_DATABASE}`;
  // As in libpq: the URL keeps the server's address for other clients, and Plinth connects through the socket.
  if (socketDirectory !== null) platformUrl.searchParams.set('host', socketDirectory);
  return platformUrl.href;
}
