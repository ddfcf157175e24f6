/** An upload in several requests, and what its client may send (TUS 1.0, https://tus.io/protocols/resumable-upload). */
import { isStorableText } from '../../common/text/storable';
import { FileAddress } from '../files/named-files.service';
import { assertFilename, parseMetadata } from '../files/upload-rules';
import { UploadParameters } from '../files/upload';
import { parseContentType } from '../content-type/content-type';
import { ObjectAddress } from '../providers/object-store';
import { StoredRow } from '../rows/stored-row';
import { invalidParameters } from '../storage.errors';

/** Maximum bytes of a header, which Node limits to 16 KiB. */
const MAX_HEADER = 64 * 1024;
const MAX_ROLE = 64;
export const UPLOAD_COLUMNS = `id, upload_metadata, concat, upsert, role, subject, length, received, expires_at,
  completed_at is not null as is_completed`;

export type ResumableUpload = Readonly<ReturnType<typeof toUpload>>;

export function toUpload(found: unknown) {
  const row = new StoredRow('resumable_uploads', found);
  return {
    id: row.uuid('id'),
    /** Upload-Metadata as the client sent it. */
    uploadMetadata: row.text('upload_metadata', MAX_HEADER, 0),
    /** Upload-Concat as the client sent it; null for an ordinary upload. */
    concat: row.textOrNull('concat', MAX_HEADER),
    /** Whether the upload may replace a file. */
    upsert: row.boolean('upsert'),
    owner: ownerIn(row),
    /** Bytes of the whole file. */
    length: row.wholeNumber('length'),
    /** Number of bytes that are stored. */
    received: row.wholeNumber('received'),
    expiresAt: row.instant('expires_at'),
    /** Whether the file is visible. */
    isCompleted: row.boolean('is_completed'),
  };
}

const ownerIn = (row: StoredRow): UploadOwner => ({
  role: row.text('role', MAX_ROLE),
  subject: row.textOrNull('subject', MAX_HEADER),
});

/** The sender of the request that began an upload. Nobody else may continue it. */
export interface UploadOwner {
  readonly role: string;
  /** The user, or the issuer and the subject of a token without a user; null for a key. */
  readonly subject: string | null;
}

export type NewResumableUpload = Omit<ResumableUpload, 'received' | 'expiresAt' | 'isCompleted'>;

/** Bytes of an upload that are stored as one object. */
export interface UploadPart {
  readonly address: ObjectAddress;
  /** Offset in the file. */
  readonly start: number;
  readonly size: number;
  /** MD5 of a numbered part, whose number is `start`; null for other parts. */
  readonly etag?: string | null;
}

/** The value of `concat` for uploads in numbered parts; no client of TUS can send it. */
export const MULTIPART = 'multipart';

/** A partial upload does not become a file: a final upload joins several of them. */
export const isPartial = ({ concat }: Pick<ResumableUpload, 'concat'>): boolean => concat === 'partial';

const PAIR = /^([\x21-\x2b\x2d-\x7e]+)(?: ([A-Za-z0-9+/]*={0,2}))?$/;
/** Maximum number of pairs in the header; Supabase's clients send five. */
const MAX_PAIRS = 50;

/** The pairs of Upload-Metadata. @throws AppError 400 for a malformed header */
function parseUploadMetadata(header: string): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  const given = header === '' ? [] : header.split(',', MAX_PAIRS + 1);
  if (given.length > MAX_PAIRS) throw invalidParameters('Upload-Metadata has too many keys');
  for (const pair of given) {
    const [, key, value = ''] = PAIR.exec(pair.trim()) ?? [];
    if (key === undefined || pairs.has(key))
      throw invalidParameters('Upload-Metadata must be distinct keys, each with a value in base64');
    pairs.set(key, Buffer.from(value, 'base64').toString());
  }
  return pairs;
}

/** Formats Upload-Metadata; members without a value are left out. */
export const formatUploadMetadata = (pairs: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(pairs)
    .flatMap(([key, value]) =>
      value === undefined ? [] : [`${key} ${Buffer.from(value).toString('base64')}`],
    )
    .join();

/**
 * The file that an upload is to become, by Upload-Metadata with the names that Supabase's clients use.
 * @throws AppError 400 for an invalid value
 */
export function intendedFileOf({ uploadMetadata, upsert }: NewResumableUpload): {
  readonly address: FileAddress;
  readonly contentType: string | null;
  readonly options: UploadParameters;
} {
  const given = parseUploadMetadata(uploadMetadata);
  const [bucket, filename] = [given.get('bucketName'), given.get('objectName')];
  if (bucket === undefined || filename === undefined || !isStorableText(bucket))
    throw invalidParameters('Upload-Metadata must have bucketName and objectName');
  assertFilename(filename);
  const metadata = given.get('metadata');
  if (metadata !== undefined) parseMetadata(metadata);
  const contentType = given.get('contentType') ?? null;
  if (contentType !== null) parseContentType(contentType);
  return {
    address: { bucket, filename },
    contentType,
    options: { filename, upsert: String(upsert), cacheControl: given.get('cacheControl'), metadata },
  };
}
