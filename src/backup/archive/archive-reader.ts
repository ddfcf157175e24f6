/**
 * Reads an archive from a stream, member by member, and compares each with its checksum. The archive is intact only when
 * the iteration has ended without an error.
 */
import { createHash } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Extract, type Header } from 'tar-stream';
import { AppError } from '../../common/errors/app-error';
import { messageOf } from '../../common/errors/error-facts';
import { isJsonObject } from '../../common/text/json';
import { archiveInvalid } from '../backup.errors';
import { assertManifest } from './archive-checks';
import {
  ArchiveManifest,
  FORMAT,
  MANIFEST,
  MANIFEST_MAC,
  MEMBERS_PER_SUMS,
  SUMS_FOLDER,
  wholeName,
} from './archive-format';
import { MANIFEST_LIMITS, parseMember } from './archived-json';
import { decompressed } from './compression';

/** Bytes of a member that is held in memory. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Bytes of a list of checksums. */
const MAX_SUMS_BYTES = 16 * 1024 * 1024;
/** Characters of a member's name. */
const MAX_NAME = 1_000;

export interface ArchiveMember {
  /** Name of the member, without the suffix of a part. */
  readonly name: string;
  /** Bytes of the first part, which is all of a member that has no parts. */
  readonly size: number;
  /** Must be read before the next member; the rest is skipped. */
  readonly chunks: AsyncGenerator<Buffer, void, undefined>;
}

/** The end of an intact archive. */
export interface ArchiveEnd {
  readonly manifest: ArchiveManifest;
  /** Bytes of the manifest, and their authentication code. */
  readonly manifestBytes: Buffer;
  readonly mac: string;
}

/** A member in the tar file. */
interface Entry extends AsyncIterable<Buffer> {
  readonly header: Header;
}

interface Current {
  readonly name: string;
  readonly size: number;
  readonly entry: Entry;
}

export class ArchiveReader {
  private readonly tar: Extract = extract();
  private readonly entries: AsyncIterator<Entry>;
  /** Lines of checksums since the last list. */
  private lines: string[] = [];
  private readonly sums: string[] = [];
  private count = 0;
  private current: Current | null = null;
  private end: ArchiveEnd | null = null;

  constructor(input: Readable) {
    this.entries = (this.tar as unknown as AsyncIterable<Entry>)[Symbol.asyncIterator]();
    // A failure of the input reaches the entries.
    pipeline(input, decompressed, this.tar as unknown as Writable).catch((error: unknown) =>
      this.tar.destroy(error as Error),
    );
  }

  /** @throws AppError 400 when the archive is damaged or incomplete */
  async *members(): AsyncGenerator<ArchiveMember, ArchiveEnd, undefined> {
    try {
      await this.advance();
      while (this.current) {
        const name = wholeName(this.current.name);
        const chunks = this.chunksOf(name);
        yield { name, size: this.current.size, chunks };
        for await (const _chunk of chunks) continue;
      }
      return this.end ?? fail('it has no end');
    } catch (error) {
      throw toArchiveError(error);
    } finally {
      this.tar.destroy();
    }
  }

  /** The content of a small member. @param limit bytes */
  static async hold(chunks: AsyncIterable<Buffer>, limit = MAX_HELD_BYTES): Promise<Buffer> {
    const held: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limit) fail('a member is too large');
      held.push(chunk);
    }
    return Buffer.concat(held);
  }

  private async *chunksOf(name: string): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const { current } = this;
      if (!current || wholeName(current.name) !== name) return;
      try {
        yield* this.read(current);
        await this.advance();
      } catch (error) {
        // Reported here: the reader of a member would mistake it for a fault of the member's content.
        throw toArchiveError(error);
      }
    }
  }

  private async *read({ name, entry }: Current): AsyncGenerator<Buffer, void, undefined> {
    const hash = createHash('sha256');
    for await (const chunk of entry) {
      hash.update(chunk);
      yield chunk;
    }
    this.lines.push(`${hash.digest('hex')}  ${name}\n`);
    this.count += 1;
    if (this.lines.length > MEMBERS_PER_SUMS) fail('a list of checksums is missing');
  }

  /** Goes to the next member with content, past the lists of checksums and the manifest, which it checks. */
  private async advance(): Promise<void> {
    for (;;) {
      const entry = await this.nextEntry();
      if (!entry) {
        this.current = null;
        return;
      }
      const { name, size, type } = entry.header;
      if (name.length > MAX_NAME) fail('the name of a member is too long');
      if (type !== 'file') fail(`${name} is not a file`);
      if (this.end) fail('it has members after its end');
      if (name.startsWith(SUMS_FOLDER)) await this.checkSums(entry);
      else if (name === MANIFEST) await this.readManifest(entry);
      else {
        this.current = { name, size, entry };
        return;
      }
    }
  }

  private async nextEntry(): Promise<Entry | null> {
    const result = (await this.entries.next()) as IteratorResult<Entry, undefined>;
    return result.value ?? null;
  }

  private async checkSums(entry: Entry): Promise<void> {
    const listed = await ArchiveReader.hold(entry, MAX_SUMS_BYTES);
    if (!listed.equals(Buffer.from(this.lines.join(''))))
      fail(difference(this.lines, listed.toString('utf8')));
    this.lines = [];
    this.sums.push(createHash('sha256').update(listed).digest('hex'));
  }

  private async readManifest(entry: Entry): Promise<void> {
    const manifestBytes = await ArchiveReader.hold(entry, MANIFEST_LIMITS.bytes);
    const content = await parseMember(MANIFEST, manifestBytes, MANIFEST_LIMITS);
    if (!isJsonObject(content) || content.format !== FORMAT) fail('its format is not supported');
    await assertManifest(content);
    const manifest = content as unknown as ArchiveManifest;
    if (this.lines.length > 0) fail(difference(this.lines, ''));
    if (manifest.members !== this.count || !hasSums(manifest, this.sums)) fail('members are missing');
    const last = await this.nextEntry();
    if (last?.header.name !== MANIFEST_MAC) fail('it has no end');
    const mac = await ArchiveReader.hold(last);
    this.end = { manifest, manifestBytes, mac: mac.toString('utf8').trim() };
  }
}

const hasSums = ({ sums }: ArchiveManifest, expected: readonly string[]): boolean =>
  sums.length === expected.length && expected.every((sum, index) => sums[index] === sum);

/**
 * The first member that differs from the list of checksums.
 * @param lines the checksum lines of the members that were read
 * @param listed the list in the archive
 */
function difference(lines: readonly string[], listed: string): string {
  const expected = new Map(listed.split('\n', MEMBERS_PER_SUMS + 1).map((line) => [memberOf(line), line]));
  for (const line of lines) {
    const name = memberOf(line);
    const found = expected.get(name);
    if (found === undefined) return `the member ${name} is missing in the lists of checksums`;
    if (found !== line.trimEnd()) return `the member ${name} differs from its checksum`;
    expected.delete(name);
  }
  const [missing] = [...expected.keys()].filter((name) => name !== '');
  return missing === undefined ? 'a list of checksums was altered' : `the member ${missing} is missing`;
}

/** The name in a line of `sha256sum`. */
const memberOf = (line: string): string => line.slice(66).trimEnd();

/** The fault of the archive that an error in reading it means. */
function toArchiveError(error: unknown): AppError {
  return error instanceof AppError ? error : archiveInvalid(messageOf(error), error);
}

function fail(reason: string): never {
  throw archiveInvalid(reason);
}
