/** Passes a file's bytes from the socket's events to an async iterator: searches for their end, and queues them. */

const CR = 13;

/**
 * Finds the end of a form's file part: CRLF, two hyphens and the boundary (RFC 2046, 5.1.1), in chunks as they arrive. Used
 * only for the file, which is nearly all of a form: Buffer.indexOf() is native code, while busboy searches in JavaScript.
 */
export class BoundarySearch {
  /**
   * Number of bytes at the end of the input that may begin the delimiter. They equal the first bytes of the
   * delimiter, so they are not stored.
   */
  private held: number;

  /**
   * @param delimiter contains CR as its first byte only, so it can begin nowhere but at a CR
   * @param before the last bytes of the part that busboy has already searched; at least as many as the delimiter has
   */
  constructor(
    private readonly delimiter: Buffer,
    before: Buffer,
  ) {
    this.held = this.beginsAtEndOf(before);
  }

  /**
   * @param onBytes takes the bytes that certainly belong to the part
   * @returns the rest from the delimiter on; null if the delimiter was not found yet
   */
  push(chunk: Buffer, onBytes: (bytes: Buffer) => void): Buffer | null {
    if (this.held > 0) {
      const wanted = this.delimiter.subarray(this.held, this.held + chunk.length);
      if (chunk.subarray(0, wanted.length).equals(wanted)) {
        this.held += wanted.length;
        if (this.held < this.delimiter.length) return null;
        return Buffer.concat([this.delimiter, chunk.subarray(wanted.length)]);
      }
      onBytes(this.delimiter.subarray(0, this.held));
    }
    const end = chunk.indexOf(this.delimiter);
    this.held = end < 0 ? this.beginsAtEndOf(chunk) : 0;
    const own = end < 0 ? chunk.length - this.held : end;
    if (own > 0) onBytes(chunk.subarray(0, own));
    return end < 0 ? null : chunk.subarray(end);
  }

  private beginsAtEndOf(chunk: Buffer): number {
    const last = chunk.subarray(Math.max(0, chunk.length - this.delimiter.length + 1));
    const begin = last.lastIndexOf(CR);
    if (begin < 0) return 0;
    const length = last.length - begin;
    return this.delimiter.subarray(0, length).equals(last.subarray(begin)) ? length : 0;
  }
}

type Step = IteratorResult<Buffer, undefined>;

interface Waiting {
  readonly resolve: (step: Step) => void;
  readonly reject: (error: Error) => void;
}

/** Bytes from which a chunk is passed on unchanged. */
const SMALL = 4 * 1024;

const DONE: Step = { done: true, value: undefined };

/**
 * Passes chunks to an async iterator. Merges small chunks, which a Readable does not: a sender may send single bytes, and a buffer
 * for each would take a hundred times as much memory.
 */
export class ChunkQueue implements AsyncIterableIterator<Buffer> {
  private readonly chunks: Buffer[] = [];
  private waiting: Waiting | null = null;
  private state: 'open' | 'ended' | Error = 'open';
  private held = 0;
  /** Small chunks that are not queued yet, merged; a single chunk is kept as it arrived. */
  private small: Buffer | null = null;
  private smallBytes = 0;

  /** @param onTaken called after the reader took a chunk */
  constructor(private readonly onTaken: () => void) {}

  /** Bytes that the reader has not taken yet. */
  get bytes(): number {
    return this.held;
  }

  push(chunk: Buffer): void {
    if (this.state !== 'open') return;
    this.held += chunk.length;
    if (chunk.length < SMALL) this.merge(chunk);
    if (chunk.length >= SMALL || this.smallBytes >= SMALL) this.enqueueSmall();
    if (chunk.length >= SMALL) this.enqueue(chunk);
  }

  end(): void {
    if (this.state !== 'open') return;
    this.enqueueSmall();
    this.state = 'ended';
    this.takeWaiting()?.resolve(DONE);
  }

  /** The reader gets the error immediately; chunks that it has not taken are dropped. */
  fail(error: Error): void {
    if (this.state instanceof Error) return;
    this.state = error;
    this.drop();
    this.takeWaiting()?.reject(error);
  }

  next(): Promise<Step> {
    const chunk = this.chunks.shift();
    if (chunk) {
      this.held -= chunk.length;
      this.onTaken();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.state === 'ended') return Promise.resolve(DONE);
    if (this.state !== 'open') return Promise.reject(this.state);
    return new Promise((resolve, reject) => (this.waiting = { resolve, reject }));
  }

  /** Called when the reader stops. */
  return(): Promise<Step> {
    this.end();
    this.drop();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private merge(chunk: Buffer): void {
    if (this.small === null) this.small = chunk;
    else {
      // The first chunk is copied only when a second one arrives: most files are a single chunk.
      if (this.small.length === this.smallBytes) this.small = withRoom(this.small);
      this.small.set(chunk, this.smallBytes);
    }
    this.smallBytes += chunk.length;
  }

  private enqueueSmall(): void {
    if (this.small === null) return;
    const bytes = this.small.subarray(0, this.smallBytes);
    this.small = null;
    this.smallBytes = 0;
    this.enqueue(bytes);
  }

  private enqueue(chunk: Buffer): void {
    const waiting = this.takeWaiting();
    if (waiting) {
      this.held -= chunk.length;
      waiting.resolve({ done: false, value: chunk });
    } else this.chunks.push(chunk);
  }

  private takeWaiting(): Waiting | null {
    const { waiting } = this;
    this.waiting = null;
    return waiting;
  }

  private drop(): void {
    this.chunks.length = 0;
    this.small = null;
    this.smallBytes = 0;
    this.held = 0;
  }
}

/** A copy with room for the small chunks that are merged with it. */
function withRoom(bytes: Buffer): Buffer {
  const room = Buffer.allocUnsafeSlow(2 * SMALL);
  room.set(bytes);
  return room;
}
