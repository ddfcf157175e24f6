/** Chunks on their way from a socket's events to whoever takes them one by one; with less ado than a Readable. */

type Step = IteratorResult<Buffer, undefined>;

interface Waiting {
  readonly resolve: (step: Step) => void;
  readonly reject: (error: Error) => void;
}

const DONE: Step = { done: true, value: undefined };

export class ChunkQueue implements AsyncIterableIterator<Buffer> {
  private readonly chunks: Buffer[] = [];
  private waiting: Waiting | null = null;
  private state: 'open' | 'ended' | Error = 'open';
  private held = 0;

  /** @param onTaken called when a chunk was taken */
  constructor(private readonly onTaken: () => void) {}

  /** Bytes that nobody has taken yet. */
  get bytes(): number {
    return this.held;
  }

  push(chunk: Buffer): void {
    if (this.state !== 'open') return;
    if (this.waiting) this.answer().resolve({ done: false, value: chunk });
    else {
      this.chunks.push(chunk);
      this.held += chunk.length;
    }
  }

  end(): void {
    if (this.state !== 'open') return;
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

  private answer(): Waiting {
    const waiting = this.waiting as Waiting;
    this.waiting = null;
    return waiting;
  }

  private drop(): void {
    this.chunks.length = 0;
    this.held = 0;
  }
}
