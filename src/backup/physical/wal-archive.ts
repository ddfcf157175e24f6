/** The directory that has the write-ahead log of one cluster: complete segments, a partial last segment, and histories. */
import {
  constants,
  copyFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import {
  historyName,
  isHistoryName,
  parseSegmentName,
  SEGMENT_BYTES,
  SegmentFile,
  segmentName,
  segmentOf,
  startOfSegment,
} from './wal-position';

const PARTIAL = '.partial';
const PRIVATE = { file: 0o600, directory: 0o700 };

/** Removes the segments before this file, on every timeline. Histories stay. @returns how many were removed */
export async function pruneArchive(directory: string, firstFile: string): Promise<number> {
  const first = parseSegmentName(firstFile)?.number ?? 0;
  const old = (await readdir(directory)).filter((name) => (parseSegmentName(name)?.number ?? first) < first);
  for (const name of old) await rm(path.join(directory, name), { force: true });
  return old.length;
}

/** The archive cannot take the log of this cluster, or lacks a part of it. The message is one clear line. */
export class WalArchiveError extends Error {
  override readonly name = 'WalArchiveError';
}

export class WalArchive {
  private file: FileHandle | undefined;
  private isDirty = false;
  /** Position of the next byte; undefined before open(). */
  private end = 0n;

  private constructor(
    /** `<WAL_ARCHIVE_DIR>/<system id>` */
    readonly directory: string,
    private timeline: number,
  ) {}

  /** @param systemId the system identifier of the cluster: each cluster has its own folder, which it keeps when it is restored */
  static directoryOf(root: string, systemId: string): string {
    return path.join(root, systemId);
  }

  static async open(directory: string, timeline: number): Promise<WalArchive> {
    await mkdir(directory, { recursive: true, mode: PRIVATE.directory });
    return new WalArchive(directory, timeline);
  }

  /** The end of the archive of this timeline: the segment after its last complete one; null if it has none. */
  async resumeAt(): Promise<bigint | null> {
    const segments = (await segmentsIn(this.directory)).filter(({ timeline }) => timeline === this.timeline);
    const complete = segments.filter(({ isPartial }) => !isPartial).map(({ number }) => number + 1);
    const partial = segments.filter(({ isPartial }) => isPartial).map(({ number }) => number);
    const all = [...complete, ...partial];
    return all.length === 0 ? null : startOfSegment(all.reduce((most, one) => Math.max(most, one)));
  }

  /**
   * Stores the history of the timeline.
   * @throws WalArchiveError when another cluster has stored one of the same number
   */
  async putHistory(content: string): Promise<void> {
    const file = path.join(this.directory, historyName(this.timeline));
    const stored = await readFile(file, 'utf8').catch(() => null);
    if (stored === content) return;
    if (stored !== null) {
      throw new WalArchiveError(
        `${file} belongs to another restored copy of this install: set WAL_ARCHIVE_DIR to an empty directory, and make a new physical backup`,
      );
    }
    await writeFile(`${file}.new`, content, { mode: PRIVATE.file, flush: true });
    await rename(`${file}.new`, file);
    await this.syncDirectory();
  }

  /** Begins to write at the start of a segment. */
  begin(position: bigint): void {
    this.end = position;
  }

  /** Position after the last byte that was written. */
  get position(): bigint {
    return this.end;
  }

  /** Appends bytes. @throws WalArchiveError when they do not follow the last bytes */
  async write(position: bigint, bytes: Buffer): Promise<void> {
    if (position !== this.end)
      throw new WalArchiveError('PostgreSQL sent another part of the log than expected');
    for (let at = 0; at < bytes.length;) {
      const offset = Number(this.end % BigInt(SEGMENT_BYTES));
      const part = bytes.subarray(at, at + SEGMENT_BYTES - offset);
      // Does not truncate: the stored bytes of the segment are the same, and stay until they are written again.
      const file =
        this.file ??
        (await open(this.current() + PARTIAL, constants.O_RDWR | constants.O_CREAT, PRIVATE.file));
      this.file = file;
      await writeAll(file, part, offset);
      this.isDirty = true;
      at += part.length;
      if (offset + part.length === SEGMENT_BYTES) await this.complete();
      this.end += BigInt(part.length);
    }
  }

  /** Makes all bytes that were written durable. */
  async sync(): Promise<void> {
    if (!this.isDirty) return;
    await this.file?.datasync();
    this.isDirty = false;
  }

  async close(): Promise<void> {
    const { file } = this;
    try {
      await this.sync();
    } finally {
      this.file = undefined;
      await file?.close();
    }
  }

  private async complete(): Promise<void> {
    await this.close();
    await rename(this.current() + PARTIAL, this.current());
    await this.syncDirectory();
  }

  /** Path of the segment that has the next byte. */
  private current(): string {
    return path.join(this.directory, segmentName(this.timeline, segmentOf(this.end)));
  }

  private async syncDirectory(): Promise<void> {
    const directory = await open(this.directory, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}

async function segmentsIn(directory: string): Promise<SegmentFile[]> {
  const names = await readdir(directory);
  return names.map(parseSegmentName).filter((segment) => segment !== null);
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}

/** Copies the histories of an archive into a cluster, so that a new timeline gets a number that is free there. */
export async function copyHistories(archive: string, walDirectory: string): Promise<void> {
  const names = await readdir(archive).catch(() => []);
  for (const name of names.filter(isHistoryName))
    await copyFile(path.join(archive, name), path.join(walDirectory, name));
}

/**
 * Copies the segments of an archive into a cluster, from a segment on. Segments that are there already stay.
 * @param since first segment that recovery needs
 * @throws WalArchiveError when one of them is missing
 */
export async function copySegments(archive: string, walDirectory: string, since: SegmentFile): Promise<void> {
  const segments = (await segmentsIn(archive)).filter(({ number }) => number >= since.number);
  const present = await segmentsIn(walDirectory);
  assertComplete([...segments, ...present], since, archive);
  const isThere = new Set([...present, ...segments.filter(({ isPartial }) => !isPartial)].map(nameOf));
  for (const segment of segments) {
    const name = nameOf(segment);
    const target = path.join(walDirectory, name);
    if (present.some((one) => nameOf(one) === name)) continue;
    if (!segment.isPartial) await copyFile(path.join(archive, name), target);
    else if (!isThere.has(name)) await copyPartial(path.join(archive, name + PARTIAL), target);
  }
}

const nameOf = ({ timeline, number }: SegmentFile): string => segmentName(timeline, number);

function assertComplete(segments: readonly SegmentFile[], since: SegmentFile, archive: string): void {
  const numbers = new Set(segments.map(({ number }) => number));
  const last = segments.reduce((most, { number }) => Math.max(most, number), since.number);
  for (let number = since.number; number <= last; number += 1) {
    if (numbers.has(number)) continue;
    throw new WalArchiveError(
      `${segmentName(since.timeline, number)} is missing in ${archive}: the log has a gap, and later times cannot be restored from this backup`,
    );
  }
}

/** PostgreSQL reads whole segments, and stops at the zeros. */
async function copyPartial(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const file = await open(to, 'r+');
  try {
    await file.truncate(SEGMENT_BYTES);
  } finally {
    await file.close();
  }
}
