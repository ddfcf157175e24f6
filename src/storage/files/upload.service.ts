/**
 * Uploads: asks the policies before the body is read, streams the bytes to the provider, and makes the file visible when
 * they are complete. Two round trips to the database; a crash at any moment leaves no row without bytes.
 */
import { Inject, Injectable } from '@nestjs/common';
import { Caller } from '../../access/caller';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { essenceOf, isAllowed, parseContentType, resolveContentType } from '../content-type/content-type';
import { Evidence } from '../content-type/sniff';
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
import { ByteMeter } from './byte-meter';
import { FileRecord } from './file';
import { FileRepository, NewFile } from './file.repository';
import { assertFilename } from './filename';
import { parseMetadata } from './metadata';
import { TargetRepository, UploadTarget } from './target.repository';
import { UploadForm } from './upload-form';
import { isCertain, limitOf } from './upload-rules';

export interface UploadRequest {
  /** Slug or name. */
  readonly bucket: string;
  /** What the address gives; fields of the form give the same, and what the address gives counts. */
  readonly given: Readonly<Partial<Record<UploadParameter, string>>>;
  /** Bytes of the whole body, or null when the sender does not say. */
  readonly announcedLength: number | null;
  /**
   * Begins to read the body, and lends it to `work`; where that fails the rest is not read.
   * @param held bytes of the file that are held in memory on the way
   */
  withForm<T>(held: number, work: (form: UploadForm) => Promise<T>): Promise<T>;
}

export interface Uploaded {
  readonly record: FileRecord;
  /** False when the file took the place of another. */
  readonly isNew: boolean;
  readonly marks: readonly QuotaMark[];
}

export const UPLOAD_PARAMETERS = ['filename', 'contentType', 'upsert', 'metadata'] as const;
export type UploadParameter = (typeof UPLOAD_PARAMETERS)[number];

/** Bytes that a form may be longer than its file. */
const FORM_OVERHEAD = 64 * 1024;
const EARLY_FILENAME =
  'Where a policy looks at the filename, it must be known before the bytes: in the address, in a field before the file, or as its own name';

@Injectable()
export class UploadService {
  constructor(
    private readonly files: FileRepository,
    private readonly targets: TargetRepository,
    private readonly store: ObjectStore,
    private readonly remover: ObjectRemover,
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

    return request.withForm(this.store.heldBytes, (form) =>
      this.receive(caller, request, target, form, limit),
    );
  }

  private async target(caller: Caller, bucket: string, filename: string | null): Promise<UploadTarget> {
    const target = await this.targets.findUploadTarget(caller, bucket, filename);
    if (!target) throw bucketNotFound();
    return target;
  }

  private async receive(
    caller: Caller,
    { bucket, given }: UploadRequest,
    target: UploadTarget,
    form: UploadForm,
    sizeLimit: number,
  ): Promise<Uploaded> {
    const value = (name: UploadParameter): string | undefined => given[name] ?? form.fields.get(name);
    const filenameSoFar = value('filename') ?? form.filename;
    if (filenameSoFar !== null) assertFilename(filenameSoFar);
    if (target.mayUpload === 'depends') {
      const again = await this.target(caller, bucket, filenameSoFar);
      if (again.mayUpload !== 'yes')
        throw forbidden(given.filename === undefined ? EARLY_FILENAME : undefined);
    }
    const address = this.store.newAddress(caller.project.id);
    const limit = limitFor(target, sizeLimit, isTrue(value('upsert') ?? 'false'));
    const meter = new ByteMeter(limit, (evidence) => refuseEarly(evidence, target));
    await this.store.put(address, meter.measure(form.bytes));
    try {
      await form.end();
      const filename = value('filename') ?? form.filename;
      if (filename === null) throw invalidParameters('filename is missing, or no UTF-8');
      assertFilename(filename);
      const facts = meter.facts();
      const contentType = contentTypeOf(facts.evidence, value('contentType'), form.declaredType);
      if (!isAllowed(contentType, target.allowedMimeTypes)) throw unsupportedMediaType(contentType);
      const bytes = { address, size: facts.size, sha256: facts.sha256, contentType };
      const overwrite = isTrue(value('upsert') ?? 'false');
      return await this.publish(
        caller,
        { bucket: target, filename, metadata: parseMetadata(value('metadata') ?? '{}'), bytes },
        overwrite,
      );
    } catch (error) {
      if (isCertain(error)) this.remover.removeLater([address]);
      throw error;
    }
  }

  private async publish(caller: Caller, file: NewFile, overwrite: boolean): Promise<Uploaded> {
    const written = await this.files.insert(caller, file, overwrite);
    if (!written) throw bucketNotFound();
    const { record, replaced, marks } = written;
    if (replaced) this.remover.removeLater([replaced]);
    return { record, isNew: replaced === null, marks };
  }
}

/**
 * What Content-Length tells: the file is shorter than the form by not more than its overhead.
 * @throws AppError 413, only where no form of that length could be taken
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
  if (room && announcedLength > room.bytes + FORM_OVERHEAD) throw room.passed();
}

/** @param overwrites what is known before the file's bytes @throws AppError 413 when there is no room for a file at all */
function limitFor({ accounts, largestFile }: UploadTarget, size: number, overwrites: boolean): ByteLimit {
  if (!overwrites) assertRoomForFile(accounts);
  const room = roomIn(accounts, overwrites ? largestFile : 0);
  return room && room.bytes < size ? room : { bytes: size, passed: () => fileTooLarge(size) };
}

/** What the content alone decides need not be read to its end. */
function refuseEarly(evidence: Evidence, { allowedMimeTypes }: UploadTarget): void {
  if (evidence.kind === 'certain' && !isAllowed(evidence.type, allowedMimeTypes))
    throw unsupportedMediaType(evidence.type);
}

function contentTypeOf(evidence: Evidence, given: string | undefined, declared: string | null): string {
  const claim = given === undefined ? declared && lenient(declared) : parseContentType(given);
  return resolveContentType(evidence, claim);
}

/** A part's own header is no parameter: a malformed one counts as none. */
function lenient(declared: string): string | null {
  try {
    return essenceOf(parseContentType(declared));
  } catch {
    return null;
  }
}

function isTrue(text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0' || text === '') return false;
  throw invalidParameters('upsert must be true or false');
}
