/** Cuts the body of a request into parts that are stored and acknowledged one by one. */
import { createHash, type Hash } from 'node:crypto';

/** Number of bytes after which a part is committed. A crash loses more if the previous commit is still running. */
const PART_BYTES = 8 * 1024 * 1024;

export class BodyParts {
  private readonly chunks: AsyncIterator<Buffer>;
  private readonly hash: Hash | null;
  private rest: Buffer | undefined;
  /** Maximum bytes of the last part. */
  size = 0;
  /** Why the body ended early; null if it did not. */
  failure: Error | null = null;

  /**
   * @param left maximum bytes that may arrive
   * @param exceeded the error if more arrive
   * @param algorithm of the digest; null for none
   */
  constructor(
    bytes: AsyncIterable<Buffer>,
    private left: number,
    private readonly exceeded: () => Error,
    algorithm: string | null,
  ) {
    this.chunks = bytes[Symbol.asyncIterator]();
    this.hash = algorithm === null ? null : createHash(algorithm);
  }

  /** Waits for the first bytes of the next part. @returns false at the end of the body */
  async hasMore(): Promise<boolean> {
    while (this.rest === undefined || this.rest.length === 0) {
      try {
        const next = await this.chunks.next();
        if (next.done === true) return false;
        this.rest = next.value;
        this.hash?.update(next.value);
      } catch (error) {
        this.failure = error as Error;
        return false;
      }
    }
    return true;
  }

  /** The bytes of the next part. Ends early if the body does. @throws `exceeded` if too many bytes arrive */
  async *part(): AsyncGenerator<Buffer, void, undefined> {
    this.size = 0;
    while (this.size < PART_BYTES && (await this.hasMore())) {
      const chunk = this.rest?.subarray(0, PART_BYTES - this.size) ?? Buffer.alloc(0);
      this.rest = this.rest?.subarray(chunk.length);
      this.left -= chunk.length;
      if (this.left < 0) throw this.exceeded();
      this.size += chunk.length;
      yield chunk;
    }
  }

  digest(): Buffer | null {
    return this.hash?.digest() ?? null;
  }

  /** Stops reading. */
  stop(): void {
    void this.chunks.return?.(undefined);
  }
}
