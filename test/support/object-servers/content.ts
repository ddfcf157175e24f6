/** The bytes of an object, in the chunks in which they arrived. They are never joined, because an object may have gigabytes. */
export class Content {
  private readonly pieces: Buffer[] = [];
  private length = 0;

  get size(): number {
    return this.length;
  }

  append(piece: Buffer): this {
    this.pieces.push(piece);
    this.length += piece.length;
    return this;
  }

  /** The bytes from `start` to `end` (inclusive). */
  part(start: number, end: number): Content {
    const part = new Content();
    for (const piece of this.between(start, end)) part.append(piece);
    return part;
  }

  private *between(start: number, end: number): Generator<Buffer> {
    let at = 0;
    for (const piece of this.pieces) {
      const [from, to] = [Math.max(start - at, 0), Math.min(end + 1 - at, piece.length)];
      if (from < to) yield piece.subarray(from, to);
      at += piece.length;
      if (at > end) return;
    }
  }

  [Symbol.iterator](): Iterator<Buffer> {
    return this.pieces.values();
  }
}
