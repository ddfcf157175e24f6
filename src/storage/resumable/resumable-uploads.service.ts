/**
 * Uploads in several requests. Bytes are stored before they are acknowledged, so that any process on any
 * machine can continue, and a crash loses only bytes that were not committed. The last request joins the
 * parts by an ordinary upload, whose policies, limits and quotas apply; the first request checks them, too.
 */
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { growingCache } from '../../common/growing-cache';
import { Caller, isService } from '../../access/caller';
import { AppError } from '../../common/errors/app-error';
import { DiskReserve } from '../../limits/disk-reserve.service';
import { isAllowed } from '../content-type/content-type';
import { formOfBytes, Uploaded } from '../files/upload';
import { UploadService } from '../files/upload.service';
import { ObjectAddress, ObjectStore } from '../providers/object-store';
import { Project } from '../../projects/project';
import { projectQuota } from '../quotas/quota';
import { ObjectRemover } from '../removal/object-remover.service';
import {
  fileInfected,
  fileTooLarge,
  forbidden,
  invalidParameters,
  offsetTaken,
  tooManyUploads,
  unsupportedMediaType,
  uploadNotFound,
} from '../storage.errors';
import {
  intendedFileOf,
  isPartial,
  NewResumableUpload,
  ResumableUpload,
  UploadOwner,
  UploadPart,
} from './resumable-upload';
import { missingAsNotFound, uploadIsFinishing } from './resumable.errors';
import { MAX_UNFINISHED, ResumableUploadRepository } from './resumable-upload.repository';
import { ReceivedBytes, UploadWriter } from './upload-writer.service';

/** Milliseconds between two renewals of a claim. */
const RENEWAL_INTERVAL = 3_000;
const MAX_JOINED = 100;
/** Maximum number of uploads that are kept in memory, so that the next request need not read their rows again. */
const MAX_RECENT = 200;

/** Numbered parts in their order, with the entity tag of the file that they become. */
export interface ChosenParts {
  readonly parts: readonly UploadPart[];
  readonly etag: string;
}

/** An upload after a request, with its file if that has become visible. */
export interface UploadProgress {
  readonly upload: ResumableUpload;
  readonly file: Uploaded | null;
}

@Injectable()
export class ResumableUploadsService {
  /** Keyed by project and id. */
  private readonly recent = growingCache<ResumableUpload>(MAX_RECENT);

  constructor(
    private readonly repository: ResumableUploadRepository,
    private readonly uploads: UploadService,
    private readonly store: ObjectStore,
    private readonly remover: ObjectRemover,
    private readonly disk: DiskReserve,
    private readonly writer: UploadWriter,
  ) {}

  /**
   * @throws AppError 400 for invalid headers, 403 if a policy refuses, 404 if there is no such bucket, 413 or 415 if the
   *   bucket does not accept the file, 429 for too many uploads
   */
  async create(
    caller: Caller,
    given: Pick<NewResumableUpload, 'uploadMetadata' | 'concat' | 'upsert' | 'length'>,
  ): Promise<UploadProgress> {
    const upload = await this.begin(caller, given);
    return isJoinable(upload) ? this.finish(caller, upload) : { upload, file: null };
  }

  /** @param joined number of bytes of the file that other uploads have stored already @throws AppError as create() */
  async begin(
    caller: Caller,
    given: Pick<NewResumableUpload, 'uploadMetadata' | 'concat' | 'upsert' | 'length'>,
    joined = 0,
  ): Promise<ResumableUpload> {
    const wanted: NewResumableUpload = { ...given, id: randomUUID(), owner: ownerOf(caller) };
    const largest = this.uploads.largestFile(caller.project);
    if (wanted.length > largest) throw fileTooLarge(largest);
    // Otherwise anybody could store bytes. A partial upload names the file that it will be a part of.
    if (!isPartial(wanted) || !isService(caller)) await this.assertMayUpload(caller, wanted);
    // The bytes are not in the usage yet: together the uploads may be as large as the quota.
    const { bytes } = projectQuota(caller.project);
    const expiresAt = await this.repository.insert(caller.project, wanted, bytes && bytes + joined);
    if (!expiresAt) throw tooManyUploads(MAX_UNFINISHED);
    return { ...wanted, received: 0, expiresAt, isCompleted: false };
  }

