/**
 * Pictures made from files, in their own processes (docs/reference/storage-js.md). A rendition is an object
 * with a row; it is made once, and sent like a file.
 */
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Slots } from '../../admission/slots';
import { busy } from '../../common/errors/app-error';
import { Project } from '../../projects/project';
import { FileContent, StoredBytes } from '../files/file';
import { ObjectMissingError, ObjectStore } from '../providers/object-store';
import { ObjectRemover } from '../removal/object-remover.service';
import { fileTooLarge, pictureNotSupported, pictureUnusable, storageUnavailable } from '../storage.errors';
import {
  BadPictureError,
  Picture,
  PictureOptions,
  PictureProcess,
  PictureProcessError,
} from './picture-process';
import { RenditionRepository } from './rendition.repository';
import { MAX_SIDE, optionsOf } from './transformation';

/** Maximum bytes of a file. */
const MAX_INPUT = 50 * 1024 * 1024;
/** Maximum pixels of a file: those of the largest camera pictures, which take 200 MB of memory. */
const MAX_PIXELS = 50_000_000;
const SECONDS = 15;
/**
 * Number of picture processes per process of Plinth, even on one core: a project uses one at a time, so no
 * project delays the others.
 */
const PROCESSES = 2;
const MAX_WAITING = 128;
const WAIT_TIMEOUT_MS = 30_000;
/** Number of pictures after which a process is replaced: it may have leaked memory, or a hostile file may have changed it. */
const PICTURES_OF_A_PROCESS = 500;
const IDLE_MS = 60_000;
const RENDITION_CACHE_SIZE = 10_000;
/** A file that has ended a process is not tried again for ten minutes. */
const FAULT_CACHE = { max: 1_000, ttl: 10 * 60_000 };

export const TOO_MANY_PICTURES = busy('Too many pictures are being made');

/** A rendition, with its bytes if it could not be stored. */
export type Rendition = FileContent & { readonly bytes?: Buffer };

interface IdleProcess {
  readonly process: PictureProcess;
  uses: number;
  timer?: NodeJS.Timeout;
}

@Injectable()
export class RenditionsService implements OnApplicationShutdown {
  private readonly logger = new Logger(RenditionsService.name);
  private readonly slots = new Slots(PROCESSES, MAX_WAITING, {
    perTenant: 1,
    waitTimeoutMs: WAIT_TIMEOUT_MS,
  });
  private readonly idle: IdleProcess[] = [];
  private readonly known = new LRUCache<string, StoredBytes>({ max: RENDITION_CACHE_SIZE });
  private readonly faulty = new LRUCache<string, true>(FAULT_CACHE);
  /** Keyed by rendition: several requests share the same work. */
  private readonly current = new Map<string, Promise<Rendition>>();

  constructor(
    private readonly renditions: RenditionRepository,
    private readonly store: ObjectStore,
    private readonly remover: ObjectRemover,
  ) {}

  onApplicationShutdown(): void {
    for (const { process, timer } of this.idle.splice(0)) {
      clearTimeout(timer);
      process.end();
    }
  }

  /**
   * @param transformation as returned by textOf()
   * @param isLost the rendition that was found before no longer has bytes
   * @throws AppError 400 for invalid options or a broken file, 413 for a file that is too large, 415 for another format, 503
   *   if the picture cannot be made now
   */
  async rendition(
    project: Project,
    file: FileContent,
    transformation: string,
    accept: string | undefined,
    isLost: boolean,
  ): Promise<Rendition> {
    if (file.size > MAX_INPUT) throw fileTooLarge(MAX_INPUT);
    const picture = optionsOf(transformation, accept);
    const options = keyOf(picture);
    const key = `${sourceOf(file)} ${options}`;
    const known = isLost ? undefined : this.known.get(key);
    if (known) return { ...file, ...known };
    const found = isLost ? null : await this.renditions.findRendition(project, file.address, options);
    if (found) {
      this.known.set(key, found);
      return { ...file, ...found };
    }
    const current = this.current.get(key) ?? this.make(project, file, picture);
    this.current.set(key, current);
    try {
      return { ...file, ...(await current) };
    } finally {
      this.current.delete(key);
    }
  }

