/** How much a bucket and a project may hold (docs/storage.md, "Quotas"). The database enforces it; this is what it tells. */
import { AppError } from '../../common/errors/app-error';
import { Project } from '../../projects/project';
import { quotaExceeded } from '../storage.errors';

export type QuotaScope = 'project' | 'bucket';
type QuotaUnit = 'bytes' | 'files';

/** Null: no limit. */
export type Quota = Readonly<Record<QuotaUnit, number | null>>;

/** A quota with what is used of it. */
export interface QuotaAccount {
  readonly scope: QuotaScope;
  readonly quota: Quota;
  readonly used: Readonly<Record<QuotaUnit, number>>;
}

/** A mark that an account has reached: 80 or 95 percent of its bytes or of its files. */
export interface QuotaMark {
  readonly scope: QuotaScope;
  readonly percent: number;
  /** This very request reached it. */
  readonly isNew: boolean;
}

/** What the project's settings say: whose disk it is must set the limit, no plan guesses it. */
export function projectQuota({ settings }: Project): Quota {
  return { bytes: settings.storage_quota_bytes, files: settings.storage_quota_files };
}

/** The tightest limit on the bytes of one more file, with the error that passing it means. */
export interface ByteLimit {
  readonly bytes: number;
  readonly passed: () => AppError;
}

/** @param freed bytes that the new file may set free by taking another's place */
export function roomIn(accounts: readonly QuotaAccount[], freed: number): ByteLimit | null {
  let least: ByteLimit | null = null;
  for (const { scope, quota, used } of accounts) {
    if (quota.bytes === null) continue;
    const [bytes, total] = [Math.max(0, quota.bytes - used.bytes) + freed, quota.bytes];
    if (least === null || bytes < least.bytes)
      least = { bytes, passed: () => quotaExceeded(scope, 'bytes', total) };
  }
  return least;
}

/** @throws AppError 413 when not one more file may be there */
export function assertRoomForFile(accounts: readonly QuotaAccount[]): void {
  for (const { scope, quota, used } of accounts)
    if (quota.files !== null && used.files >= quota.files) throw quotaExceeded(scope, 'files', quota.files);
}

/** @throws AppError 413 when a file of so many bytes has no room */
export function assertRoom(accounts: readonly QuotaAccount[], size: number): void {
  assertRoomForFile(accounts);
  const room = roomIn(accounts, 0);
  if (room && size > room.bytes) throw room.passed();
}

/** At most one mark of each scope. */
const MARKS = /^(project=(80|95)!?)?(,?bucket=(80|95)!?)?$/;

/** `project=80,bucket=95!` as storage.keep_totals() leaves it. Anything else, which SQL of the owner may have set, counts as none. */
export function parseMarks(text: unknown): QuotaMark[] {
  if (typeof text !== 'string' || !MARKS.test(text)) return [];
  return [...text.matchAll(/(project|bucket)=(\d+)(!?)/g)].map(([, scope, percent, isNew]) => ({
    scope: scope as QuotaScope,
    percent: Number(percent),
    isNew: isNew === '!',
  }));
}

/** True for the account and the unit that storage.charge() names when a quota has no room. */
export function isQuota(scope: unknown, unit: unknown, quota: number): boolean {
  const isNamed = (scope === 'project' || scope === 'bucket') && (unit === 'bytes' || unit === 'files');
  return isNamed && Number.isSafeInteger(quota) && quota >= 0;
}
