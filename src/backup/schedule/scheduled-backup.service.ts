/** Makes one scheduled backup: writes the archive, records the outcome, and removes archives that are no longer kept. */
import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { BACKUP_CONFIG, BackupConfig, DATABASE_CONFIG, DatabaseConfig } from '../../config/app-config';
import { InstallBackup } from '../install-backup.service';
import type { PhysicalHeader } from '../physical/physical-archive';
import { PhysicalBackup } from '../physical/physical-backup.service';
import { pruneArchive, WalArchive } from '../physical/wal-archive';
import { ProjectBackup, type StoreFiles } from '../project-backup.service';
import type { StoredTotals } from '../stored/store-writer';
import { StoredFiles } from '../stored/stored-files.service';
import { ArchivedDiskObjectStore } from '../../storage/providers/archived-disk-object-store';
import { isProjectId, ObjectStore } from '../../storage/providers/object-store';
import { BackupDestination } from './backup-destination';
import { BackupPassphrase } from './backup-passphrase';
import { BackupStates, SubjectState } from './backup-state.service';
import { type BackupRun, NewRun, PHYSICAL, PLATFORM, RunRepository, type Written } from './run.repository';

/** Characters of an error that the row of a run holds. */
const MAX_ERROR = 1_000;
/** Without a schedule, all archives of runs on request are kept. */
const MAX_KEEP = 2 ** 31 - 1;

@Injectable()
export class ScheduledBackup {
  private readonly logger = new Logger('Backup');
  private output: Writable | undefined;
  private stopped = false;

  constructor(
    private readonly states: BackupStates,
    private readonly runs: RunRepository,
    private readonly destination: BackupDestination,
    private readonly passphrase: BackupPassphrase,
    private readonly projects: ProjectBackup,
    private readonly install: InstallBackup,
    private readonly physical: PhysicalBackup,
    private readonly store: ObjectStore,
    private readonly stored: StoredFiles,
    private readonly clock: Clock,
    @Inject(BACKUP_CONFIG) private readonly config: BackupConfig,
    @Inject(DATABASE_CONFIG) private readonly database: DatabaseConfig,
  ) {}

  /** Ends the backup that is being made, so that the shutdown does not wait for it. The next start makes it again. */
  stop(): void {
    this.stopped = true;
    this.output?.destroy(new Error('Plinth was stopped'));
  }

  /**
   * Does nothing if no backup is due any more, another process makes it, or its project was deleted.
   * @param requestedAt makes a backup regardless of the schedule; null: only if one is due
   */
  async make(subject: string, requestedAt: Date | null): Promise<void> {
    await this.runs.whileLocked(subject, async () => {
      // The process of any unfinished run has ended, since this process now holds the lock.
      await this.runs.failRunning(subject, this.clock.date());
      const state = (await this.states.list()).find((one) => one.subject === subject);
      const dueAt = requestedAt ?? (state?.isDue && state.dueAt !== null ? new Date(state.dueAt) : null);
      if (state && dueAt) await this.attempt(state, dueAt);
    });
  }

  private async attempt(state: SubjectState, dueAt: Date): Promise<void> {
    const { subject, slug } = state;
    const [id, startedAt] = [randomUUID(), this.clock.date()];
    const archive = this.destination.archiveName(slug, startedAt, id);
    const run = { id, subject, slug, dueAt, startedAt, destination: this.destination.name, archive };
    await this.runs.begin(run);
    let header: PhysicalHeader | null = null;
    try {
      const { bytes, stored, ...written } = await this.write(run);
      header = written.header;
      const firstWalFile = header?.first_wal_file ?? null;
      await this.runs.succeed(id, { bytes, firstWalFile, stored }, this.clock.date());
      this.logger.log(`backed up ${slug} to ${this.destination.name}: ${archive}, ${bytes} bytes`);
    } catch (error) {
      await this.runs.fail(id, reasonOf(error), this.clock.date());
      this.logger.error(`the backup of ${slug} failed: ${reasonOf(error)}`);
      return;
    }
    try {
      await this.removeExcess(state, id);
      if (header) await this.pruneLog(header);
    } catch (error) {
      this.logger.warn(`old backups of ${slug} were not removed: ${reasonOf(error)}`);
    }
  }

