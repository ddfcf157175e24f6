/**
 * Archives the write-ahead log of the embedded cluster, as pg_receivewal does: it streams the log as it is written, so that a
 * lost machine loses about a second. A replication slot keeps the log that was not archived yet, up to SLOT_LIMIT.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../common/errors/error-facts';
import { DataDirInUseError, InstanceLock } from '../../database/embedded/instance-lock';
import {
  CopyMessages,
  DATA_HEADER,
  isReportWanted,
  ReplicationConnection,
  reportOf,
  STREAMED_DATA,
} from '../../replication/replication-connection';
import { WalArchive, WalArchiveError } from './wal-archive';
import { formatLsn, parseLsn, segmentOf, startOfSegment } from './wal-position';

export const SLOT = 'plinth_wal_archive';
/** Log that PostgreSQL keeps for an archive that cannot be written, and for slots of any kind. More would fill the disk and stop the database. */
export const SLOT_LIMIT = '10GB';
export const SLOT_SETTINGS = { max_slot_wal_keep_size: SLOT_LIMIT };

/** Milliseconds between two syncs of the archive, each of which is reported to PostgreSQL. */
const SYNC_MS = 1_000;
/** Milliseconds between two reports: PostgreSQL ends a connection that is silent for 60 seconds. */
const REPORT_MS = 10_000;
const RETRY_MS = 2_000;
/** Milliseconds after which a stop no longer waits for the archive. */
const STOP_LIMIT_MS = 15_000;

export interface WalReceiverOptions {
  /** URL of the superuser. */
  readonly url: string;
  /** WAL_ARCHIVE_DIR, an absolute path. */
  readonly directory: string;
  /** Called with a line about each fault, and when archiving continues. */
  readonly say: (message: string) => void;
}

export class WalReceiver {
  private readonly stopped = new AbortController();
  private readonly ended: Promise<void>;
  private connection: ReplicationConnection | undefined;
  private lock: InstanceLock | undefined;
  private lastFault = '';
  private completeAt = performance.now();
  /** Parts of the log that PostgreSQL removed before they were archived. */
  gaps = 0;

  private constructor(private readonly options: WalReceiverOptions) {
    this.ended = this.receiveLog();
  }

  /** Archives until stop(), and connects again after a fault. */
  static start(options: WalReceiverOptions): WalReceiver {
    return new WalReceiver(options);
  }

  /**
   * Call it right before PostgreSQL is stopped, which sends the rest of its log first. Resolves when the archive has all of
   * it, or after STOP_LIMIT_MS.
   */
  async stop(): Promise<void> {
    this.stopped.abort();
    const inTime = new AbortController();
    const late = sleep(STOP_LIMIT_MS, undefined, { signal: inTime.signal }).then(
      () => this.connection?.close(),
      () => undefined,
    );
    // A write to a file system that does not answer never ends.
    await Promise.race([this.ended.then(() => this.lock?.release()), late]);
    inTime.abort();
  }

  /** Seconds since the archive was last complete. */
  get ageSeconds(): number {
    return (performance.now() - this.completeAt) / 1_000;
  }

