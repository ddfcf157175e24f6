/** Extracts the rows of a COPY TO STDOUT from PostgreSQL's messages (PostgreSQL manual, 54.2.6). */

const COPY_DATA = 'd'.charCodeAt(0);
/** Messages that can arrive before or between the rows: CopyOutResponse, ParameterStatus, notices, notifications. */
const OTHERS = new Set(['H', 'S', 'N', 'A'].map((code) => code.charCodeAt(0)));
/** Bytes of the code and the length of a message; the length counts itself, but not the code. */
const [HEAD, LENGTH] = [5, 4];

export class CopyFrames {
  private readonly head = Buffer.alloc(HEAD);
  private headBytes = 0;
  private isRows = false;
  /** Bytes of the message's content that have not arrived. */
  private missing = 0;

  /**
   * Overwrites the chunk: the rows in it move to its beginning, which takes no memory for each of them.
   * @returns the bytes of the rows, and the bytes from the message on that ends the COPY, or null
   */
  push(chunk: Buffer): { readonly rows: Buffer; readonly rest: Buffer | null } {
    let [at, kept] = [0, 0];
    while (at < chunk.length) {
      if (this.missing === 0) {
        if (this.headBytes === 0 && !isOfCopy(chunk[at]))
          return { rows: chunk.subarray(0, kept), rest: chunk.subarray(at) };
        at = this.readHead(chunk, at);
        continue;
      }
      const end = Math.min(chunk.length, at + this.missing);
      if (this.isRows) {
        chunk.copyWithin(kept, at, end);
        kept += end - at;
      }
      this.missing -= end - at;
      at = end;
    }
    return { rows: chunk.subarray(0, kept), rest: null };
  }

  /** @returns the position of the end of the head */
  private readHead(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.head, this.headBytes, at);
    this.headBytes += copied;
    if (this.headBytes === HEAD) {
      this.headBytes = 0;
      this.isRows = this.head[0] === COPY_DATA;
      this.missing = Math.max(0, this.head.readUInt32BE(1) - LENGTH);
    }
    return at + copied;
  }
}

const isOfCopy = (code: number | undefined): boolean =>
  code === COPY_DATA || (code !== undefined && OTHERS.has(code));
