/** Ages of the last good backups in GET /metrics. Every process reads them from the platform database. */
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Clock } from '../../common/time/clock';
import { Metrics } from '../../infra/metrics/metrics';
import { BackupStates, SubjectState } from './backup-state.service';
import { PLATFORM } from './run.repository';

/** Projects with a series of their own: those with the oldest backups. */
const MAX_PROJECTS = 100;

@Injectable()
export class BackupMetrics {
  constructor({ registry }: Metrics, backups: BackupStates, clock: Clock) {
    const registers = [registry];
    // The other metrics are needed most while the platform database cannot be reached.
    const recent = (): Promise<SubjectState[]> => backups.recent().catch(() => []);
    const now = (): number => clock.now();
    new Gauge({
      name: 'plinth_backup_age_seconds',
      aggregator: 'max',
      help: `Age of the last good scheduled backup: of the ${MAX_PROJECTS} projects with the oldest ones, and, without a project, of the platform's records`,
      labelNames: ['project'],
      registers,
      async collect() {
        this.reset();
        for (const { slug, at } of oldest(await recent(), ({ lastSuccess }) => lastSuccess?.startedAt))
          this.set({ project: slug }, (now() - at) / 1000);
      },
    });
    new Gauge({
      name: 'plinth_backup_rehearsal_age_seconds',
      aggregator: 'max',
      help: `Age of the last good rehearsal of a restore, of ${MAX_PROJECTS} projects and the platform as above`,
      labelNames: ['project'],
      registers,
      async collect() {
        this.reset();
        const states = await recent();
        for (const { slug, at } of oldest(states, ({ rehearsal }) => rehearsal?.lastGoodAt))
          this.set({ project: slug }, (now() - at) / 1000);
      },
    });
    new Gauge({
      name: 'plinth_backup_rehearsals_failed',
      aggregator: 'max',
      help: 'Projects, and the records of the platform, whose last rehearsal of a restore failed',
      registers,
      async collect() {
        this.set((await recent()).filter(({ rehearsal }) => (rehearsal?.error ?? null) !== null).length);
      },
    });
    new Gauge({
      name: 'plinth_backups_missing',
      aggregator: 'max',
      help: 'Projects, and the records of the platform, that have no backup for the last time of their schedule',
      registers,
      async collect() {
        this.set((await recent()).filter(({ isMissing }) => isMissing).length);
      },
    });
    new Gauge({
      name: 'plinth_backups_failed',
      help: 'Projects, and the records of the platform, whose last scheduled backup failed',
      registers,
      aggregator: 'max',
      async collect() {
        this.set((await recent()).filter(({ lastRun }) => lastRun?.status === 'failed').length);
      },
    });
  }
}

function oldest(
  states: readonly SubjectState[],
  timeOf: (state: SubjectState) => Date | null | undefined,
): { slug: string; at: number }[] {
  return states
    .flatMap((state) => {
      const at = timeOf(state)?.getTime();
      return at === undefined ? [] : [{ slug: state.subject === PLATFORM ? '' : state.slug, at }];
    })
    .sort((a, b) => a.at - b.at)
    .slice(0, MAX_PROJECTS + 1);
}
