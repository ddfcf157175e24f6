/**
 * Quotas of buckets and projects (docs/reference/storage.md, "Quotas"). The database enforces them; this file
 * reads and reports them.
 */
import { AppError } from '../../common/errors/app-error';
import { Project } from '../../projects/project';
import { quotaExceeded } from '../storage.errors';

export type QuotaScope = 'project' | 'bucket';
type QuotaUnit = 'bytes' | 'files';

/** Null for no limit. */
export type Quota = Readonly<Record<QuotaUnit, number | null>>;

/** A quota with its usage. */
export interface QuotaAccount {
  readonly scope: QuotaScope;
  readonly quota: Quota;
  readonly used: Readonly<Record<QuotaUnit, number>>;
}

/** A threshold that an account has reached: 80 or 95 percent of its bytes or of its files. */
export interface QuotaMark {
  readonly scope: QuotaScope;
  readonly percent: number;
  /** True if this request reached the threshold. */
  readonly isNew: boolean;
}

/** The quota in the project's settings. Plans have none: only the install's operator knows the size of the disk. */
export function projectQuota({ settings }: Project): Quota {
  return { bytes: settings.storage_quota_bytes, files: settings.storage_quota_files };
}

/** A limit on the bytes of a file, with the error for a file that exceeds it. */
export interface ByteLimit {
  readonly bytes: number;
  readonly exceeded: () => AppError;
}

/** The lowest limit of all accounts for one more file; null if there is none. @param freed bytes that an overwrite may free */
export function roomIn(accounts: readonly QuotaAccount[], freed: number): ByteLimit | null {
  let least: ByteLimit | null = null;
  for (const { scope, quota, used } of accounts) {
    if (quota.bytes === null) continue;
    const [bytes, total] = [Math.max(0, quota.bytes - used.bytes) + freed, quota.bytes];
    if (least === null || bytes < least.bytes)
      least = { bytes, exceeded: () => quotaExceeded(scope, 'bytes', total) };
  }
  return least;
}

/** @throws AppError 413 if a quota has no room for another file */
export function assertRoomForFile(accounts: readonly QuotaAccount[]): void {
  for (const { scope, quota, used } of accounts)
    if (quota.files !== null && used.files >= quota.files) throw quotaExceeded(scope, 'files', quota.files);
}

/** @throws AppError 413 if a quota has no room for a file of `size` bytes */
export function assertRoom(accounts: readonly QuotaAccount[], size: number): void {
  assertRoomForFile(accounts);
  const room = roomIn(accounts, 0);
  if (room && size > room.bytes) throw room.exceeded();
}

/** At most one mark of each scope. */
const MARKS = /^(project=(80|95)!?)?(,?bucket=(80|95)!?)?$/;

/** Parses `project=80,bucket=95!`, the setting of storage.keep_totals(). Other text, which the project's owner may have set, gives no marks. */
export function parseMarks(text: unknown): QuotaMark[] {
  if (typeof text !== 'string' || !MARKS.test(text)) return [];
  return [...text.matchAll(/(project|bucket)=(\d+)(!?)/g)].map(([, scope, percent, isNew]) => ({
    scope: scope === 'project' ? 'project' : 'bucket',
    percent: Number(percent),
    isNew: isNew === '!',
  }));
}

/** True for values that storage.charge() reports when a quota has no room. */
export function isQuota(scope: unknown, unit: unknown, quota: number): boolean {
  const isNamed = (scope === 'project' || scope === 'bucket') && (unit === 'bytes' || unit === 'files');
  return isNamed && Number.isSafeInteger(quota) && quota >= 0;
}
