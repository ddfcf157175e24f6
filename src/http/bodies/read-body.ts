/** Reads a request's body into memory, up to a limit. For bodies that are not meant to stream. */
import type { IncomingMessage } from 'node:http';
import { BodyBlocks } from '../../row-stream/row-body';
import { bodyEndedEarly, bodyTooLarge, bodyTooSlow } from './body.errors';
import { BodyPace, type PaceLimits } from '../../admission/body-pace';

/** A body of up to this many bytes that arrives in one chunk is not copied. */
const SMALL = 64 * 1024;

export interface ReadOptions {
  /** Bytes. */
  readonly limit: number;
  readonly pace: PaceLimits;
  /** Called with the bytes of a body without Content-Length, before they are kept. May throw to refuse them. */
  readonly onUnannounced: (bytes: number) => void;
}

/** Content-Length of a body (RFC 9112, 6.3), 0 without one; null for a chunked body. */
export function announcedLength({ headers }: IncomingMessage): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null;
}

/**
 * @throws AppError 413 as soon as the limit is passed, 400 when the client breaks off, 408 when it is too slow, and the
 *   errors of onUnannounced
 */
export function readBody(request: IncomingMessage, options: ReadOptions): Promise<Buffer> {
  const length = announcedLength(request);
  return new Promise((resolve, reject) => {
    if (length === 0) resolve(Buffer.alloc(0));
    // Events from before, while the request waited, are not emitted again.
    else if (request.destroyed) reject(bodyEndedEarly(request.errored));
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
    this.pace = new BodyPace(options.pace, true, () => this.fail(bodyTooSlow()));
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

  private readonly onBreak = (error?: Error): void => this.fail(bodyEndedEarly(error));

  /** The rest is discarded: see lingering-close.ts. */
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

/** Allocates the bytes of the body once, however small its chunks are. */
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

/** Copies chunks into blocks: a chunk may be a single byte, and keeping its buffer would take a hundred times as much. */
class UnannouncedBody implements Collector {
  private readonly blocks = new BodyBlocks();

  constructor(private readonly onBytes: (bytes: number) => void) {}

  add(chunk: Buffer): void {
    this.onBytes(chunk.length);
    this.blocks.append(chunk);
  }

  whole(): Buffer {
    const blocks = this.blocks.take();
    const [first] = blocks;
    return first && blocks.length === 1 ? first : Buffer.concat(blocks);
  }
}
