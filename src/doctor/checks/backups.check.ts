/** Checks whether backups are scheduled, can be made, and exist. */
import { Inject, Injectable } from '@nestjs/common';
import { stat } from 'node:fs/promises';
import { messageOf } from '../../common/errors/error-facts';
import { BackupDestination } from '../../backup/schedule/backup-destination';
import { BackupPassphrase } from '../../backup/schedule/backup-passphrase';
import { BackupStates, SubjectState } from '../../backup/schedule/backup-state.service';
import { Clock } from '../../common/time/clock';
import { APP_CONFIG, AppConfig } from '../../config/app-config';
import { DoctorCheck, Finding } from '../finding';

/** Maximum number of projects that the check names. */
const NAMED = 10;
const HOUR_MS = 3_600_000;

@Injectable()
export class BackupsCheck extends DoctorCheck {
  readonly name = 'backups';

  constructor(
    private readonly states: BackupStates,
    private readonly passphrase: BackupPassphrase,
    private readonly destination: BackupDestination,
    private readonly clock: Clock,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {
    super();
  }

  async find(): Promise<Finding[]> {
    const all = await this.states.list();
    const scheduled = all.filter(({ schedule }) => schedule?.enabled);
    if (scheduled.length === 0) {
      return [
        this.warning(
          'no backups are scheduled',
          'Set BACKUP_PASSPHRASE, and run plinth backup schedule --all --at 3 --keep 7.',
        ),
      ];
    }
    const faults = await this.faultsOfSettings();
    return [
      ...faults,
      ...(await this.onDiskOfData()),
      ...missingOf(scheduled).map((state) => this.missing(state)),
      ...this.unscheduled(all),
      this.summary(scheduled),
    ];
  }

  private async faultsOfSettings(): Promise<Finding[]> {
    const found: Finding[] = [];
    try {
      this.passphrase.get();
    } catch (error) {
      found.push(
        this.failed(messageOf(error), 'Scheduled backups fail until the server has the passphrase.'),
      );
    }
    try {
      await this.destination.assertAvailable();
    } catch (error) {
      const reason = error instanceof Error && error.cause ? messageOf(error.cause) : messageOf(error);
      found.push(
        this.failed(
          `backups cannot be stored in ${this.destination.name}: ${reason}`,
          'Check the BACKUP_ settings, the directory or bucket, and its permissions.',
        ),
      );
    }
    return found;
  }

  private async onDiskOfData(): Promise<Finding[]> {
    const { dataDir, backups, storage, database } = this.config;
    if (backups.destination.provider !== 'disk') return [];
    const [place, ...data] = await Promise.all(
      [
        backups.destination.diskDir,
        ...(database.url === null ? [dataDir] : []),
        ...(storage.provider === 'disk' ? [storage.diskDir] : []),
      ].map(async (directory) => (await stat(directory).catch(() => null))?.dev),
    );
    if (place === undefined || !data.includes(place)) return [];
    return [
      this.warning(
        'backups are stored on the disk of the data, and would be lost with it',
        'Name another disk, or a bucket, in BACKUP_URL.',
      ),
    ];
  }

  private missing({ slug, lastSuccess, lastRun }: SubjectState): Finding {
    const age = lastSuccess
      ? `the last one is ${this.hoursSince(lastSuccess.startedAt)} hours old`
      : 'there is none';
    const reason = lastRun?.error ? `; the last attempt failed: ${lastRun.error}` : '';
    return this.failed(
      `the scheduled backup of ${slug} is missing, ${age}${reason}`,
      'Fix the reason, then run plinth backup run; plinth backup runs lists the attempts.',
    );
  }

  private unscheduled(all: readonly SubjectState[]): Finding[] {
    const slugs = all.filter(({ schedule }) => !schedule?.enabled).map(({ slug }) => slug);
    if (slugs.length === 0) return [];
    const named = slugs.slice(0, NAMED).join(', ') + (slugs.length > NAMED ? ', ...' : '');
    return [
      this.warning(
        `${slugs.length} are not backed up by schedule: ${named}`,
        'Run plinth backup schedule --all --at 3, or plinth backup schedule <project> --remove where it is off.',
      ),
    ];
  }

  private summary(scheduled: readonly SubjectState[]): Finding {
    const oldest = scheduled
      .flatMap(({ lastSuccess }) => (lastSuccess ? [lastSuccess.startedAt] : []))
      .sort((a, b) => a.getTime() - b.getTime())[0];
    const age = oldest
      ? `the oldest last backup is ${this.hoursSince(oldest)} hours old`
      : 'none was due yet';
    return this.ok(`${scheduled.length} backups are scheduled to ${this.destination.name}; ${age}`);
  }

  private hoursSince(time: Date): number {
    return Math.max(0, Math.floor((this.clock.now() - time.getTime()) / HOUR_MS));
  }
}

function missingOf(states: readonly SubjectState[]): SubjectState[] {
  return states.filter(({ isMissing }) => isMissing).slice(0, NAMED);
}