  /**
   * Joins complete partial uploads to one file.
   * @throws AppError 404 or 409 for a partial upload that does not exist or is not complete, and the errors
   * of create()
   */
  async concatenate(
    caller: Caller,
    given: Pick<NewResumableUpload, 'uploadMetadata' | 'concat' | 'upsert'>,
    partials: readonly string[],
  ): Promise<UploadProgress> {
    if (new Set(partials).size !== partials.length || partials.length > MAX_JOINED || partials.length === 0)
      throw invalidParameters(`Upload-Concat must name 1 to ${MAX_JOINED} different uploads`);
    const joined: ResumableUpload[] = [];
    for (const id of partials) joined.push(await this.own(caller, id));
    if (joined.some((upload) => !isPartial(upload) || upload.received !== upload.length))
      throw invalidParameters('Upload-Concat must name partial uploads that are complete');
    const length = joined.reduce((sum, upload) => sum + upload.length, 0);
    const upload = await this.begin(caller, { ...given, length }, length);
    if (!(await this.repository.takeParts(caller.project, upload.id, partials))) {
      await this.repository.remove(caller.project, upload.id);
      throw uploadNotFound();
    }
    return this.finish(caller, { ...upload, received: length });
  }

  /**
   * The state of an upload. Completes an upload whose process was interrupted after all bytes had arrived.
   * @throws AppError 404 for an unknown upload, 423 while another request completes it, and the errors of an upload
   */
  async state(caller: Caller, id: string): Promise<ResumableUpload> {
    const upload = await this.own(caller, id);
    return isJoinable(upload) && !caller.readOnly ? (await this.finish(caller, upload)).upload : upload;
  }

  /**
   * Adds bytes. The last bytes complete the upload.
   * @throws AppError 400, 404, 408, 409, 413, 423, 460, 503, and those of an upload
   */
  async append(caller: Caller, id: string, body: ReceivedBytes): Promise<UploadProgress> {
    const upload = this.recentOf(caller, id, body.offset) ?? (await this.own(caller, id));
    if (upload.isCompleted || upload.received !== body.offset) throw offsetTaken(upload.received);
    // The length in the row may have been altered.
    const length = Math.min(upload.length, this.uploads.largestFile(caller.project));
    if ((body.announcedLength ?? 0) > length - upload.received) throw fileTooLarge(length);
    const received = await this.disk
      .during(body.announcedLength ?? 0, () =>
        this.writer.receive(caller.project, { ...upload, length }, body),
      )
      .catch((error: unknown) => this.giveUp(caller.project, id, error));
    const grown = { ...upload, received };
    if (isJoinable(grown)) return this.finish(caller, grown);
    this.recent.set(`${caller.project.id} ${id}`, grown);
    return { upload: grown, file: null };
  }

  /** The caller's upload as this process left it, if it has `offset` bytes. The statement before the first byte checks that it still does. */
  private recentOf(caller: Caller, id: string, offset: number): ResumableUpload | null {
    const upload = this.store.grow && this.recent.get(`${caller.project.id} ${id}`);
    return upload && upload.received === offset && this.isOwn(caller, upload) ? upload : null;
  }

  /** @throws AppError 404 for an unknown upload */
  async remove(caller: Caller, id: string): Promise<void> {
    const { project } = caller;
    await this.own(caller, id);
    this.remover.removeLater(await this.repository.remove(project, id));
  }

  /** @throws AppError 404, also for an upload of another sender */
  async own(caller: Caller, id: string, isMultipart = false): Promise<ResumableUpload> {
    const upload = await this.repository.find(caller.project, id, isMultipart);
    if (!upload || !this.isOwn(caller, upload)) throw uploadNotFound();
    return upload;
  }

  /** The service role may continue the upload of any sender. */
  isOwn(caller: Caller, { owner }: ResumableUpload): boolean {
    const { role, subject } = ownerOf(caller);
    return isService(caller) || (owner.role === role && owner.subject === subject);
  }

  private async assertMayUpload(caller: Caller, upload: NewResumableUpload): Promise<void> {
    const { address, contentType, options } = intendedFileOf(upload);
    const { target, limit } = await this.uploads.announced(caller, {
      bucket: address.bucket,
      given: options,
      announcedLength: upload.length,
    });
    if (target.mayUpload !== 'yes') throw forbidden();
    if (upload.length > limit) throw fileTooLarge(limit);
    if (contentType !== null && !isAllowed(contentType, target.allowedMimeTypes))
      throw unsupportedMediaType(contentType);
  }