  private async receiveLog(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      await this.receive().catch((error: unknown) => {
        if (!signal.aborted) this.sayOnce(`The write-ahead log is not archived: ${messageOf(error)}`);
      });
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Archives until the connection ends. */
  private async receive(): Promise<void> {
    const { url, directory } = this.options;
    const connection = await ReplicationConnection.open(url);
    this.connection = connection;
    let archive: WalArchive | undefined;
    try {
      const [system] = await connection.query<{ systemid: string; timeline: string }>('IDENTIFY_SYSTEM');
      if (!system) throw new Error('PostgreSQL did not identify itself');
      const timeline = Number(system.timeline);
      archive = await WalArchive.open(WalArchive.directoryOf(directory, system.systemid), timeline);
      this.lock ??= await lockArchive(archive);
      const kept = await this.keepSlot(connection);
      const branch = await this.storeHistory(connection, archive, timeline);
      archive.begin((await archive.resumeAt()) ?? branch ?? kept);
      await this.stream(connection, archive, { timeline, kept });
    } finally {
      this.connection = undefined;
      connection.close();
      await archive?.close();
    }
  }

  /** Creates the slot if it is missing or has lost its log. @returns the start of the first segment that PostgreSQL keeps */
  private async keepSlot(connection: ReplicationConnection): Promise<bigint> {
    const find = `select restart_lsn::text as lsn, wal_status = 'lost' as is_lost
      from pg_catalog.pg_replication_slots where slot_name = '${SLOT}'`;
    let [slot] = await connection.query<{ lsn: string | null; is_lost: boolean | null }>(find);
    if (slot?.is_lost) {
      this.gaps += 1;
      this.options.say(
        `The archive of the write-ahead log has a gap, because it could not be written for more than ${SLOT_LIMIT}: make a new physical backup.`,
      );
      await connection.query(`DROP_REPLICATION_SLOT ${SLOT}`);
      slot = undefined;
    }
    if (!slot) {
      await connection.query(`CREATE_REPLICATION_SLOT ${SLOT} PHYSICAL RESERVE_WAL`);
      [slot] = await connection.query<{ lsn: string; is_lost: boolean }>(find);
    }
    if (!slot?.lsn) throw new Error(`the replication slot ${SLOT} keeps no log`);
    return startOfSegment(segmentOf(parseLsn(slot.lsn)));
  }

  /** @returns the start of the first segment of this timeline; null for the first timeline */
  private async storeHistory(
    connection: ReplicationConnection,
    archive: WalArchive,
    timeline: number,
  ): Promise<bigint | null> {
    if (timeline === 1) return null;
    const [history] = await connection.query<{ content: string }>(`TIMELINE_HISTORY ${timeline}`);
    if (!history) throw new Error(`PostgreSQL has no history of timeline ${timeline}`);
    const content = String(history.content);
    await archive.putHistory(content);
    const branches = [...content.matchAll(/^\s*\d+\s+([0-9A-F]+\/[0-9A-F]+)/gm)];
    const lsn = branches.at(-1)?.[1];
    return lsn === undefined ? null : startOfSegment(segmentOf(parseLsn(lsn)));
  }

  private async stream(
    connection: ReplicationConnection,
    archive: WalArchive,
    { timeline, kept }: { timeline: number; kept: bigint },
  ): Promise<void> {
    const begin = (): CopyMessages =>
      connection.copy(
        `START_REPLICATION SLOT ${SLOT} PHYSICAL ${formatLsn(archive.position)} TIMELINE ${timeline}`,
      );
    try {
      await this.archiveAll(connection, archive, begin());
    } catch (error) {
      if (!/has already been removed/.test(messageOf(error)) || archive.position >= kept) throw error;
      this.gaps += 1;
      this.options.say(
        `The archive of the write-ahead log has a gap before ${formatLsn(kept)}, which PostgreSQL has removed: make a new physical backup.`,
      );
      archive.begin(kept);
      await this.archiveAll(connection, archive, begin());
    }
  }

  private async archiveAll(
    connection: ReplicationConnection,
    archive: WalArchive,
    messages: CopyMessages,
  ): Promise<void> {
    let [syncedAt, reportedAt, reported] = [performance.now(), 0, -1n];
    for (;;) {
      const message = await messages.next(SYNC_MS);
      if (message === undefined) return archive.sync();
      if (message !== null && message[0] === STREAMED_DATA)
        await archive.write(message.readBigUInt64BE(1), message.subarray(DATA_HEADER));
      const isAsked = message !== null && isReportWanted(message);
      const now = performance.now();
      if (!isAsked && now - syncedAt < SYNC_MS) continue;
      await archive.sync();
      syncedAt = now;
      // The message has the end of the server's log (manual, 55.4, XLogData). Without a message it has sent everything.
      const end =
        message !== null && message[0] === STREAMED_DATA ? message.readBigUInt64BE(9) : archive.position;
      if (archive.position >= end) this.completeAt = now;
      if (!isAsked && archive.position === reported && now - reportedAt < REPORT_MS) continue;
      connection.send(reportOf(archive.position));
      [reported, reportedAt] = [archive.position, now];
      this.sayThatItWorks();
    }
  }

  private sayOnce(message: string): void {
    if (message !== this.lastFault) this.options.say(message);
    this.lastFault = message;
  }

  private sayThatItWorks(): void {
    if (this.lastFault !== '') this.options.say('The write-ahead log is archived again.');
    this.lastFault = '';
  }
}

async function lockArchive({ directory }: WalArchive): Promise<InstanceLock> {
  try {
    return await InstanceLock.acquire(directory);
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error;
    throw new WalArchiveError(`another instance archives to ${directory}`, { cause: error });
  }
}

/** Removes the slot of an archive that is no longer configured: it would keep the log forever. */
export async function dropSlot(url: string, clusterDir: string): Promise<void> {
  if (!existsSync(path.join(clusterDir, 'pg_replslot', SLOT))) return;
  const connection = await ReplicationConnection.open(url);
  try {
    await connection.query(`DROP_REPLICATION_SLOT ${SLOT}`);
  } finally {
    connection.close();
  }
}
