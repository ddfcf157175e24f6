/** Files: their rows, read and checked, and their types as the API returns them and as other code of storage needs them. */
import { DatabaseError } from 'pg';
import { JsonObject } from '../../common/text/json';
import { StorageConfig } from '../../config/app-config';
import { UNIQUE_VIOLATION } from '../../database/sql/sqlstate';
import { ObjectAddress } from '../providers/object-store';
import { LIMITS, StoredRow } from '../rows/stored-row';
import { fileAlreadyExists } from '../storage.errors';
import { StorageContext } from '../storage-transaction';

const UUID_LENGTH = 36;
const NAME_KEY = 'files_bucket_id_filename_key';
const FILE_COLUMNS = `f.id, f.bucket_id, f.filename, f.content_type, f.size, f.sha256, f.owner_id, f.metadata,
  f.created_at, f.updated_at`;

/**
 * Valid only for the bytes that were scanned, because an upload that replaces them may not be scanned.
 * Selected only if there is a scanner.
 */
export const SCAN_RESULT = `case when starts_with(f.scan_result, f.object_id || '/')
  then substr(f.scan_result, ${UUID_LENGTH + 2}) end as scan_result`;

/** Columns of a FileRecord, except the slug of the bucket. */
export const columnsOf = ({ clamd }: StorageConfig): string =>
  clamd ? `${FILE_COLUMNS}, ${SCAN_RESULT}` : FILE_COLUMNS;

/** A file as the API returns it. */
export type FileRecord = Readonly<ReturnType<typeof toFileRecord>>;

export function toFileRecord(row: StoredRow) {
  return {
    id: row.uuid('id'),
    bucket_id: row.uuid('bucket_id'),
    /** Null when the bucket was deleted or is not visible to the caller. */
    bucket_slug: row.textOrNull('bucket_slug', LIMITS.slug),
    filename: row.text('filename', LIMITS.filename),
    content_type: row.text('content_type', LIMITS.contentType, 0),
    /** Bytes. */
    size: row.wholeNumber('size'),
    /** Hash of the bytes, in hexadecimal. */
    sha256: row.sha256('sha256'),
    owner_id: row.uuidOrNull('owner_id'),
    metadata: row.object('metadata'),
    /** ISO 8601. */
    created_at: row.instant('created_at').toISOString(),
    updated_at: row.instant('updated_at').toISOString(),
    ...scanResultOf(row),
  };
}

/**
 * Why the file is marked: the signature that the virus scanner found, or `unscanned`. Undefined if it is not marked.
 * @param row of a statement that may select SCAN_RESULT
 */
function scanResultOf(row: StoredRow): { readonly scan_result?: string } {
  const found = row.has('scan_result') ? row.textOrNull('scan_result', LIMITS.scanResult) : null;
  return found === null ? {} : { scan_result: found };
}

/** A file by its name, for surfaces that show the Cache-Control of single files. */
export interface NamedFileRecord extends FileRecord {
  /** Null: the Cache-Control of the bucket applies. */
  readonly cache_control: string | null;
}

export function toNamedRecord(row: StoredRow): NamedFileRecord {
  return { ...toFileRecord(row), cache_control: row.textOrNull('cache_control', LIMITS.cacheControl) };
}

/** Everything needed to send a file's bytes. */
export type FileContent = Readonly<ReturnType<typeof toContent>>;

export function toContent(context: StorageContext, found: unknown) {
  const row = new StoredRow('files', found);
  const isPublic = row.isNull('is_public') ? null : row.boolean('is_public');
  const cacheControl = row.textOrNull('cache_control', LIMITS.cacheControl);
  return {
    ...toNamedFile(context, row),
    contentType: row.text('content_type', LIMITS.contentType, 0),
    sha256: row.sha256('sha256'),
    /** Milliseconds since the epoch. */
    updatedAt: row.instant('updated_at').getTime(),
    scanResult: scanResultOf(row).scan_result,
    /** Null when the bucket was deleted or is not visible to the caller. */
    bucket: isPublic === null ? null : { isPublic, cacheControl },
  };
}

/** A file for the comparison of rows and bytes. */
export type NamedFile = Readonly<ReturnType<typeof toNamedFile>>;

export const toNamedFile = (context: StorageContext, row: StoredRow) => ({
  id: row.uuid('id'),
  filename: row.text('filename', LIMITS.filename),
  size: row.wholeNumber('size'),
  address: addressIn(context, row, 'object_id'),
});

export function addressIn({ project }: StorageContext, row: StoredRow, column: string): ObjectAddress {
  return new ObjectAddress(project.id, row.objectId(column));
}

/** A file for the S3 protocol. */
export interface S3File extends FileContent {
  readonly metadata: JsonObject;
  /** The entity tag without quotes. */
  readonly etag: string;
}

const S3_ETAG = /^[0-9a-f]{32}(-\d{1,5})?$/;

/**
 * The entity tag of the S3 protocol: the MD5 of files that were uploaded by that protocol. For other files it
 * has the form of a tag of several parts, which clients do not compare with an MD5.
 * @param row with the column s3_etag: `<object>/<tag>`, as the project's owner may have changed it
 */
export function s3Etag(row: StoredRow): string {
  const [object, tag = ''] = row.textOrNull('s3_etag', LIMITS.etag)?.split('/') ?? [];
  const isOfObject = object === row.objectId('object_id') && S3_ETAG.test(tag);
  return isOfObject ? tag : `${row.sha256('sha256').slice(0, 32)}-1`;
}

/** A file for a signed URL. */
export interface LinkedFile {
  readonly content: FileContent;
  /** The number of times that the file's signed URLs were revoked. */
  readonly revision: number;
  /** Unix seconds by the database's clock, which all replicas share. */
  readonly now: number;
}

/** Bytes that the provider has stored completely, with the facts measured on the way. */
export type StoredBytes = Pick<FileContent, 'address' | 'size' | 'sha256' | 'contentType'>;

/** @returns the result of a statement that may give a file a name @throws AppError 409 when the name is taken */
export async function unlessNameTaken<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error;
    throw error.constraint === NAME_KEY ? fileAlreadyExists() : error;
  }
}