  /**
   * Joins the parts of a complete upload to a file. One process at a time does this, and another one continues after a crash.
   * @param chosen the parts to join of an upload in numbered parts; default: all parts
   */
  async finish(caller: Caller, upload: ResumableUpload, chosen?: ChosenParts): Promise<UploadProgress> {
    const { project } = caller;
    const parts = chosen?.parts ?? (await this.repository.parts(project, upload.id));
    const whole = wholeOf(parts, chosen ? parts[0]?.size : upload.length);
    const object = whole ?? this.store.newAddress(project.id);
    const published = await this.repository.claim(project, upload.id, object);
    if (published === undefined) throw uploadIsFinishing();
    const renewal = setInterval(() => {
      // If a claim cannot be renewed, another process may join the parts, too. The name or the claim then refuses one of the two.
      this.repository.renew(project, upload.id, object, true).catch(() => undefined);
    }, RENEWAL_INTERVAL);
    try {
      const file =
        published === null
          ? await this.publish(caller, upload, parts, { object, isWhole: whole !== null, chosen })
          : null;
      this.remover.removeLater(await this.repository.complete(project, upload.id));
      return { upload: { ...upload, isCompleted: true }, file };
    } catch (error) {
      await this.repository.renew(project, upload.id, object, false);
      return await this.giveUp(project, upload.id, error);
    } finally {
      clearInterval(renewal);
    }
  }

  /** Rethrows the error of an upload. Removes the upload's rows if another attempt would fail in the same way. */
  private async giveUp(project: Project, id: string, error: unknown): Promise<never> {
    if (isFinal(error)) this.remover.removeLater(await this.repository.remove(project, id));
    throw error;
  }

  /** A part that is the whole file becomes the file unchanged; other parts are joined. */
  private async publish(
    caller: Caller,
    upload: ResumableUpload,
    parts: readonly UploadPart[],
    { object, isWhole, chosen }: { object: ObjectAddress; isWhole: boolean; chosen?: ChosenParts },
  ): Promise<Uploaded> {
    const { address, contentType, options } = intendedFileOf(upload);
    const length = chosen ? parts.reduce((sum, { size }) => sum + size, 0) : upload.length;
    const bytes = this.bytesOf(chosen ? inSequence(parts) : parts, length);
    if (isWhole) await this.store.seal(object, length);
    const join = isWhole ? undefined : this.joinerOf(parts, object, length);
    return this.uploads.upload(caller, {
      bucket: address.bucket,
      given: options,
      announcedLength: isWhole ? null : length,
      object,
      stored: isWhole || join ? { facts: this.writer.factsOf(upload), size: length, join } : undefined,
      receive: async () => formOfBytes(bytes, contentType, chosen && { etag: () => chosen.etag }),
    });
  }

  /** The function that joins the parts inside the store; undefined if they must be read and stored again. */
  private joinerOf(
    parts: readonly UploadPart[],
    object: ObjectAddress,
    length: number,
  ): (() => Promise<void>) | undefined {
    if (!this.store.join || length === 0) return undefined;
    return async () => {
      // The rows of parts may have been altered.
      if (parts.reduce((sum, { size }) => sum + size, 0) !== length) throw uploadNotFound();
      await this.store.join?.(parts, object).catch(missingAsNotFound);
    };
  }

  /** @throws AppError 404 if rows or bytes of parts are missing */
  private async *bytesOf(
    parts: readonly UploadPart[],
    length: number,
  ): AsyncGenerator<Buffer, void, undefined> {
    let end = 0;
    for (const { address, start, size } of parts) {
      if (start !== end) throw uploadNotFound();
      if (size === 0) continue;
      const found = await this.store.read(address, { start: 0, end: size - 1 }).catch(missingAsNotFound);
      if (Buffer.isBuffer(found)) yield found;
      // Copied, because the provider that stores may hold a chunk for longer than the one that reads keeps it.
      else for await (const chunk of found) yield Buffer.from(chunk);
      end += size;
    }
    if (end !== length) throw uploadNotFound();
  }
}

/** The object of the only part; null if there are several parts, or none. */
function wholeOf(parts: readonly UploadPart[], length = 0): ObjectAddress | null {
  const [part] = parts;
  return part && parts.length === 1 && part.size === length ? part.address : null;
}

/** The parts, with offsets in place of numbers. */
function inSequence(parts: readonly UploadPart[]): UploadPart[] {
  let end = 0;
  return parts.map((part) => {
    const start = end;
    end += part.size;
    return { ...part, start };
  });
}

/** Users of other issuers have no id here. */
function ownerOf({ role, userId, issuer, tokenClaims: { sub } }: Caller): UploadOwner {
  const isNamed = typeof sub === 'string' && (userId === null || issuer !== undefined);
  return { role, subject: isNamed ? `${issuer ?? ''} ${sub}` : userId };
}

const isFinal = (error: unknown): boolean =>
  error instanceof AppError && [uploadNotFound().code, fileInfected('').code].includes(error.code);

const isJoinable = (upload: ResumableUpload): boolean =>
  upload.received === upload.length && !upload.isCompleted && !isPartial(upload);
