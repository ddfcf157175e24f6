/** A file as the interface shows it (DECISIONS.md 6), and what the storage itself knows beyond that. */
import { JsonObject } from '../../common/text/json';
import { ObjectAddress } from '../providers/object-address';

export interface FileRecord {
  readonly id: string;
  readonly bucket_id: string;
  /** Null when the bucket is gone or the caller may not see it. */
  readonly bucket_slug: string | null;
  readonly filename: string;
  readonly content_type: string;
  /** Bytes. */
  readonly size: number;
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string;
  readonly owner_id: string | null;
  readonly metadata: JsonObject;
  /** ISO 8601. */
  readonly created_at: string;
  readonly updated_at: string;
}

/** What is needed to send a file's bytes. */
export interface FileContent {
  readonly id: string;
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  readonly address: ObjectAddress;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  /** Null when the bucket is gone, or the caller may not see it. */
  readonly bucket: { readonly isPublic: boolean; readonly cacheControl: string | null } | null;
}

/** A file as the comparison of rows and bytes needs it. */
export type NamedFile = Pick<FileContent, 'id' | 'filename' | 'size' | 'address'>;

/** A file as a signed address needs it. */
export interface LinkedFile {
  readonly content: FileContent;
  /** Counts how often the file's addresses were revoked. */
  readonly revision: number;
  /** Unix seconds by the database's clock, which all replicas share. */
  readonly now: number;
}

/** Bytes that are complete with the provider, and what was learned on the way there. */
export interface StoredBytes {
  readonly address: ObjectAddress;
  readonly size: number;
  readonly sha256: string;
  readonly contentType: string;
}
