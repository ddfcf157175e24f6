/**
 * Uploads: receive, store, publish. The policies are evaluated before the body is read, the bytes stream to
 * the provider, and then a row makes the file visible. Two round trips to the database; one for an upload
 * of up to 1 MiB if KnownTargets has the bucket. A crash at any moment leaves no row without bytes.
 */
import { Inject, Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { INSUFFICIENT_PRIVILEGE } from '../../database/sql/sqlstate';
import { DiskReserve } from '../../limits/disk-reserve.service';
import { Project } from '../../projects/project';
import { ObjectStore } from '../providers/object-store';
import { ByteLimit } from '../quotas/quota';
import { ObjectRemover } from '../removal/object-remover.service';
import type { Passed } from '../scan/virus-scan.service';
import { VirusScan } from '../scan/virus-scan.service';
import { bucketNotFound, forbidden } from '../storage.errors';
import { StorageContext } from '../storage-transaction';
import { ByteMeter } from './byte-meter';
import { FileInsertRepository, WrittenFile } from './file-insert.repository';
import { GroupedInserts } from './grouped-inserts.service';
import { KnownTargets } from './known-targets';
import { isTrue, NewFile, newFileOf, ParameterReader, StoredFacts } from './new-file';
import { TargetRepository, UploadTarget } from './target.repository';
import { AnnouncedUpload, Uploaded, UploadForm, UploadRequest } from './upload';
import {
  assertAccepted,
  assertAnnounced,
  assertFilename,
  assertGiven,
  isDefinite,
  limitFor,
  limitOf,
  refuseEarly,
  restricted,
} from './upload-rules';

const EARLY_FILENAME =
  'A policy reads the filename, so it must be known before the bytes: in the query string, in a field before the file, or as the name of the file part';

@Injectable()
export class UploadService {
  private readonly known = new KnownTargets();

  constructor(
    private readonly files: FileInsertRepository,
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
    // If the length is not announced, the space is checked while the bytes arrive.
    return this.disk.during(request.announcedLength ?? 0, () => this.receive(caller, request, target, limit));
  }

  /**
   * Makes the checks of upload() that precede reading the body.
   * @throws AppError 400 for an invalid parameter, 403 if a policy refuses, 404 if there is no such bucket,
   * 413 if the file cannot have room
   */
  async announced(
    caller: StorageContext,
    request: AnnouncedUpload,
  ): Promise<{ readonly target: UploadTarget; readonly limit: number }> {
    const { given } = request;
    assertGiven(given);
    const found = await this.targets.getUploadTarget(caller, request.bucket, given.filename ?? null);
    const target = request.restriction ? restricted(found, request.restriction) : found;
    if (target.mayUpload === 'no') throw forbidden();
    const limit = limitOf(caller.project, target, this.config);
    assertAnnounced(request, limit, target);
    return { target, limit };
  }

  /** Null if the database must be asked before the body is read. A virus scanner may put the file elsewhere. */
  private knownTarget(caller: StorageContext, request: UploadRequest): UploadTarget | null {
    if (request.stored || request.replaces || request.restriction || this.config.clamd) return null;
    return this.known.find(caller, request);
  }

  /** Maximum bytes of a file in any bucket of the project. */
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

  /**
   * @param filename if it is known before the file's bytes
   * @throws AppError 400 for an invalid name, 403 if a policy refuses, 404 if there is no such bucket
   */
  private async assertMayUpload(
    caller: StorageContext,
    { bucket, given }: UploadRequest,
    { mayUpload }: UploadTarget,
    filename: string | null,
  ): Promise<void> {
    if (filename !== null) assertFilename(filename);
    if (mayUpload !== 'depends') return;
    const target = await this.targets.getUploadTarget(caller, bucket, filename);
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

/** @returns null if row-level security refuses the row @throws the error otherwise */
function noRefusal(error: unknown): null {
  if (error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE) return null;
  throw error;
}
