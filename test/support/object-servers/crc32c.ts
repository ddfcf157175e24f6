/** CRC-32C (RFC 3720, B.4), eight bytes per step: several gigabytes take seconds; with single bytes they would take a minute. */

/** Castagnoli's polynomial, reflected. */
const POLYNOMIAL = 0x82f63b78;
const STEP = 8;

/** CRCs of each byte followed by zero to seven zero bytes. */
const TABLES = tables();

function tables(): Int32Array[] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
    return value;
  });
  const all = [first];
  while (all.length < STEP) all.push((all.at(-1) as Int32Array).map((value) => shifted(value, first)));
  return all;
}

function shifted(value: number, first: Int32Array): number {
  return (value >>> 8) ^ (first[value & 0xff] as number);
}

export class Crc32c {
  private value = -1;

  update(bytes: Buffer): this {
    const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as [
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
      Int32Array,
    ];
    const at = (table: Int32Array, index: number): number => table[index] as number;
    let { value } = this;
    let position = 0;
    for (; position + STEP <= bytes.length; position += STEP) {
      const low = value ^ bytes.readInt32LE(position);
      const high = bytes.readInt32LE(position + 4);
      value =
        at(t7, low & 0xff) ^
        at(t6, (low >>> 8) & 0xff) ^
        at(t5, (low >>> 16) & 0xff) ^
        at(t4, low >>> 24) ^
        at(t3, high & 0xff) ^
        at(t2, (high >>> 8) & 0xff) ^
        at(t1, (high >>> 16) & 0xff) ^
        at(t0, high >>> 24);
    }
    for (; position < bytes.length; position += 1)
      value = (value >>> 8) ^ at(t0, (value ^ (bytes[position] as number)) & 0xff);
    this.value = value;
    return this;
  }

  /** Google's format: big-endian, in base64. */
  toString(): string {
    const result = Buffer.alloc(4);
    result.writeInt32BE(~this.value);
    return result.toString('base64');
  }
}
