/**
 * Joins the small chunks of a body that its reader has not taken yet. A client may send a body in chunks of one byte (RFC 9112, 7.1), and
 * Node.js makes an object of 300 bytes of each: 16 KiB that wait for a reader took 5 MB.
 */
import { IncomingMessage } from 'node:http';

/** Bytes of a chunk that is not joined with others. */
const LARGE = 1024;
/** Bytes of joined chunks. */
const BLOCK = 4 * 1024;

/**
 * Requests whose small chunks are joined. Each call makes a separate class, whose prototype may be changed. Express sets that
 * prototype on requests of other servers, too, such as the metrics server: their constructor set none of these members.
 */
export function joiningRequests(): typeof IncomingMessage {
  return class extends IncomingMessage {
    declare private block: Buffer | undefined;
    /** Bytes of the block. */
    declare private filled: number | undefined;

    /** Called by Node.js for each chunk, and with null at the end. False: the socket is paused until the next read(). */
    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      // A chunk that goes to the reader immediately is not copied.
      const isJoined =
        chunk !== null && chunk.length < LARGE && (this.block !== undefined || this.readableLength > 0);
      if (isJoined) return this.join(chunk);
      this.flush();
      return super.push(chunk, encoding);
    }

    /** Called for every reader. Until push() the stream does not ask for more, so joined chunks would wait for further chunks. */
    override read(size?: number): unknown {
      this.flush();
      return super.read(size);
    }

    private join(chunk: Buffer): boolean {
      if ((this.filled ?? 0) + chunk.length > BLOCK) this.flush();
      this.block ??= Buffer.allocUnsafeSlow(BLOCK);
      const filled = this.filled ?? 0;
      this.filled = filled + chunk.copy(this.block, filled);
      return this.readableLength + this.filled < this.readableHighWaterMark;
    }

    private flush(): void {
      if (this.block === undefined) return;
      const joined = this.block.subarray(0, this.filled);
      [this.block, this.filled] = [undefined, 0];
      super.push(joined);
    }
  };
}
