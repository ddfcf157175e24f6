/** A Bloom filter of names, in memory that does not grow. Its false positives differ between filters. */
import { createHash, randomBytes } from 'node:crypto';

/** With a million names, two of 10,000 other names are false positives. */
const BYTES = 4 * 1024 * 1024;
const HASHES = 4;

export class NameFilter {
  private readonly bytes = Buffer.alloc(BYTES);
  private readonly salt = randomBytes(16);

  add(name: string): void {
    for (const bit of this.bitsOf(name))
      this.bytes[bit >>> 3] = (this.bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  mayHave(name: string): boolean {
    return this.bitsOf(name).every((bit) => ((this.bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
  }

  private bitsOf(name: string): number[] {
    const digest = createHash('sha256').update(this.salt).update(name).digest();
    return Array.from({ length: HASHES }, (_, index) => digest.readUInt32LE(4 * index) % (BYTES * 8));
  }
}
