/**
 * Chunks on their way from a socket's events to a reader that takes them one by one; simpler than a Readable. Small ones are put
 * together: a sender may send single bytes, and a buffer of its own for each takes a hundred times as much memory.
 */

type Step = IteratorResult<Buffer, undefined>;

interface Waiting {
  readonly resolve: (step: Step) => void;
  readonly reject: (error: Error) => void;
}

/** Bytes from which a chunk goes on as it is. */
const SMALL = 4 * 1024;

const DONE: Step = { done: true, value: undefined };

export class ChunkQueue implements AsyncIterableIterator<Buffer> {
  private readonly chunks: Buffer[] = [];
  private waiting: Waiting | null = null;
  private state: 'open' | 'ended' | Error = 'open';
  private held = 0;
  /** Small chunks that were not handed on yet; the only one as it came. */
  private small: Buffer | null = null;
  private smallBytes = 0;

  /** @param onTaken called when a chunk was taken */
  constructor(private readonly onTaken: () => void) {}

  /** Bytes that nobody has taken yet. */
  get bytes(): number {
    return this.held;
  }

  push(chunk: Buffer): void {
    if (this.state !== 'open') return;
    this.held += chunk.length;
    if (chunk.length < SMALL) this.gather(chunk);
    if (chunk.length >= SMALL || this.smallBytes >= SMALL) this.handOnSmall();
    if (chunk.length >= SMALL) this.handOn(chunk);
  }

  end(): void {
    if (this.state !== 'open') return;
    this.handOnSmall();
    this.state = 'ended';
    if (this.waiting) this.answer().resolve(DONE);
  }

  /** The taker gets the error at once, whatever it has not taken yet. */
  fail(error: Error): void {
    if (this.state instanceof Error) return;
    this.state = error;
    this.drop();
    if (this.waiting) this.answer().reject(error);
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

  /** The taker wants no more. */
  return(): Promise<Step> {
    this.end();
    this.drop();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private gather(chunk: Buffer): void {
    if (this.small === null) this.small = chunk;
    else {
      // The first one stays as it came until a second one comes: most files are a single chunk.
      if (this.small.length === this.smallBytes) this.small = grown(this.small);
      this.small.set(chunk, this.smallBytes);
    }
    this.smallBytes += chunk.length;
  }

  private handOnSmall(): void {
    if (this.small === null) return;
    const bytes = this.small.subarray(0, this.smallBytes);
    this.small = null;
    this.smallBytes = 0;
    this.handOn(bytes);
  }

  private handOn(chunk: Buffer): void {
    if (this.waiting) {
      this.held -= chunk.length;
      this.answer().resolve({ done: false, value: chunk });
    } else this.chunks.push(chunk);
  }

  private answer(): Waiting {
    const waiting = this.waiting as Waiting;
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

/** The same bytes, with room for as many small chunks as are put together. */
function grown(bytes: Buffer): Buffer {
  const room = Buffer.allocUnsafeSlow(2 * SMALL);
  room.set(bytes);
  return room;
}
