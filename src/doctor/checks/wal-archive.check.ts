/** Checks whether the write-ahead log of the embedded PostgreSQL is archived, and how far the archive is behind. */
import { Inject, Injectable } from '@nestjs/common';
import { SLOT, SLOT_LIMIT } from '../../backup/physical/wal-receiver';
import { APP_CONFIG, AppConfig } from '../../config/app-config';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import { DatabaseServer, MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { DoctorCheck, Finding } from '../finding';

const MIB = 1024 * 1024;
/** Bytes of log that are not archived yet, above which the archive counts as too slow: eight files of the log. */
const BEHIND = 128 * MIB;

/** A slot without a position has reserved no log yet. */
const FIND_SLOT = `
  select active as is_active, wal_status = 'lost' as is_lost,
    pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_flush_lsn(), restart_lsn)::float8 as behind
  from pg_catalog.pg_replication_slots where slot_name = $1`;

interface SlotState {
  readonly is_active: boolean;
  readonly is_lost: boolean | null;
  /** Bytes between the end of the log and the durable part of the archive. */
  readonly behind: number | null;
}

@Injectable()
export class WalArchiveCheck extends DoctorCheck {
  readonly name = 'wal_archive';

  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {
    super();
  }

  async find(): Promise<Finding[]> {
    const { url, walArchiveDir } = this.config.database;
    if (url !== null) return [this.skipped('only the embedded PostgreSQL is archived by Plinth')];
    if (walArchiveDir === null)
      return [this.skipped('WAL_ARCHIVE_DIR is not set: no recovery to a point in time')];
    const server = new DatabaseServer(this.platformUrl);
    const slot = await server.asAdmin(MAINTENANCE_DATABASE, async (client) => {
      const { rows } = await client.query<SlotState>(FIND_SLOT, [SLOT]);
      return rows[0];
    });
    return [this.findingOf(slot, walArchiveDir)];
  }

  private findingOf(slot: SlotState | undefined, directory: string): Finding {
    const remedy = `Check that ${directory} is mounted, writable and not full; the log of the server has the reason.`;
    if (slot?.is_lost) {
      return this.failed(
        `the archive has a gap, because PostgreSQL kept more than ${SLOT_LIMIT} of log for it`,
        `${remedy} Then run plinth backup --physical: earlier backups cannot be recovered across the gap.`,
      );
    }
    if (slot === undefined || slot.behind === null)
      return this.failed(`no log is archived in ${directory}`, remedy);
    const behind = `${Math.ceil(Math.max(0, slot.behind) / MIB)} MiB`;
    if (!slot.is_active) {
      return this.failed(
        `the log is not archived now; ${behind} wait on the disk of the database, which keeps up to ${SLOT_LIMIT}`,
        remedy,
      );
    }
    if (slot.behind > BEHIND)
      return this.warning(
        `the archive is ${behind} of log behind`,
        `Use a faster disk or network. ${remedy}`,
      );
    return this.ok(`the archive in ${directory} is at most ${behind} of log behind`);
  }
}
