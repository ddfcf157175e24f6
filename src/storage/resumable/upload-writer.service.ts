/**
 * Stores the bytes of one request of a resumable upload. Where the store has objects that grow, the requests
 * of an upload write one object, which becomes the file unchanged. If another request is still writing that
 * object, or was interrupted, a request begins a new object.
 */
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { growingCache } from '../../common/growing-cache';
import { DiskReserve } from '../../limits/disk-reserve.service';
import { Project } from '../../projects/project';
import { ByteFacts, RunningFacts } from '../files/byte-meter';
import type { UploadForm } from '../files/upload';
import { isDefinite } from '../files/upload-rules';
import { GrowingObject, ObjectStore } from '../providers/object-store';
import { ObjectRemover } from '../removal/object-remover.service';
import { fileTooLarge, offsetTaken, uploadNotFound } from '../storage.errors';
import { BodyParts } from './body-parts';
import type { ResumableUpload, UploadPart } from './resumable-upload';
import { checksumMismatch, missingAsNotFound } from './resumable.errors';
import { ResumableUploadRepository } from './resumable-upload.repository';

/**
 * Maximum number of uploads whose hash so far is kept in memory. The bytes of other uploads are read again
 * when they are complete.
 */
const MAX_REMEMBERED = 1_000;

/** The bytes of one request. */
export interface ReceivedBytes {
  readonly offset: number;
  /** Content-Length, in bytes; null without one. */
  readonly announcedLength: number | null;
  readonly checksum: { readonly algorithm: string; readonly digest: Buffer } | null;
  /** Opens the body. @param held bytes that the provider holds in memory */
  receive(held: number): Promise<Pick<UploadForm, 'bytes' | 'release'>>;
}

/** An object that only one request writes. */
interface OwnObject {
  readonly object: GrowingObject;
  /** The part in the row, with the committed size. */
  readonly part: UploadPart;
  /** Identifies the request. */
  readonly writer: string;
}

@Injectable()
export class UploadWriter {
  /** Keyed by upload id; their size is the number of measured bytes. */
  private readonly facts = growingCache<RunningFacts>(MAX_REMEMBERED);

  constructor(
    private readonly repository: ResumableUploadRepository,
    private readonly store: ObjectStore,
    private readonly remover: ObjectRemover,
    private readonly disk: DiskReserve,
  ) {}

  /**
   * @returns the number of bytes that the upload has afterwards
   * @throws AppError 400 for bytes that end early, 408 if they arrive too slowly, 409 if another request has
   * added bytes, 413 for too many bytes, 460 for a wrong checksum, 503 if there is no memory
   */
  async receive(project: Project, upload: ResumableUpload, body: ReceivedBytes): Promise<number> {
    const { bytes, release } = await body.receive(this.store.heldBytes);
    const exceeded = (): Error => fileTooLarge(upload.length);
    const left = upload.length - body.offset;
    const parts = new BodyParts(bytes, left, exceeded, body.checksum?.algorithm ?? null);
    try {
      const own = await this.open(project, upload);
      const end = own
        ? await this.grow(project, upload, own, parts, body)
        : await this.storeParts(project, upload, parts, body);
      if (parts.failure !== null) {
        // DiskReserve.during() counts only requests that succeed.
        if (body.announcedLength !== null) this.disk.count(end - body.offset);
        throw parts.failure;
      }
      return end;
    } finally {
      parts.stop();
      release();
    }
  }

  /** Size, hash and first bytes of a complete upload; null if they are not known. */
  factsOf({ id, length }: ResumableUpload): ByteFacts | null {
    const facts = this.facts.get(id);
    this.facts.delete(id);
    return facts?.size === length ? facts.end() : null;
  }

  /**
   * Null if the store does not support growing objects.
   * @throws AppError 404 if the bytes so far are missing, 409 if another request has added bytes
   */
  private async open(project: Project, { id, received }: ResumableUpload): Promise<OwnObject | null> {
    if (!this.store.grow) return null;
    const writer = randomUUID();
    const last = received === 0 ? null : await this.repository.takeOver(project, id, received, writer);
    if (last === undefined) throw await this.outdated(project, id);
    const part = last ?? { address: this.store.newAddress(project.id), start: received, size: 0 };
    const object = await this.store.grow(part.address, part.size).catch(missingAsNotFound);
    return { object, part, writer };
  }

