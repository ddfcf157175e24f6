/** Ages of the last good backups in GET /metrics. Every process reads them from the platform database. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { Metrics } from '../../infra/metrics/metrics';
import { BackupStates, SubjectState } from './backup-state.service';
import { PLATFORM } from './run.repository';

/** Projects with their own series: the projects with the oldest backups. */
const MAX_PROJECTS = 100;

@Injectable()
export class BackupMetrics {
  constructor(metrics: Metrics, backups: BackupStates, clock: Clock) {
    // Failures are ignored: the other metrics are needed most while the platform database is unreachable.
    const recent = (): Promise<SubjectState[]> => backups.recent().catch(() => []);
    const ages = (name: string, help: string, timeOf: TimeOf): void =>
      metrics.gauges(
        name,
        help,
        ['project'],
        async () =>
          oldest(await recent(), timeOf).map(({ slug, at }) => [
            { project: slug },
            (clock.now() - at) / 1000,
          ]),
        'max',
      );
    const count = (name: string, of: string, isCounted: (state: SubjectState) => boolean): void =>
      metrics.gauge(
        name,
        `Projects, and the records of the platform, ${of}`,
        async () => (await recent()).filter(isCounted).length,
        'max',
      );
    ages(
      'plinth_backup_age_seconds',
      `Age of the last good scheduled backup: of the ${MAX_PROJECTS} projects with the oldest ones, and, without a project, of the platform's records`,
      ({ lastSuccess }) => lastSuccess?.startedAt,
    );
    ages(
      'plinth_backup_rehearsal_age_seconds',
      `Age of the last good rehearsal of a restore, of ${MAX_PROJECTS} projects and the platform as above`,
      ({ rehearsal }) => rehearsal?.lastGoodAt,
    );
    count(
      'plinth_backup_rehearsals_failed',
      'whose last rehearsal of a restore failed',
      ({ rehearsal }) => (rehearsal?.error ?? null) !== null,
    );
    count(
      'plinth_backups_missing',
      'that have no backup for the last time of their schedule',
      ({ isMissing }) => isMissing,
    );
    count(
      'plinth_backups_failed',
      'whose last scheduled backup failed',
      ({ lastRun }) => lastRun?.status === 'failed',
    );
  }
}

type TimeOf = (state: SubjectState) => Date | null | undefined;

function oldest(states: readonly SubjectState[], timeOf: TimeOf): { slug: string; at: number }[] {
  return states
    .flatMap((state) => {
      const at = timeOf(state)?.getTime();
      return at === undefined ? [] : [{ slug: state.subject === PLATFORM ? '' : state.slug, at }];
    })
    .sort((a, b) => a.at - b.at)
    .slice(0, MAX_PROJECTS + 1);
}
