/**
 * The space that is kept free on the disks that Plinth itself writes to, so that PostgreSQL continues when they are nearly full.
 */
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '../common/errors/app-error';
import { APP_CONFIG, AppConfig } from '../config/app-config';
import { freeBytes, MIN_FREE_BYTES } from '../database/embedded/disk-space';
import { FilesSize } from './files-size';
import { Metrics } from '../infra/metrics/metrics';

const MIB = 1024 * 1024;
const POLL_INTERVAL_MS = 1_000;
/** Bytes of a request up to which it counts as a small write. */
const SMALL_WRITE = 64 * 1024;
/** Bytes of a copy after which the space is checked again. */
const CHECKED_BYTES = 4 * MIB;
/** Milliseconds for which uploads up to CHECKED_BYTES share one reading of the free space, less the bytes of uploads that ended since. */
const SHARED_MS = 100;
const RETRY_SECONDS = 60;

/** Too little space is left. The message names no path. */
export class DiskFullWarning extends Error {}

const diskReserved = (): AppError =>
  new AppError(503, '53100', 'The disk is nearly full: reads, deletions and small writes are possible', {
    headers: { 'Retry-After': String(RETRY_SECONDS) },
    database: { sqlstate: '53100', hint: 'Delete rows or files, or have the disk enlarged.' },
  });

const filesLimitReached = (): AppError =>
  new AppError(
    503,
    '53100',
    'The files of all projects have reached the limit of STORAGE_URL: nothing more can be uploaded',
    {
      headers: { 'Retry-After': String(RETRY_SECONDS) },
      database: { sqlstate: '53100', hint: 'Delete files, or have the limit raised.' },
    },
  );

interface Reading {
  /** Milliseconds of the monotonic clock. */
  readonly from: number;
  /** The value of DiskReserve.ended at that time. */
  readonly ended: number;
  readonly free: Promise<number>;
}

const readFree = async <L>(labels: L, directory: string): Promise<[L, number]> => [
  labels,
  await freeBytes(directory).catch(() => 0),
];

@Injectable()
export class DiskReserve implements OnApplicationShutdown {
  /** Absolute path; null if the database is on another server. */
  private readonly databaseDirectory: string | null;
  /** Absolute path; null if files are kept elsewhere. */
  private readonly filesDirectory: string | null;
  private readonly directories: readonly string[];
  private readonly reserve: number;
  /** Null if there is no limit for the files of all projects. */
  private readonly files: FilesSize | null;
  private readonly filesLimit: number;
  private readonly timer: NodeJS.Timeout;
  /** Whether only deletions are admitted: PostgreSQL may need the remaining space for them. */
  private isExhausted = false;
  private readonly readings = new Map<string, Reading>();
  /** Bytes of the uploads in progress. */
  private claimed = 0;
  /** Bytes of the uploads that have ended. */
  private ended = 0;

  constructor(@Inject(APP_CONFIG) { database, dataDir, storage, disk }: AppConfig, metrics: Metrics) {
    this.databaseDirectory = database.url === null ? dataDir : null;
    this.filesDirectory = storage.provider === 'disk' ? storage.diskDir : null;
    this.directories = [this.databaseDirectory, this.filesDirectory].filter((one) => one !== null);
    this.reserve = disk.reserveBytes;
    this.filesLimit = disk.filesLimitBytes ?? Infinity;
    const isLimited = this.filesDirectory !== null && disk.filesLimitBytes !== null;
    this.files = isLimited ? new FilesSize(this.filesDirectory) : null;
    this.timer = setInterval(() => void this.poll(), POLL_INTERVAL_MS).unref();
    const disks = { database: this.databaseDirectory, files: this.filesDirectory };
    metrics.gauges(
      'plinth_disk_free_bytes',
      'Bytes left on the disk of the embedded database and of the files',
      ['of'],
      () =>
        Promise.all(
          Object.entries(disks).flatMap(([of, directory]) =>
            directory === null ? [] : [readFree({ of }, directory)],
          ),
        ),
      'min',
    );
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.files?.stop();
  }

