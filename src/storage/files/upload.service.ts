/**
 * Uploads: receive, store, publish. The policies are evaluated before the body is read, the bytes stream to
 * the provider, and then a row makes the file visible. Two round trips to the database; one for a small
 * upload if KnownTargets has the bucket. A crash at any moment leaves no row without bytes.
 */
import { Inject, Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { INSUFFICIENT_PRIVILEGE } from '../../database/sql/sqlstate';
import { DiskReserve } from '../../limits/disk-reserve.service';
import { Project } from '../../projects/project';
import { parseCacheControl } from '../buckets/cache-control';
import {
  essenceOf,
  isAllowed,
  parseContentType,
  resolveContentType,
  UNKNOWN_TYPE,
} from '../content-type/content-type';
import { Evidence } from '../content-type/sniff';
import { ObjectAddress } from '../providers/object-address';
import { ObjectStore } from '../providers/object-store';
import { assertRoomForFile, ByteLimit, QuotaMark, roomIn } from '../quotas/quota';
import { ObjectRemover } from '../removal/object-remover.service';
import type { Passed } from '../scan/virus-scan.service';
import { VirusScan } from '../scan/virus-scan.service';
import {
  bucketNotFound,
  fileTooLarge,
  forbidden,
  invalidParameters,
  unsupportedMediaType,
} from '../storage.errors';
import { StorageContext } from '../storage-transaction';
import { ByteFacts, ByteMeter } from './byte-meter';
import { FileRecord } from './file';
import { FileRepository, NewFile, WrittenFile } from './file.repository';
import { GroupedInserts } from './grouped-inserts.service';
import { KnownTargets } from './known-targets';
import { assertAccepted, assertFilename, parseMetadata, isDefinite, limitOf } from './upload-rules';
import { TargetRepository, UploadTarget } from './target.repository';

export interface UploadRequest {
  /** Slug or name. */
  readonly bucket: string;
  /** From the query string; takes precedence over fields of the form with the same names. */
  readonly given: UploadParameters;
  /** Content-Length, in bytes; null without one. */
  readonly announcedLength: number | null;
  /** The object that the replaced file must have; undefined: any. */
  readonly replaces?: ObjectAddress;
  /** Where to store the bytes; undefined: at a new address. */
  readonly object?: ObjectAddress;
  /**
   * The object has the bytes already. They are removed only if the file is refused for good, because the client may try
   * again. `facts` null: the form reads them. `join` creates the object, which is removed whenever the file is refused.
   */
  readonly stored?: {
    readonly facts: ByteFacts | null;
    readonly size: number;
    readonly join?: () => Promise<void>;
  };
  /** Reads the body up to the file. @param held bytes of the file that the provider holds in memory */
  receive(held: number): Promise<UploadForm>;
}

/** What is known about an upload before its body is read. */
export type AnnouncedUpload = Pick<UploadRequest, 'bucket' | 'given' | 'announcedLength'>;

/** The form of an upload, independent of its wire format. */
export interface UploadForm {
  /** The fields received so far; complete after end(). */
  readonly fields: ReadonlyMap<string, string>;
  /** The file's own name. */
  readonly filename: string | null;
  /** The content type that the client states for the file. */
  readonly declaredType: string | null;
  readonly bytes: AsyncIterable<Buffer>;
  /** Stores the type and the Cache-Control that the client declares; else the type is detected from the content. */
  readonly asDeclared: boolean;
  /** Why the form ended early; null when it did not. */
  readonly failure: Error | null;
  /** The entity tag of the S3 protocol; complete after end(). Undefined for other surfaces. */
  readonly etag?: string;
  /** Resolves when the form was read to its end. @param sha256 of the file @throws AppError 400 when it ended early or is malformed */
  end(sha256: string): Promise<void>;
  /** Stops reading. */
  stop(): void;
  /** Releases the memory of the form. */
  release(): void;
}

export interface Uploaded {
  readonly record: FileRecord;
  /** False when the file replaced another. */
  readonly isNew: boolean;
  readonly marks: readonly QuotaMark[];
}

export const UPLOAD_PARAMETERS = ['filename', 'contentType', 'upsert', 'metadata'] as const;
type UploadParameter = (typeof UPLOAD_PARAMETERS)[number];
export type UploadParameters = Readonly<Partial<Record<UploadParameter | 'cacheControl', string>>>;

/** Maximum bytes of a form in addition to its file. */
const FORM_OVERHEAD = 64 * 1024;
const EARLY_FILENAME =
  'A policy reads the filename, so it must be known before the bytes: in the query string, in a field before the file, or as the name of the file part';

@Injectable()
export class UploadService {
  private readonly known = new KnownTargets();

  constructor(
    private readonly files: FileRepository,
    private readonly groups: GroupedInserts,
    private readonly targets: TargetRepository,
    private readonly store: ObjectStore,
    private readonly remover: ObjectRemover,
    private readonly disk: DiskReserve,
    private readonly scan: VirusScan,
    @Inject(STORAGE_CONFIG) private readonly config: StorageConfig,
  ) {}

  /** @throws AppError 400, 403, 404, 408, 409, 413, 415, 500 storage_unavailable, 503 */
  async upload(caller: StorageContext, request: UploadRequest): Promise<Uploaded> {
    const known = this.knownTarget(caller, request);
    if (known) assertGiven(request.given);
    const { target, limit } = known
      ? { target: known, limit: limitOf(caller.project, known, this.config) }
      : await this.announced(caller, request);
    // Without a length the space is checked while the bytes arrive.
    return this.disk.during(request.announcedLength ?? 0, () => this.receive(caller, request, target, limit));
  }

  /** Makes the checks of upload() that precede reading the body. @throws AppError 400, 403, 404, 413 */
  async announced(
    caller: StorageContext,
    request: AnnouncedUpload,
  ): Promise<{ readonly target: UploadTarget; readonly limit: number }> {
    const { given } = request;
    assertGiven(given);
    const target = await this.target(caller, request.bucket, given.filename ?? null);
    if (target.mayUpload === 'no') throw forbidden();
    const limit = limitOf(caller.project, target, this.config);
    assertAnnounced(request, limit, target);
    return { target, limit };
  }

  /** Null if the database must be asked before the body is read. A virus scanner may put the file elsewhere. */
  private knownTarget(caller: StorageContext, request: UploadRequest): UploadTarget | null {
    if (request.stored || request.replaces || this.config.clamd) return null;
    return this.known.find(caller, request);
  }

  /** Maximum bytes of a file of the project, in any bucket. */
  largestFile(project: Project): number {
    return limitOf(project, { fileSizeLimit: null }, this.config);
  }

  private async receive(
    caller: StorageContext,
    request: UploadRequest,
    target: UploadTarget,
    limit: number,
  ): Promise<Uploaded> {
    const form = await request.receive(this.store.heldBytes);
    try {
      const value: ParameterReader = (name) => request.given[name] ?? form.fields.get(name);
      await this.assertMayUpload(caller, request, target, value('filename') ?? form.filename);
      const stored = await this.storeBytes(
        caller,
        form,
        target,
        limitFor(target, limit, isTrue(value('upsert'))),
        request,
      );
      return await this.publish(caller, form, { target, request }, value, stored);
    } catch (error) {
      const cause = form.failure ?? error;
      form.stop();
      throw cause;
    } finally {
      form.release();
    }
  }

  private async target(
    caller: StorageContext,
    bucket: string,
    filename: string | null,
  ): Promise<UploadTarget> {
    const target = await this.targets.findUploadTarget(caller, bucket, filename);
    if (!target) throw bucketNotFound();
    return target;
  }

  /** @param filename if it is known before the file's bytes @throws AppError 400, 403, 404 */
  private async assertMayUpload(
    caller: StorageContext,
    { bucket, given }: UploadRequest,
    { mayUpload }: UploadTarget,
    filename: string | null,
  ): Promise<void> {
    if (filename !== null) assertFilename(filename);
    if (mayUpload !== 'depends') return;
    const target = await this.target(caller, bucket, filename);
    if (target.mayUpload !== 'yes')
      throw forbidden(given.filename === undefined ? EARLY_FILENAME : undefined);
  }

  private async storeBytes(
    { project }: StorageContext,
    { bytes, asDeclared }: UploadForm,
    target: UploadTarget,
    limit: ByteLimit,
    { object, announcedLength, stored }: UploadRequest,
  ): Promise<StoredFacts> {
    const address = object ?? this.store.newAddress(project.id);
    if (stored && stored.size > limit.bytes) throw limit.exceeded();
    if (stored?.facts) {
      await stored.join?.();
      return { ...stored.facts, address };
    }
    const meter = new ByteMeter(limit, (evidence) => asDeclared || refuseEarly(evidence, target));
    if (stored) {
      for await (const _chunk of meter.measure(bytes)) continue;
      await stored.join?.();
      return { ...meter.facts(), address };
    }
    await this.store.put(address, meter.measure(announcedLength === null ? this.disk.watched(bytes) : bytes));
    return { ...meter.facts(), address };
  }

  private async publish(
    caller: StorageContext,
    form: UploadForm,
    { target, request }: { readonly target: UploadTarget; readonly request: UploadRequest },
    value: ParameterReader,
    stored: StoredFacts,
  ): Promise<Uploaded> {
    const { replaces } = request;
    const discard = (): void => {
      if (!request.stored || request.stored.join) this.remover.removeLater([stored.address]);
    };
    const passed = await this.passed(caller, form, { target, replaces }, value, stored).catch(
      (error: unknown) => {
        discard();
        throw error;
      },
    );
    const written = await this.insert(caller, target, request, passed).catch((error: unknown) => {
      this.known.forget(caller, request);
      if (isDefinite(error)) discard();
      throw error;
    });
    if (passed.refusal) throw passed.refusal;
    this.known.keep(caller, request, target);
    const { record, replaced, marks } = written;
    if (replaced) this.remover.removeLater([replaced]);
    return { record, isNew: replaced === null, marks };
  }

  private async passed(
    caller: StorageContext,
    form: UploadForm,
    { target, replaces }: Pick<UploadRequest, 'replaces'> & { readonly target: UploadTarget },
    value: ParameterReader,
    stored: StoredFacts,
  ): Promise<Passed> {
    await form.end(stored.sha256);
    const file = { ...newFileOf(target, form, value, stored), replaces };
    return this.scan.pass(caller, file, target.scan, isTrue(value('upsert')));
  }

  private async insert(
    caller: StorageContext,
    target: UploadTarget,
    request: UploadRequest,
    { context, file, overwrite }: Passed,
  ): Promise<WrittenFile> {
    if (target.knownBy !== undefined) {
      const written = await this.groups
        .insert(context, { ...file, address: request.bucket }, overwrite, target.knownBy)
        .catch(noRefusal);
      return written ?? this.insertAfresh(caller, request, file, overwrite);
    }
    const written = await this.files.insert(context, file, overwrite);
    if (!written) throw bucketNotFound();
    return written;
  }

  /** The known facts about the bucket are outdated: starts over with the current facts. */
  private async insertAfresh(
    caller: StorageContext,
    request: UploadRequest,
    file: NewFile,
    overwrite: boolean,
  ): Promise<WrittenFile> {
    this.known.forget(caller, request);
    const { target, limit } = await this.announced(caller, request);
    await this.assertMayUpload(caller, request, target, file.filename);
    assertAccepted(target, file.bytes, limit);
    const written = await this.files.insert(caller, { ...file, bucket: target }, overwrite);
    if (!written) throw bucketNotFound();
    return written;
  }
}

/** @returns null when row-level security refuses the row @throws the error otherwise */
function noRefusal(error: unknown): null {
  if (error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE) return null;
  throw error;
}

function assertGiven({ filename, contentType }: UploadParameters): void {
  if (filename !== undefined) assertFilename(filename);
  if (contentType !== undefined) parseContentType(contentType);
}

/** Bytes that the provider has stored. */
type StoredFacts = ByteFacts & { readonly address: ObjectAddress };

/** Reads a parameter from the query string, else from the fields of the form received so far. */
type ParameterReader = (name: UploadParameter | 'cacheControl') => string | undefined;

/** The row of a file whose form was read to its end. @throws AppError 400, 415 */
function newFileOf(
  bucket: UploadTarget,
  form: UploadForm,
  value: ParameterReader,
  { address, size, sha256, evidence }: StoredFacts,
): NewFile {
  const filename = value('filename') ?? form.filename;
  if (filename === null) throw invalidParameters('filename is missing, or not UTF-8');
  assertFilename(filename);
  const detected = contentTypeOf(evidence, value('contentType'), form.declaredType);
  const contentType = (form.asDeclared && declaredTypeOf(form)) || detected;
  if (!isAllowed(contentType, bucket.allowedMimeTypes)) throw unsupportedMediaType(contentType);
  const metadata = parseMetadata(value('metadata') ?? '{}');
  const cacheControl = form.asDeclared ? cacheControlOf(value('cacheControl')) : undefined;
  return {
    bucket,
    filename,
    metadata,
    cacheControl,
    etag: form.etag,
    bytes: { address, size, sha256, contentType },
  };
}

/** Null for the type of unknown content, and for a malformed type. */
function declaredTypeOf({ declaredType }: UploadForm): string | null {
  const essence = declaredType === null ? null : lenient(declaredType);
  return essence === null || essence === UNKNOWN_TYPE ? null : parseContentType(String(declaredType));
}

/** Seconds, or directives. Other texts are ignored, as storage-js lets applications pass any text. */
function cacheControlOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  try {
    return parseCacheControl(/^\d+$/.test(given) ? `max-age=${given}` : given);
  } catch {
    return undefined;
  }
}

