/** A digest of rows in COPY's text format, in any order: a restored table may have another one. */
import { createHash, type Hash, hash } from 'node:crypto';

const LINE_END = '\n'.charCodeAt(0);
const LANES = 8;

export class RowsDigest {
  /** Rows so far. */
  count = 0;
  private readonly sums = new Uint32Array(LANES);
  /** The hash of a row that began in an earlier chunk. */
  private begun: Hash | undefined;

  /** @param chunk part of the text; each row ends with a line feed */
  add(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      this.addRow(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start === chunk.length) return;
    this.begun ??= createHash('sha256');
    this.begun.update(chunk.subarray(start));
  }

  equals(other: RowsDigest): boolean {
    return this.count === other.count && this.sums.every((sum, lane) => sum === other.sums[lane]);
  }

  private addRow(row: Buffer): void {
    const digest = this.begun ? this.begun.update(row).digest() : hash('sha256', row, 'buffer');
    this.begun = undefined;
    this.count += 1;
    // The typed array keeps the sums below 2^32.
    for (let lane = 0; lane < LANES; lane += 1)
      this.sums[lane] = (this.sums[lane] ?? 0) + digest.readUInt32LE(lane * 4);
  }
}
