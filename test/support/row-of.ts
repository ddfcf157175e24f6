/** Rows in PostgreSQL's wire format, for tests of printing. */

/** In binary format, or as text. */
export type Value = Buffer | string | null;

export function rowOf(values: readonly Value[]): Buffer {
  return Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.from(value ?? '');
      return Buffer.concat([int32(value === null ? -1 : bytes.length), bytes]);
    }),
  );
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
