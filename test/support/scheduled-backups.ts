/** Scheduled backups of a TestPlinth, whose clock decides when they are due. */
import { BackupScheduler } from '../../src/backup/schedule/backup-scheduler.service';
import { eventually } from './eventually';
import type { TestProvider } from './object-servers/object-stores';
import type { TestPlinth } from './plinth';

const DAY_MS = 86_400_000;
/** Number of attempts that a scheduled backup makes. */
const ATTEMPTS = 5;
/** Milliseconds that a backup may take. */
export const SOON_MS = 90_000;

export interface Run {
  readonly id: string;
  readonly project_id: string | null;
  readonly slug: string;
  readonly status: string;
  readonly archive: string;
  readonly bytes: number;
  readonly error: string | null;
  readonly stored: { files: number; bytes: number; copied_bytes: number } | null;
  readonly removed_at: string | null;
}

/** Seconds until this time of day in UTC. @param time such as `02:15` */
export function secondsUntil(time: string): number {
  const now = Date.now();
  const today = Date.parse(`${new Date(now).toISOString().slice(0, 10)}T${time}:00Z`);
  return (today > now ? today - now : today + DAY_MS - now) / 1000;
}

/** Queues the backups that are due. */
export const tick = (plinth: TestPlinth): Promise<void> => plinth.app.get(BackupScheduler).tick();

/** Queues the backups that are due at a later time. */
export async function tickAfter(seconds: number, plinth: TestPlinth): Promise<void> {
  plinth.clock.move(seconds);
  await tick(plinth);
}

/** @param subject id of a project, or `platform` */
export async function runsOf(subject: string, plinth: TestPlinth): Promise<Run[]> {
  return (await plinth.admin.get(`/admin/v1/backups/runs?project_id=${subject}`)).body as Run[];
}

/** Waits for a number of runs that succeeded. @returns all runs, newest first */
export async function expectSucceeded(subject: string, count: number, plinth: TestPlinth): Promise<Run[]> {
  let runs: Run[] = [];
  await eventually(async () => {
    runs = await runsOf(subject, plinth);
    expect(runs.filter(({ status }) => status === 'succeeded')).toHaveLength(count);
  }, SOON_MS);
  return runs;
}

/** Makes each attempt of the next day's backup fail. */
export async function expectFailures(
  subject: string,
  isExpected: (run: Run) => boolean,
  plinth: TestPlinth,
): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    // The wait doubles with each attempt.
    await tickAfter(attempt === 1 ? DAY_MS / 1000 : 60 * 2 ** (attempt - 1), plinth);
    await eventually(async () => {
      const failed = (await runsOf(subject, plinth)).filter(isExpected);
      expect(failed).toHaveLength(attempt);
    }, SOON_MS);
  }
}

/** The settings of a storage provider, converted to settings of backups. */
export function backupSettings({ env }: TestProvider): Record<string, string> {
  const url = new URL(env.STORAGE_URL ?? '');
  url.pathname = '/kept';
  url.searchParams.set('compression', 'none');
  return { BACKUP_URL: url.href };
}