/**
 * Refuses a form by its Content-Length, before it is read.
 * @throws AppError 413 when no file in a form of that length could be accepted
 */
function assertAnnounced(
  { announcedLength, given }: AnnouncedUpload,
  limit: number,
  target: UploadTarget,
): void {
  if (given.upsert === 'false') assertRoomForFile(target.accounts);
  if (announcedLength === null) return;
  if (announcedLength > limit + FORM_OVERHEAD) throw fileTooLarge(limit);
  const room = roomIn(target.accounts, given.upsert === 'false' ? 0 : target.largestFile);
  if (room && announcedLength > room.bytes + FORM_OVERHEAD) throw room.exceeded();
}

/** @param overwrites whether upsert was set before the file's bytes @throws AppError 413 when a quota has no room for another file */
function limitFor({ accounts, largestFile }: UploadTarget, size: number, overwrites: boolean): ByteLimit {
  if (!overwrites) assertRoomForFile(accounts);
  const room = roomIn(accounts, overwrites ? largestFile : 0);
  return room && room.bytes < size ? room : { bytes: size, exceeded: () => fileTooLarge(size) };
}

/** Refuses a file whose first bytes prove that the bucket does not accept its type. @throws AppError 415 */
function refuseEarly(evidence: Evidence, { allowedMimeTypes }: UploadTarget): void {
  if (evidence.kind === 'certain' && !isAllowed(evidence.type, allowedMimeTypes))
    throw unsupportedMediaType(evidence.type);
}

function contentTypeOf(evidence: Evidence, given: string | undefined, declared: string | null): string {
  const claim = given === undefined ? declared && lenient(declared) : parseContentType(given);
  return resolveContentType(evidence, claim);
}

/** Ignores a malformed Content-Type of the file part: it is not a parameter of the API. */
function lenient(declared: string): string | null {
  try {
    return essenceOf(parseContentType(declared));
  } catch {
    return null;
  }
}

/** False when the parameter is omitted. @throws AppError 400 */
function isTrue(text = 'false'): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0' || text === '') return false;
  throw invalidParameters('upsert must be true or false');
}