  /** @returns bytes of the archive, and the header of a physical backup */
  private async write({
    id,
    subject,
    archive,
  }: NewRun): Promise<Pick<Written, 'bytes' | 'stored'> & { header: PhysicalHeader | null }> {
    if (this.stopped) throw new Error('Plinth was stopped');
    const key = await this.passphrase.key();
    let header: PhysicalHeader | null = null;
    let stored: StoredTotals | null = null;
    const bytes = await this.destination.put(subject, archive, async (output) => {
      this.output = output;
      const open = async (): Promise<Writable> => output;
      try {
        const { compression, incremental } = this.config;
        if (subject === PHYSICAL)
          header = await this.physical.write(this.passphrase.get(), true, open, compression);
        else if (subject === PLATFORM) await this.install.writePlatform(key, open, compression);
        else {
          const totals = { files: 0, bytes: 0, copiedBytes: 0, storeBytes: 0 };
          const store: StoreFiles = (files) => this.stored.add(subject, id, files, totals);
          if (incremental) stored = totals;
          await this.projects.write(subject, key, open, compression, incremental ? store : undefined);
        }
      } finally {
        this.output = undefined;
      }
    });
    return { bytes, header, stored };
  }

  /** Removes files of the write-ahead log, and archived files of projects, that no kept physical backup needs. */
  private async pruneLog({ system_id: systemId, first_wal_file: newest }: PhysicalHeader): Promise<void> {
    const { walArchiveDir } = this.database;
    if (walArchiveDir === null) return;
    // Names have the timeline first, and then the position.
    const kept = await this.runs.listPhysical(this.destination.name);
    const needed = [newest, ...kept.map(({ file }) => file)];
    const [oldest = newest] = needed.sort((a, b) => a.slice(8).localeCompare(b.slice(8)));
    const removed = await pruneArchive(WalArchive.directoryOf(walArchiveDir, systemId), oldest);
    if (removed > 0) this.logger.log(`removed ${removed} files of the write-ahead log before ${oldest}`);
    if (!(this.store instanceof ArchivedDiskObjectStore) || kept.length === 0) return;
    const since = Math.min(...kept.map(({ startedAt }) => startedAt.getTime()));
    const files = await this.store.pruneArchive(since);
    if (files > 0) this.logger.log(`removed ${files} archived files that were deleted before`);
  }

  private async pruneFiles(subject: string, removed: readonly BackupRun[], newest: string): Promise<void> {
    const ids = removed.map(({ id }) => id);
    const { count, bytes } = await this.stored.prune(subject, ids);
    if (count === 0) return;
    await this.runs.shrinkStore(newest, bytes);
    this.logger.log(`removed ${count} stored files that no archive of ${subject} needs`);
  }

  /** Removes only archives that a run recorded in this destination, and only after a newer good backup. */
  private async removeExcess({ subject, slug, schedule }: SubjectState, newest: string): Promise<void> {
    await this.runs.prune(subject);
    const keep = schedule?.keep ?? MAX_KEEP;
    const excess = await this.runs.listExcess(subject, this.destination.name, keep);
    if (excess.length === 0) return;
    await this.destination.remove(
      subject,
      excess.map(({ archive }) => archive),
    );
    if (isProjectId(subject)) await this.pruneFiles(subject, excess, newest);
    await this.runs.markRemoved(
      excess.map(({ id }) => id),
      this.clock.date(),
    );
    const old = excess.filter(({ status }) => status === 'succeeded').length;
    if (old > 0) this.logger.log(`removed ${old} old backups of ${slug}`);
  }
}

/** Includes the cause, where a storage provider's error gives the reason. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause ? `: ${messageOf(error.cause)}` : '';
  return (messageOf(error) + cause).slice(0, MAX_ERROR);
}
