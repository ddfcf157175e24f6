/** Rows of storage as storage-js reads them, and the cursor of its pages. */
import { parseJson } from '../../../common/text/json';
import { Entry, EntryKey, EntrySort } from '../../files/entry-list.repository';
import { FileRecord, NamedFileRecord } from '../../files/file';
import { isInstantKey } from '../../files/list-options';
import { invalidParameters } from '../../storage.errors';
import type {
  ObjectEntryResponse,
  ObjectInfoResponse,
  ObjectKeyResponse,
  ObjectPageResponse,
  RemovedObjectResponse,
} from './dto/objects.dto';

/** @param bucket as the request names it */
export const toObjectKey = ({ id, filename }: FileRecord, bucket: string): ObjectKeyResponse => ({
  Id: id,
  Key: `${bucket}/${filename}`,
});

/** The Cache-Control that storage-js shows for a file without one. */
const NO_CACHE = 'no-cache';

type Facts = Pick<NamedFileRecord, 'content_type' | 'size' | 'sha256' | 'cache_control' | 'updated_at'>;

const factsOf = ({ content_type, size, sha256, cache_control, updated_at }: Facts): object => ({
  eTag: `"${sha256}"`,
  size,
  mimetype: content_type,
  cacheControl: cache_control ?? NO_CACHE,
  lastModified: updated_at,
  contentLength: size,
  httpStatusCode: 200,
});

/** @param prefix the folder, which is removed from the names */
export function toObjectEntry({ name, file }: Entry, prefix: string): ObjectEntryResponse {
  const shown = name.slice(prefix.length).replace(/\/$/, '');
  return {
    name: shown,
    id: file?.id ?? null,
    created_at: file?.created_at ?? null,
    updated_at: file?.updated_at ?? null,
    last_accessed_at: file?.updated_at ?? null,
    metadata: file && factsOf(file),
  };
}

/** @param entries one more than the limit if another page follows */
export function toObjectPage(entries: readonly Entry[], limit: number): ObjectPageResponse {
  const shown = entries.slice(0, limit);
  const last = shown.at(-1);
  const hasNext = entries.length > limit;
  return {
    hasNext,
    ...(hasNext && last ? { nextCursor: formatCursor(last) } : {}),
    folders: shown
      .filter(({ isFolder }) => isFolder)
      .map(({ name }) => ({ key: name.replace(/\/$/, ''), name })),
    objects: shown.filter(({ isFolder }) => !isFolder).map((entry) => toObjectEntry(entry, '')),
  };
}

function formatCursor({ isFolder, key, name }: EntryKey): string {
  return Buffer.from(JSON.stringify([isFolder, key, name])).toString('base64url');
}

/** @throws AppError 400 for text that toObjectPage() did not return for this order */
export function parseCursor(text: string | undefined, sortBy: EntrySort): EntryKey | null {
  if (text === undefined) return null;
  const parts = parseJson(Buffer.from(text, 'base64url').toString());
  const [isFolder, key, name] = Array.isArray(parts) ? (parts as unknown[]) : [];
  if (typeof isFolder === 'boolean' && typeof key === 'string' && typeof name === 'string' && name !== '') {
    const isKey = sortBy === 'name' ? key === name : isInstantKey(key);
    if (isKey && !name.includes('\0')) return { isFolder, key, name };
  }
  throw invalidParameters('cursor must be the nextCursor of another page of the same order');
}

/** @param bucket as the request names it */
export function toObjectInfo(file: NamedFileRecord, bucket: string): ObjectInfoResponse {
  return {
    id: file.id,
    name: file.filename,
    version: file.sha256,
    bucket_id: bucket,
    size: file.size,
    content_type: file.content_type,
    cache_control: file.cache_control ?? NO_CACHE,
    etag: `"${file.sha256}"`,
    metadata: file.metadata,
    last_modified: file.updated_at,
    created_at: file.created_at,
  };
}

/** @param bucket as the request names it */
export function toRemovedObject(file: NamedFileRecord, bucket: string): RemovedObjectResponse {
  const { id, filename, owner_id, created_at, updated_at } = file;
  return {
    id,
    bucket_id: bucket,
    name: filename,
    owner: owner_id ?? '',
    created_at,
    updated_at,
    last_accessed_at: updated_at,
    metadata: factsOf(file),
  };
}