  /** Repeatedly syncs and commits the bytes that have arrived, while more is written. */
  private async grow(
    project: Project,
    upload: ResumableUpload,
    { object, part, writer }: OwnObject,
    parts: BodyParts,
    { checksum, announcedLength }: ReceivedBytes,
  ): Promise<number> {
    const facts = this.takeFacts(upload);
    const lastSize = Math.min(upload.length - part.start, part.size + (announcedLength ?? Infinity));
    let [size, committed] = [part.size, part.size];
    let committing: Promise<void> | null = null;
    let [mayBeCommitted, isOver] = [part.size > 0, false];
    const commit = async (isLast: boolean): Promise<void> => {
      mayBeCommitted = true;
      const [before, now] = [committed, size];
      await object.sync();
      if (!(await this.repository.grow(project, upload.id, { ...part, size: before }, now, writer, isLast)))
        throw await this.outdated(project, upload.id);
      committed = now;
      committing = null;
    };
    try {
      while (await parts.hasMore()) {
        // Announced bytes are already reserved.
        const chunks = announcedLength === null ? this.disk.watched(parts.part()) : parts.part();
        for await (const chunk of chunks) {
          facts?.update(chunk);
          await object.write(chunk);
        }
        await object.flush();
        size += parts.size;
        // The last commit is made below: it also lets other requests continue.
        if (checksum || committing || size === lastSize) continue;
        committing = commit(false);
        committing.catch(() => parts.stop());
      }
      await committing;
      if (checksum && parts.failure !== null) throw parts.failure;
      if (checksum && parts.digest()?.equals(checksum.digest) !== true) throw checksumMismatch();
      if (size > committed) {
        await commit(true);
        isOver = true;
      }
      if (facts) this.facts.set(upload.id, facts);
      return part.start + size;
    } finally {
      await committing?.catch(() => undefined);
      await object.close();
      // If nothing was committed, the last part belongs to another request, which may still be writing its object.
      const isOwn = committed > 0;
      if (isOwn && !isOver) await this.repository.release(project, upload.id, writer).catch(() => undefined);
      if (!mayBeCommitted) this.remover.removeLater([part.address]);
    }
  }

  /** Removes from memory the facts about the bytes so far, which this request continues. */
  private takeFacts({ id, received, length, concat }: ResumableUpload): RunningFacts | null {
    if (concat !== null || length === 0) return null;
    const facts = this.facts.get(id);
    this.facts.delete(id);
    if (received === 0) return new RunningFacts();
    return facts?.size === received ? facts : null;
  }

  /** Stores each part as its own object. */
  private async storeParts(
    project: Project,
    upload: ResumableUpload,
    parts: BodyParts,
    { checksum }: ReceivedBytes,
  ): Promise<number> {
    const facts = this.takeFacts(upload);
    const unchecked: UploadPart[] = [];
    let end = upload.received;
    async function* measured(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
      for await (const chunk of bytes) {
        facts?.update(chunk);
        yield chunk;
      }
    }
    try {
      while (await parts.hasMore()) {
        const address = this.store.newAddress(project.id);
        await this.store.put(address, measured(this.disk.watched(parts.part())));
        const part = { address, start: end, size: parts.size };
        end += part.size;
        if (checksum) unchecked.push(part);
        else await this.commit(project, upload.id, [part]);
      }
      if (checksum && (parts.failure !== null || parts.digest()?.equals(checksum.digest) !== true))
        throw parts.failure ?? checksumMismatch();
      await this.commit(project, upload.id, unchecked.splice(0));
      if (facts) this.facts.set(upload.id, facts);
      return end;
    } finally {
      this.remover.removeLater(unchecked.map(({ address }) => address));
    }
  }

  /** @throws AppError 409 if another request has added bytes since */
  private async commit(project: Project, id: string, [first, ...rest]: readonly UploadPart[]): Promise<void> {
    if (!first) return;
    const objects = [first, ...rest].map(({ address }) => address);
    try {
      if (await this.repository.append(project, id, [first, ...rest])) return;
    } catch (error) {
      if (isDefinite(error)) this.remover.removeLater(objects);
      throw error;
    }
    this.remover.removeLater(objects);
    throw await this.outdated(project, id);
  }

  private async outdated(project: Project, id: string): Promise<Error> {
    const now = await this.repository.find(project, id);
    return now ? offsetTaken(now.received) : uploadNotFound();
  }
}