  /** True when the database is on this machine. */
  get hasDatabase(): boolean {
    return this.databaseDirectory !== null;
  }

  /**
   * @param bytes the size of a write to the database; a write of unknown size counts as large
   * @throws AppError 503 for a large write into the reserve, and for every write when almost no space is left
   */
  async assertMayWrite(bytes: number): Promise<void> {
    if (this.databaseDirectory === null || this.reserve === 0) return;
    if (this.isExhausted) throw diskReserved();
    if (bytes > SMALL_WRITE) await this.assertRoom([this.databaseDirectory]);
  }

  /**
   * @throws AppError 503 when a copy, such as a restore, would use the reserve.
   * @param directories default: the directories of all data
   */
  async assertRoom(directories = this.directories, bytes = 0, maxAgeMs = 0): Promise<void> {
    if (directories === this.directories) this.assertFilesFit(bytes);
    if (this.reserve === 0) return;
    for (const directory of directories)
      if ((await this.freeBytes(directory, maxAgeMs)) - bytes < this.reserve) throw diskReserved();
  }

  private async freeBytes(directory: string, maxAgeMs: number): Promise<number> {
    const now = performance.now();
    let reading = this.readings.get(directory);
    if (!reading || now - reading.from >= maxAgeMs) {
      reading = { from: now, ended: this.ended, free: freeBytes(directory).catch(() => Infinity) };
      this.readings.set(directory, reading);
    }
    return (await reading.free) - (this.ended - reading.ended);
  }

  /** Runs an upload. @param bytes the maximum @throws AppError 503 when uploads in progress need the rest of the space */
  async during<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.filesDirectory === null) return work();
    this.claimed += bytes;
    try {
      await this.assertRoom(this.directories, this.claimed, bytes <= CHECKED_BYTES ? SHARED_MS : 0);
      const result = await work();
      this.files?.add(bytes);
      return result;
    } finally {
      this.claimed -= bytes;
      this.ended += bytes;
    }
  }

  /** Counts bytes that a failed upload has stored. */
  count(bytes: number): void {
    this.files?.add(bytes);
  }

  /** Passes the chunks on. @throws AppError 503 when they use the reserve */
  async *watched(
    chunks: AsyncIterable<Buffer>,
    directories?: string[],
  ): AsyncGenerator<Buffer, void, undefined> {
    let [bytes, total] = [CHECKED_BYTES, 0];
    for await (const chunk of chunks) {
      bytes += chunk.length;
      total += chunk.length;
      this.assertFilesFit(total);
      if (bytes >= CHECKED_BYTES) {
        bytes = 0;
        await this.assertRoom(directories);
      }
      yield chunk;
    }
    this.files?.add(total);
  }

  private assertFilesFit(bytes: number): void {
    if (this.files && this.files.bytes + bytes > this.filesLimit) throw filesLimitReached();
  }

  /** @throws DiskFullWarning */
  warnOfDatabase(): Promise<void> {
    return this.warn(this.databaseDirectory);
  }

  /** @throws DiskFullWarning */
  warnOfFiles(): Promise<void> {
    return this.warn(this.filesDirectory);
  }

  private async warn(directory: string | null): Promise<void> {
    if (directory === null) return;
    const left = await freeBytes(directory);
    if (left >= Math.max(MIN_FREE_BYTES, this.reserve)) return;
    const full = left < MIB ? 'full' : 'nearly full';
    throw new DiskFullWarning(`the disk is ${full}: ${Math.floor(left / MIB)} MiB left`);
  }

  private async poll(): Promise<void> {
    if (this.databaseDirectory === null) return;
    const left = await freeBytes(this.databaseDirectory).catch(() => Infinity);
    this.isExhausted = left < MIN_FREE_BYTES;
  }
}
