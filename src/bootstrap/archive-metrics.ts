/** The archive of the write-ahead log (WAL_ARCHIVE_DIR) in GET /metrics. */
import type { WalReceiver } from '../backup/physical/wal-receiver';
import type { Metrics } from '../infra/metrics/metrics';

export function gaugeArchive(metrics: Metrics, archive: WalReceiver): void {
  metrics.gauge(
    'plinth_wal_archive_age_seconds',
    'Seconds since the archive of the write-ahead log was last complete; without a fault at most a few',
    () => archive.ageSeconds,
  );
  metrics.gauge(
    'plinth_wal_archive_gaps',
    'Gaps of the archive since the start: the log after a gap cannot be used without a new physical backup',
    () => archive.gaps,
  );
}
