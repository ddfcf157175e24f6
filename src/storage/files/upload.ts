/** An upload as every surface describes it, independent of its wire format. */
import { ObjectAddress } from '../providers/object-store';
import { QuotaMark } from '../quotas/quota';
import { ByteFacts } from './byte-meter';
import { FileRecord } from './file';

/** What a file must be in addition to the rules of its bucket. */
export interface UploadRestriction {
  /** Maximum bytes; null for no limit. */
  readonly fileSizeLimit: number | null;
  /** Types and patterns; null for any type. */
  readonly allowedMimeTypes: readonly string[] | null;
}

export interface UploadRequest {
  /** Slug or name. */
  readonly bucket: string;
  /** From the query string; takes precedence over fields of the form with the same names. */
  readonly given: UploadParameters;
  /** Content-Length, in bytes; null without one. */
  readonly announcedLength: number | null;
  readonly restriction?: UploadRestriction;
  /** The object that the replaced file must have. Undefined: any object. */
  readonly replaces?: ObjectAddress;
  /** Where to store the bytes. Undefined: at a new address. */
  readonly object?: ObjectAddress;
  /**
   * Set if the object has the bytes already. They are removed only if the file is refused for good, because
   * the client may try again. `facts` is null if reading the form measures them. `join` creates the object,
   * which is removed whenever the file is refused.
   */
  readonly stored?: {
    readonly facts: ByteFacts | null;
    readonly size: number;
    readonly join?: () => Promise<void>;
  };
  /** Reads the body up to the file. @param held number of bytes of the file that the provider holds in memory */
  receive(held: number): Promise<UploadForm>;
}

/** What is known about an upload before its body is read. */
export type AnnouncedUpload = Pick<UploadRequest, 'bucket' | 'given' | 'announcedLength' | 'restriction'>;

/** The form of an upload, independent of its wire format. */
export interface UploadForm {
  /** The fields received so far; complete after end(). */
  readonly fields: ReadonlyMap<string, string>;
  /** The file's own name. */
  readonly filename: string | null;
  /** The content type that the client states for the file. */
  readonly declaredType: string | null;
  readonly bytes: AsyncIterable<Buffer>;
  /** Stores the type and the Cache-Control that the client declares. If false, the type is detected from the content. */
  readonly asDeclared: boolean;
  /** Why the form ended early; null if it did not. */
  readonly failure: Error | null;
  /** The entity tag of the S3 protocol; call it after end(). Undefined for other surfaces. */
  readonly etag?: () => string;
  /**
   * Resolves when the form was read to its end.
   * @param sha256 of the file
   * @throws AppError 400 if the form ended early or is malformed
   */
  end(sha256: string): Promise<void>;
  /** Stops reading. */
  stop(): void;
  /** Releases the memory of the form. */
  release(): void;
}

/** The form of an upload that consists of the bytes of the file alone. @param more what differs */
export const formOfBytes = (
  bytes: AsyncGenerator<Buffer, void, undefined>,
  declaredType: string | null,
  more: Partial<UploadForm> = {},
): UploadForm => ({
  fields: new Map(),
  filename: null,
  declaredType,
  bytes,
  asDeclared: true,
  failure: null,
  end: () => Promise.resolve(),
  // Not awaited: a read that waits for the client ends with the request.
  stop: () => void bytes.return(undefined),
  release: () => undefined,
  ...more,
});

export interface Uploaded {
  readonly record: FileRecord;
  /** False when the file replaced another. */
  readonly isNew: boolean;
  readonly marks: readonly QuotaMark[];
}

export const UPLOAD_PARAMETERS = ['filename', 'contentType', 'upsert', 'metadata'] as const;
export type UploadParameter = (typeof UPLOAD_PARAMETERS)[number];
export type UploadParameters = Readonly<Partial<Record<UploadParameter | 'cacheControl', string>>>;
