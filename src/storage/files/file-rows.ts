/** Columns of storage.files, and files as rows hold them. */
import { DatabaseError } from 'pg';
import { StorageConfig } from '../../config/app-config';
import { UNIQUE_VIOLATION } from '../../database/sql/sqlstate';
import { ObjectAddress } from '../providers/object-address';
import { LIMITS } from '../rows/limits';
import { StoredRow } from '../rows/stored-row';
import { StorageContext } from '../storage-transaction';
import { fileAlreadyExists } from '../storage.errors';
import { FileRecord, NamedFileRecord, SCAN_RESULT, scanResultOf } from './file';

const NAME_KEY = 'files_bucket_id_filename_key';
const FILE_COLUMNS = `f.id, f.bucket_id, f.filename, f.content_type, f.size, f.sha256, f.owner_id, f.metadata,
  f.created_at, f.updated_at`;

/** Columns of a FileRecord, except the slug of the bucket. */
export const columnsOf = ({ clamd }: StorageConfig): string =>
  clamd ? `${FILE_COLUMNS}, ${SCAN_RESULT}` : FILE_COLUMNS;

export function addressIn({ project }: StorageContext, row: StoredRow, column: string): ObjectAddress {
  return new ObjectAddress(project.id, row.objectId(column));
}

export function toNamedRecord(row: StoredRow): NamedFileRecord {
  return { ...toFileRecord(row), cache_control: row.textOrNull('cache_control', LIMITS.cacheControl) };
}

export function toFileRecord(row: StoredRow): FileRecord {
  return {
    id: row.uuid('id'),
    bucket_id: row.uuid('bucket_id'),
    bucket_slug: row.textOrNull('bucket_slug', LIMITS.slug),
    filename: row.text('filename', LIMITS.filename),
    content_type: row.text('content_type', LIMITS.contentType, 0),
    size: row.wholeNumber('size'),
    sha256: row.sha256('sha256'),
    owner_id: row.uuidOrNull('owner_id'),
    metadata: row.object('metadata'),
    created_at: row.instant('created_at').toISOString(),
    updated_at: row.instant('updated_at').toISOString(),
    ...scanResultOf(row),
  };
}

/** @returns the result of a statement that may give a file a name @throws AppError 409 when the name is taken */
export async function unlessNameTaken<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error;
    throw error.constraint === NAME_KEY ? fileAlreadyExists() : error;
  }
}
