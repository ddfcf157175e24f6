/**
 * Reads a range of an object over a network. When a connection breaks or stalls, a new request continues at the next byte,
 * which is safe because objects never change.
 */
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ByteRange } from '../../http/syntax/byte-ranges';
import { storageUnavailable } from '../storage.errors';
import { ObjectMissingError, SMALL_READ } from './object-store';

/** Number of consecutive failures, without a byte between them, after which a read fails. */
const MAX_FAILURES = 3;
const FIRST_DELAY_MS = 100;

/** The part of a Readable that reading bytes needs. */
interface ByteSource extends AsyncIterable<Buffer> {
  destroy(reason: Error): unknown;
}

/** Opens a range; throws errors that occur before the first byte. */
export type OpenPart = (range: ByteRange) => Promise<Readable>;

/**
 * @param timeoutMs milliseconds without a byte after which a connection is considered broken
 * @throws ObjectMissingError, AppError 500 before the first byte
 */
export async function readResuming(
  open: OpenPart,
  range: ByteRange,
  timeoutMs: number,
): Promise<Buffer | AsyncIterable<Buffer>> {
  const first = await open(range);
  const bytes = resume(first, open, range, timeoutMs);
  return range.end - range.start < SMALL_READ ? collect(bytes) : bytes;
}

async function* resume(
  first: Readable,
  open: OpenPart,
  { start, end }: ByteRange,
  timeoutMs: number,
): AsyncGenerator<Buffer> {
  let at = start;
  let failures = 0;
  let part: Readable | null = first;
  while (at <= end) {
    try {
      part ??= await open({ start: at, end });
      for await (const chunk of withStallTimeout(part, timeoutMs)) {
        at += chunk.length;
        failures = 0;
        yield chunk;
      }
      if (at <= end) throw new Error(`the response ended ${end - at + 1} bytes early`);
    } catch (error) {
      failures += 1;
      if (failures > MAX_FAILURES || error instanceof ObjectMissingError) throw storageUnavailable(error);
      await sleep(FIRST_DELAY_MS * 2 ** failures);
    } finally {
      part?.destroy();
      part = null;
    }
  }
}

/** Destroys a stream that delivers no byte in time. The time that the reader takes does not count. */
async function* withStallTimeout(part: ByteSource, timeoutMs: number): AsyncGenerator<Buffer> {
  const stall = (): unknown => part.destroy(new Error(`no byte arrived for ${timeoutMs} ms`));
  let timer = setTimeout(stall, timeoutMs);
  try {
    for await (const chunk of part) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(stall, timeoutMs);
    }
  } finally {
    clearTimeout(timer);
  }
}

async function collect(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}
