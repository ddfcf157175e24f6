/** Compresses archives, and recognises how one was compressed. */
import { PassThrough, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Compression, ZSTD, ZSTD_MISSING } from '../../config/compression';
import { notSupported } from '../../copies/copies.errors';
import { AGE_ENDING, AGE_MAGIC, isEncrypted } from './age';
import { ParallelGzip } from './parallel-gzip';
import { continued, readHead } from './stream-head';

/** Level of both formats. Fast: higher levels take several times as long for a tenth of the size. */
const LEVEL = 1;
/** Level of gzip for content that is already compressed. */
const STORED = 0;
/** Bytes of one piece of output. */
const CHUNK = 256 * 1024;
/** Bytes that wait for the thread that compresses. */
const AHEAD = 1024 * 1024;

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

const ENDINGS: Record<Compression, string> = { gzip: '.tar.gz', zstd: '.tar.zst', none: '.tar' };
const MEDIA_TYPES: Record<Compression, string> = {
  gzip: 'application/gzip',
  zstd: 'application/zstd',
  none: 'application/x-tar',
};
export const ARCHIVE_TYPES: readonly string[] = Object.values(MEDIA_TYPES);

/** `.tar.gz` */
export const endingOf = (compression: Compression): string => ENDINGS[compression];
export const mediaTypeOf = (compression: Compression): string => MEDIA_TYPES[compression];

/** The compression that the name of a file implies; gzip for any other name. */
export function compressionOf(path: string): Compression {
  const name = path.endsWith(AGE_ENDING) ? path.slice(0, -AGE_ENDING.length) : path;
  if (/\.(tar\.)?t?zst$/.test(name)) return 'zstd';
  return name.endsWith('.tar') ? 'none' : 'gzip';
}

/** @throws AppError 400 if this version of Node.js lacks it */
export function assertAvailable(compression: Compression): void {
  if (compression === 'zstd' && !ZSTD.createZstdCompress) throw notSupported(ZSTD_MISSING);
}

/** @param isCompressed the content is already compressed */
export function compressor(compression: Compression, isCompressed: boolean): Transform {
  if (compression === 'none') return new PassThrough();
  if (compression === 'gzip') return new ParallelGzip(isCompressed ? STORED : LEVEL);
  assertAvailable(compression);
  const { createZstdCompress: create, constants } = ZSTD;
  if (!create) throw new Error(ZSTD_MISSING);
  return create({
    chunkSize: CHUNK,
    highWaterMark: AHEAD,
    params: { [constants.ZSTD_c_compressionLevel ?? 0]: LEVEL },
  });
}

/**
 * The content of a stream that may be compressed.
 * @throws AppError 400 if this version of Node.js lacks the format, or it is encrypted
 */
export async function* decompressed(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const head = await readHead(chunks, AGE_MAGIC.length);
  const decoder = decoderOf(head);
  if (!decoder) {
    yield* continued(head, chunks);
    return;
  }
  // A failure of the source reaches the reader of the decoder.
  const fed = pipeline(continued(head, chunks), decoder).catch(() => undefined);
  try {
    yield* decoder as AsyncIterable<Buffer>;
  } finally {
    decoder.destroy();
    await fed;
  }
}

function decoderOf(head: Buffer): Transform | null {
  if (head.subarray(0, AGE_MAGIC.length).equals(AGE_MAGIC)) throw isEncrypted();
  if (head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) return createGunzip({ chunkSize: CHUNK });
  if (!head.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC)) return null;
  if (!ZSTD.createZstdDecompress) throw notSupported(`The archive is compressed with zstd: ${ZSTD_MISSING}`);
  return ZSTD.createZstdDecompress({ chunkSize: CHUNK });
}
