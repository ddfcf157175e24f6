/** A file as the API returns it, and as other code of storage needs it. */
import { JsonObject } from '../../common/text/json';
import { ObjectAddress } from '../providers/object-address';
import { LIMITS } from '../rows/limits';
import { StoredRow } from '../rows/stored-row';

const UUID_LENGTH = 36;

export interface FileRecord {
  readonly id: string;
  readonly bucket_id: string;
  /** Null when the bucket was deleted or is not visible to the caller. */
  readonly bucket_slug: string | null;
  readonly filename: string;
  readonly content_type: string;
  /** Bytes. */
  readonly size: number;
  /** Hash of the bytes, in hexadecimal. */
  readonly sha256: string;
  readonly owner_id: string | null;
  readonly metadata: JsonObject;
  /** ISO 8601. */
  readonly created_at: string;
  readonly updated_at: string;
  /** Why the file is marked: the signature that the virus scanner found, or `unscanned`. Undefined if it is not marked. */
  readonly scan_result?: string;
}

/** A file by its name, for surfaces that show the Cache-Control of single files. */
export interface NamedFileRecord extends FileRecord {
  /** Null: the Cache-Control of the bucket applies. */
  readonly cache_control: string | null;
}

/** Everything needed to send a file's bytes. */
export interface FileContent {
  readonly id: string;
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  readonly address: ObjectAddress;
  /** As scan_result of FileRecord. */
  readonly scanResult?: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  /** Null when the bucket was deleted or is not visible to the caller. */
  readonly bucket: { readonly isPublic: boolean; readonly cacheControl: string | null } | null;
}

/** A file for the S3 protocol. */
export interface S3File extends FileContent {
  readonly metadata: JsonObject;
  /** The entity tag without quotes. */
  readonly etag: string;
}

/**
 * Valid only for the bytes that were scanned, because an upload that replaces them may not be scanned.
 * Selected only if there is a scanner.
 */
export const SCAN_RESULT = `case when starts_with(f.scan_result, f.object_id || '/')
  then substr(f.scan_result, ${UUID_LENGTH + 2}) end as scan_result`;

/** @param row of a statement that may select SCAN_RESULT */
export function scanResultOf(row: StoredRow): Pick<FileRecord, 'scan_result'> {
  const found = row.has('scan_result') ? row.textOrNull('scan_result', LIMITS.scanResult) : null;
  return found === null ? {} : { scan_result: found };
}

const S3_ETAG = /^[0-9a-f]{32}(-\d{1,5})?$/;

/**
 * The entity tag of the S3 protocol: the MD5 of files that were uploaded by that protocol. For other files it
 * has the form of a tag of several parts, which clients do not compare with an MD5.
 * @param stored `<object>/<tag>`, as the project's owner may have changed it
 */
export function s3Etag(stored: string | null, objectId: string, sha256: string): string {
  const [object, tag = ''] = stored?.split('/') ?? [];
  return object === objectId && S3_ETAG.test(tag) ? tag : `${sha256.slice(0, 32)}-1`;
}

/** A file for the comparison of rows and bytes. */
export type NamedFile = Pick<FileContent, 'id' | 'filename' | 'size' | 'address'>;

/** A file for a signed URL. */
export interface LinkedFile {
  readonly content: FileContent;
  /** The number of times that the file's signed URLs were revoked. */
  readonly revision: number;
  /** Unix seconds by the database's clock, which all replicas share. */
  readonly now: number;
}

/** Bytes that the provider has stored completely, with the facts measured on the way. */
export interface StoredBytes {
  readonly address: ObjectAddress;
  readonly size: number;
  readonly sha256: string;
  readonly contentType: string;
}
