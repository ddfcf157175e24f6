/** Reads a request's body into memory, up to a limit. For bodies that are not meant to stream. */
import type { IncomingMessage } from 'node:http';
import { httpError } from '../../common/errors/http-errors';
import { BodyBlocks } from '../../common/http/body-blocks';
import { BodyPace, type PaceLimits } from './body-pace';

/** Bytes up to which a body is taken as it comes, if it comes in one piece. */
const SMALL = 64 * 1024;

export interface ReadOptions {
  /** Bytes. */
  readonly limit: number;
  readonly pace: PaceLimits;
  /** Told of bytes that nothing announced, before they are kept. May throw to refuse them. */
  readonly onUnannounced: (bytes: number) => void;
}

/** Bytes of a body as its head tells (RFC 9112, 6.3); null for one that comes in chunks. */
export function announcedLength({ headers }: IncomingMessage): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
}

/**
 * @throws AppError 413 as soon as the limit is passed, 400 when the client breaks off, 408 when it is too slow, and what
 *   onUnannounced throws
 */
export function readBody(request: IncomingMessage, options: ReadOptions): Promise<Buffer> {
  const length = announcedLength(request);
  return new Promise((resolve, reject) => {
    if (length === 0) resolve(Buffer.alloc(0));
    // What happened while the request waited is not told again.
    else if (request.destroyed) reject(endedEarly(request.errored));
    else new BodyReading(request, options, length, resolve, reject);
  });
}

class BodyReading {
  private readonly collected: Collector;
  private readonly pace: BodyPace;
  private size = 0;

  constructor(
    private readonly request: IncomingMessage,
    private readonly options: ReadOptions,
    length: number | null,
    private readonly resolve: (body: Buffer) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.collected = length === null ? new UnannouncedBody(options.onUnannounced) : new AnnouncedBody(length);
    this.pace = new BodyPace(options.pace, true, () =>
      this.fail(httpError(408, 'The body did not arrive in time')),
    );
    request.on('data', this.onData);
    request.on('end', this.onEnd);
    request.on('error', this.onBreak);
    request.on('close', this.onBreak);
  }

  private readonly onData = (chunk: Buffer): void => {
    this.size += chunk.length;
    this.pace.take(chunk.length);
    try {
      if (this.size > this.options.limit) throw bodyTooLarge(this.options.limit);
      this.collected.add(chunk);
    } catch (error) {
      this.fail(error);
    }
  };

  private readonly onEnd = (): void => {
    this.stop();
    this.resolve(this.collected.whole());
  };

  private readonly onBreak = (error?: Error): void => this.fail(endedEarly(error));

  /** The rest is read and thrown away: see linger.ts. */
  private fail(error: unknown): void {
    this.stop();
    this.request.resume();
    this.reject(error);
  }

  private stop(): void {
    const { request } = this;
    this.pace.end();
    request.off('data', this.onData);
    request.off('end', this.onEnd);
    request.off('error', this.onBreak);
    request.off('close', this.onBreak);
  }
}

interface Collector {
  add(chunk: Buffer): void;
  whole(): Buffer;
}

/** Takes no more memory than the body has bytes, however small the pieces are that it comes in. */
class AnnouncedBody implements Collector {
  private only: Buffer | null = null;
  private bytes: Buffer | null = null;
  private filled = 0;

  constructor(private readonly length: number) {}

  add(chunk: Buffer): void {
    if (chunk.length === this.length && this.length <= SMALL) {
      this.only = chunk;
      return;
    }
    this.bytes ??= Buffer.allocUnsafeSlow(this.length);
    this.bytes.set(chunk, this.filled);
    this.filled += chunk.length;
  }

  whole(): Buffer {
    return this.only ?? this.bytes ?? Buffer.alloc(0);
  }
}

/** In blocks: a chunk may be a single byte, and a buffer of its own for each would take a hundred times as much. */
class UnannouncedBody implements Collector {
  private readonly blocks = new BodyBlocks();

  constructor(private readonly onBytes: (bytes: number) => void) {}

  add(chunk: Buffer): void {
    this.onBytes(chunk.length);
    this.blocks.append(chunk);
  }

  whole(): Buffer {
    const blocks = this.blocks.take();
    return blocks.length === 1 ? (blocks[0] as Buffer) : Buffer.concat(blocks);
  }
}

/** @param limit bytes */
export function bodyTooLarge(limit: number): Error {
  return httpError(413, `The body is larger than ${limit} bytes`);
}

function endedEarly(cause?: unknown): Error {
  return httpError(400, 'The body ended early', cause);
}