  private async make(project: Project, file: FileContent, picture: PictureOptions): Promise<Rendition> {
    const source = sourceOf(file);
    if (this.faulty.has(source)) throw pictureUnusable();
    const { bytes, format } = await this.slots
      .use(
        () => this.tryTwice(file, picture),
        () => TOO_MANY_PICTURES,
        project.id,
      )
      .catch((error: unknown) => {
        if (error instanceof BadPictureError && error.isOtherFormat)
          throw pictureNotSupported(file.contentType);
        if (error instanceof PictureProcessError) this.faulty.set(source, true);
        if (error instanceof BadPictureError || error instanceof PictureProcessError)
          throw pictureUnusable(error);
        throw error instanceof ObjectMissingError ? storageUnavailable(error) : error;
      });
    const made = {
      address: this.store.newAddress(project.id),
      contentType: `image/${format}`,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    };
    const isKept = await this.keep(project, file, keyOf(picture), made, bytes);
    return { ...file, ...made, ...(isKept ? {} : { bytes }) };
  }

  /** The system may have ended the process for a reason that is unrelated to this file. */
  private async tryTwice(file: FileContent, picture: PictureOptions): Promise<Picture> {
    try {
      return await this.render(file, picture, this.takeIdle());
    } catch (error) {
      if (!(error instanceof PictureProcessError) || error.isFinal) throw error;
      this.logger.warn(`${error.message} at file ${file.id}`);
      // Whatever ended that process may have ended the waiting processes, too.
      return this.render(file, picture);
    }
  }

  private async render(
    file: FileContent,
    picture: PictureOptions,
    worker: IdleProcess = { process: new PictureProcess(), uses: 0 },
  ): Promise<Picture> {
    worker.uses += 1;
    const job = { ...picture, size: file.size, maxPixels: MAX_PIXELS, maxSide: MAX_SIDE, seconds: SECONDS };
    try {
      return await worker.process.render(job, this.store.readWhole(file.address, file.size));
    } finally {
      if (worker.uses >= PICTURES_OF_A_PROCESS) worker.process.end();
      else if (worker.process.isAlive) this.putIdle(worker);
    }
  }

  private takeIdle(): IdleProcess | undefined {
    for (let worker = this.idle.pop(); worker; worker = this.idle.pop()) {
      clearTimeout(worker.timer);
      if (worker.process.isAlive) return worker;
    }
    return undefined;
  }

  private putIdle(worker: IdleProcess): void {
    worker.timer = setTimeout(() => {
      this.idle.splice(this.idle.indexOf(worker), 1);
      worker.process.end();
    }, IDLE_MS).unref();
    this.idle.push(worker);
  }

  /** @returns false if there is no room, or if nothing may be written now: the picture is sent anyway */
  private async keep(
    project: Project,
    file: FileContent,
    options: string,
    made: StoredBytes,
    bytes: Buffer,
  ): Promise<boolean> {
    try {
      await this.store.put(made.address, chunksOf(bytes));
      if (await this.renditions.insertRendition(project, file.address, options, made)) {
        this.known.set(`${sourceOf(file)} ${options}`, made);
        return true;
      }
      this.remover.removeLater([made.address, ...(await this.renditions.removeOldest(project))]);
    } catch (error) {
      this.logger.warn(`a picture of project ${project.slug} could not be kept: ${String(error)}`);
    }
    return false;
  }
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}

/** The key includes the project, because an owner can write the id of another project's object. */
const sourceOf = ({ address: { projectId, objectId } }: FileContent): string => `${projectId} ${objectId}`;

/** Equal pictures have equal keys, whether the client requested a format or only accepts it. */
const keyOf = ({ width, height, resizing, quality, format }: PictureOptions): string =>
  [width ?? '', height ?? '', resizing, quality, format].join(' ');
