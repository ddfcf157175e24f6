/**
 * Buckets into which a caller has just uploaded: the caller's next upload of up to 1 MiB queries the database only
 * once, when it writes the row. These entries decide nothing: the statement that writes the row finds the
 * bucket, its limits and the policies as they are then.
 */
import { growingCache } from '../../common/growing-cache';
import { StorageContext } from '../storage-transaction';
import { UploadTarget } from './target.repository';
import type { UploadRequest } from './upload';

const KEPT_MS = 10_000;
/** Maximum bytes of all keys together; each key consists mostly of claims. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Maximum bytes of a body that is received before the database is asked: a refused one was sent and stored in vain. */
const MAX_BODY = 1024 * 1024 + 64 * 1024;

type Addressed = Pick<UploadRequest, 'bucket' | 'announcedLength'>;

interface Known {
  readonly target: UploadTarget;
  readonly until: number;
}

export class KnownTargets {
  private readonly known = growingCache<Known>(MAX_BYTES, (key) => key.length);

  find(caller: StorageContext, upload: Addressed): UploadTarget | null {
    if (upload.announcedLength === null || upload.announcedLength > MAX_BODY) return null;
    const found = this.known.get(keyOf(caller, upload));
    return found && found.until > performance.now() ? found.target : null;
  }

  /** Keeps only buckets that do not restrict files: restrictions must be known before the body is read. */
  keep(caller: StorageContext, upload: Addressed, target: UploadTarget): void {
    const isFree = target.fileSizeLimit === null && target.allowedMimeTypes === null;
    if (!isFree || target.accounts.length > 0 || target.mayUpload !== 'yes') return;
    const until = performance.now() + KEPT_MS;
    const key = keyOf(caller, upload);
    this.known.set(key, { target: { ...target, knownBy: key }, until });
  }

  forget(caller: StorageContext, upload: Addressed): void {
    this.known.delete(keyOf(caller, upload));
  }
}

/** The key contains everything that the context of a caller consists of. */
const keyOf = (caller: StorageContext, { bucket }: Addressed): string => {
  const { project, role, claims, sessionId, secondFactor } = caller;
  return JSON.stringify([project.id, role, sessionId, secondFactor, bucket, claims]);
};
