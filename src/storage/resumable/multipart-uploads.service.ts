/**
 * Uploads in numbered parts, as in the S3 protocol. Each part is an object of the provider. Its row is one of
 * a resumable upload, and the last request joins the chosen parts as in a resumable upload.
 */
import { Injectable } from '@nestjs/common';
import { Caller } from '../../access/caller';
import { DiskReserve } from '../../limits/disk-reserve.service';
import { FileAddress } from '../files/named-files.service';
import { UploadParameters } from '../files/upload';
import { UploadService } from '../files/upload.service';
import { ObjectAddress, ObjectStore } from '../providers/object-store';
import { projectQuota } from '../quotas/quota';
import { ObjectRemover } from '../removal/object-remover.service';
import { fileTooLarge, tooManyUploads, uploadNotFound } from '../storage.errors';
import {
  formatUploadMetadata,
  intendedFileOf,
  MULTIPART,
  ResumableUpload,
  UploadPart,
} from './resumable-upload';
import { MAX_UNFINISHED, ResumableUploadRepository } from './resumable-upload.repository';
import { ResumableUploadsService } from './resumable-uploads.service';

/** A part as a request delivers it. */
export interface NewPart {
  readonly number: number;
  /** Content-Length, in bytes; null without one. */
  readonly announcedLength: number | null;
  /** The bytes, if they pass through Plinth; or a function that copies as many bytes as are announced inside the store. */
  readonly source: AsyncIterable<Buffer> | ((to: ObjectAddress) => Promise<void>);
  /** Call it after all bytes have been stored. @throws AppError if they are not the bytes that the client meant */
  end(): Promise<void>;
  /** The entity tag; known after end(). */
  etag(): string;
}

@Injectable()
export class MultipartUploadsService {
  constructor(
    private readonly repository: ResumableUploadRepository,
    private readonly resumable: ResumableUploadsService,
    private readonly uploads: UploadService,
    private readonly store: ObjectStore,
    private readonly remover: ObjectRemover,
    private readonly disk: DiskReserve,
  ) {}

  /**
   * @returns the id
   * @throws AppError 400 for an invalid name, 403 if a policy refuses, 404 if there is no such bucket, 415
   * for a type that the bucket does not accept, 429 for too many uploads
   */
  async create(
    caller: Caller,
    address: FileAddress,
    options: UploadParameters,
    type: string | null,
  ): Promise<string> {
    const uploadMetadata = formatUploadMetadata({
      bucketName: address.bucket,
      objectName: address.filename,
      contentType: type ?? undefined,
      cacheControl: options.cacheControl,
      metadata: options.metadata,
    });
    const given = { uploadMetadata, concat: MULTIPART, upsert: true, length: 0 };
    return (await this.resumable.begin(caller, given)).id;
  }

  /** @throws AppError 404, also for an upload of another caller or of another file */
  async find(caller: Caller, id: string, { bucket, filename }: FileAddress): Promise<ResumableUpload> {
    const upload = await this.resumable.own(caller, id, true);
    const { address } = intendedFileOf(upload);
    if (address.bucket !== bucket || address.filename !== filename) throw uploadNotFound();
    return upload;
  }

  /**
   * Stores a part, which replaces a part with the same number.
   * @throws AppError 400 for bytes that do not match their digest, 404 if the upload has ended, 413 if there
   * is no room, 429 for too many parts
   */
  async addPart(caller: Caller, upload: ResumableUpload, part: NewPart): Promise<void> {
    const { project } = caller;
    if (upload.isCompleted) throw uploadNotFound();
    const largest = this.uploads.largestFile(project);
    if ((part.announcedLength ?? 0) > largest) throw fileTooLarge(largest);
    const address = this.store.newAddress(project.id);
    const size = await this.disk.during(part.announcedLength ?? 0, () =>
      this.storePart(address, part, largest),
    );
    try {
      await part.end();
      const stored = { address, start: part.number, size, etag: part.etag() };
      const { bytes } = projectQuota(project);
      const outcome = await this.repository.addPart(project, upload.id, stored, bytes);
      if (outcome === 'no_room') throw tooManyUploads(MAX_UNFINISHED);
      if (outcome === 'gone') throw uploadNotFound();
      if (outcome.replaced) this.remover.removeLater([outcome.replaced]);
    } catch (error) {
      this.remover.removeLater([address]);
      throw error;
    }
  }

  /** @param largest maximum bytes of the part @returns its number of bytes */
  private async storePart(
    address: ObjectAddress,
    { source, announcedLength }: NewPart,
    largest: number,
  ): Promise<number> {
    if (typeof source === 'function') {
      await source(address);
      return announcedLength ?? 0;
    }
    let size = 0;
    async function* measured(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
      for await (const chunk of bytes) {
        size += chunk.length;
        if (size > largest) throw fileTooLarge(largest);
        yield chunk;
      }
    }
    const chunks = measured(source);
    await this.store.put(address, announcedLength === null ? this.disk.watched(chunks) : chunks);
    return size;
  }

  /** The parts, sorted by part number. */
  parts(caller: Caller, upload: ResumableUpload): Promise<UploadPart[]> {
    return this.repository.parts(caller.project, upload.id);
  }

  /** The uploads of the caller, or all uploads for the service role. */
  async list(caller: Caller): Promise<ResumableUpload[]> {
    const all = await this.repository.listMultipart(caller.project);
    return all.filter((upload) => this.resumable.isOwn(caller, upload));
  }

  async abort(caller: Caller, upload: ResumableUpload): Promise<void> {
    this.remover.removeLater(await this.repository.remove(caller.project, upload.id));
  }
}
