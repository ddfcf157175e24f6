/**
 * Uploads: evaluates the policies before the body is read, streams the bytes to the provider, then inserts the row that makes
 * the file visible. Two round trips to the database. A crash at any moment leaves no row without bytes.
 */
import { Inject, Injectable } from '@nestjs/common';
import { Caller } from '../../access/caller';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { DiskReserve } from '../../limits/disk-reserve.service';
import { essenceOf, isAllowed, parseContentType, resolveContentType } from '../content-type/content-type';
import { Evidence } from '../content-type/sniff';
import { ObjectAddress } from '../providers/object-address';
import { ObjectStore } from '../providers/object-store';
import { assertRoomForFile, ByteLimit, QuotaMark, roomIn } from '../quotas/quota';
import { ObjectRemover } from '../removal/object-remover.service';
import {
  bucketNotFound,
  fileTooLarge,
  forbidden,
  invalidParameters,
  unsupportedMediaType,
} from '../storage.errors';
import { ByteFacts, ByteMeter } from './byte-meter';
import { FileRecord } from './file';
import { FileRepository, NewFile } from './file.repository';
import { assertFilename } from './filename';
import { parseMetadata } from './metadata';
import { TargetRepository, UploadTarget } from './target.repository';
import { UploadForm } from './upload-form';
import { isDefinite, limitOf } from './upload-rules';

export interface UploadRequest {
  /** Slug or name. */
  readonly bucket: string;
  /** From the query string; takes precedence over fields of the form with the same names. */
  readonly given: UploadParameters;
  /** Content-Length, in bytes; null without one. */
  readonly announcedLength: number | null;
  /**
   * Reads the body up to the file and passes the form to `work`. When that fails, the rest is not read.
   * @param held bytes of the file that the provider holds in memory
   */
  withForm<T>(held: number, work: (form: UploadForm) => Promise<T>): Promise<T>;
}

export interface Uploaded {
  readonly record: FileRecord;
  /** False when the file replaced another. */
  readonly isNew: boolean;
  readonly marks: readonly QuotaMark[];
}

export const UPLOAD_PARAMETERS = ['filename', 'contentType', 'upsert', 'metadata'] as const;
type UploadParameter = (typeof UPLOAD_PARAMETERS)[number];
export type UploadParameters = Readonly<Partial<Record<UploadParameter, string>>>;

/** Bytes of a form in addition to its file. */
const FORM_OVERHEAD = 64 * 1024;
const EARLY_FILENAME =
  'A policy reads the filename, so it must be known before the bytes: in the query string, in a field before the file, or as the name of the file part';

@Injectable()
export class UploadService {
  constructor(
    private readonly files: FileRepository,
    private readonly targets: TargetRepository,
    private readonly store: ObjectStore,
    private readonly remover: ObjectRemover,
    private readonly disk: DiskReserve,
    @Inject(STORAGE_CONFIG) private readonly config: StorageConfig,
  ) {}

  /** @throws AppError 400, 403, 404, 408, 409, 413, 415, 500 storage_unavailable, 503 */
  async upload(caller: Caller, request: UploadRequest): Promise<Uploaded> {
    const { given } = request;
    if (given.filename !== undefined) assertFilename(given.filename);
    if (given.contentType !== undefined) parseContentType(given.contentType);
    const target = await this.target(caller, request.bucket, given.filename ?? null);
    if (target.mayUpload === 'no') throw forbidden();
    const limit = limitOf(caller.project, target, this.config);
    assertAnnounced(request, limit, target);

    return this.disk.during(request.announcedLength ?? limit, () =>
      request.withForm(this.store.heldBytes, (form) => this.receive(caller, request, target, form, limit)),
    );
  }

  private async target(caller: Caller, bucket: string, filename: string | null): Promise<UploadTarget> {
    const target = await this.targets.findUploadTarget(caller, bucket, filename);
    if (!target) throw bucketNotFound();
    return target;
  }

  private async receive(
    caller: Caller,
    request: UploadRequest,
    target: UploadTarget,
    form: UploadForm,
    sizeLimit: number,
  ): Promise<Uploaded> {
    const value: ParameterReader = (name) => request.given[name] ?? form.fields.get(name);
    await this.assertMayUpload(caller, request, target, value('filename') ?? form.filename);
    const address = this.store.newAddress(caller.project.id);
    const limit = limitFor(target, sizeLimit, isTrue(value('upsert')));
    const meter = new ByteMeter(limit, (evidence) => refuseEarly(evidence, target));
    await this.store.put(address, meter.measure(form.bytes));
    try {
      await form.end();
      const file = newFileOf(target, form, value, { ...meter.facts(), address });
      return await this.publish(caller, file, isTrue(value('upsert')));
    } catch (error) {
      if (isDefinite(error)) this.remover.removeLater([address]);
      throw error;
    }
  }

  /** @param filename as far as it is known before the file's bytes @throws AppError 400, 403, 404 */
  private async assertMayUpload(
    caller: Caller,
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

  private async publish(caller: Caller, file: NewFile, overwrite: boolean): Promise<Uploaded> {
    const written = await this.files.insert(caller, file, overwrite);
    if (!written) throw bucketNotFound();
    const { record, replaced, marks } = written;
    if (replaced) this.remover.removeLater([replaced]);
    return { record, isNew: replaced === null, marks };
  }
}

/** Reads a parameter from the query string, else from the fields of the form received so far. */
type ParameterReader = (name: UploadParameter) => string | undefined;

/** The row of a file whose form was read to its end. @throws AppError 400, 415 */
function newFileOf(
  bucket: UploadTarget,
  form: UploadForm,
  value: ParameterReader,
  { address, size, sha256, evidence }: ByteFacts & { readonly address: ObjectAddress },
): NewFile {
  const filename = value('filename') ?? form.filename;
  if (filename === null) throw invalidParameters('filename is missing, or no UTF-8');
  assertFilename(filename);
  const contentType = contentTypeOf(evidence, value('contentType'), form.declaredType);
  if (!isAllowed(contentType, bucket.allowedMimeTypes)) throw unsupportedMediaType(contentType);
  const metadata = parseMetadata(value('metadata') ?? '{}');
  return { bucket, filename, metadata, bytes: { address, size, sha256, contentType } };
}

/**
 * Refuses a form by its Content-Length, before it is read.
 * @throws AppError 413 when no file in a form of that length could be accepted
 */
function assertAnnounced(
  { announcedLength, given }: UploadRequest,
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

/** Ignores a malformed Content-Type of the file part: it is no parameter of the API. */
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
