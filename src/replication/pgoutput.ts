/**
 * Reads the messages of pgoutput, PostgreSQL's plugin for logical replication (manual, 54.9), version 1 of
 * its protocol. Values remain text. The types of columns are left out, since the target has them.
 *
 * Not pg-logical-replication (2.5.0): its decoder drops a U+FEFF at the beginning of a value, and converts
 * values with pg's parsers, which lose digits of times and numbers.
 */

/** A value in PostgreSQL's text format; undefined for a large value that an UPDATE did not change. */
export type Value<Text = string> = Text | null | undefined;

/** @typeParam Text the type that values are read as */
export type LogicalMessage<Text = string> =
  | {
      readonly kind: 'relation';
      readonly id: number;
      readonly schema: string;
      readonly name: string;
      readonly columns: string[];
      /** The columns of the replica identity. */
      readonly keys: string[];
      /** The replica identity is FULL. */
      readonly isFull: boolean;
    }
  /** Position of the commit, and its time in microseconds since 2000. */
  | { readonly kind: 'begin'; readonly commit: bigint; readonly at: bigint }
  | { readonly kind: 'insert'; readonly relation: number; readonly row: Value<Text>[] }
  /** `old` has the former key, or the whole former row, if the key changed or the table's replica identity is FULL. */
  | {
      readonly kind: 'update';
      readonly relation: number;
      readonly old: Value<Text>[] | null;
      readonly row: Value<Text>[];
    }
  | { readonly kind: 'delete'; readonly relation: number; readonly old: Value<Text>[] }
  | { readonly kind: 'truncate'; readonly relations: number[] }
  | { readonly kind: 'commit'; readonly end: bigint }
  /** Content of pg_logical_emit_message(). */
  | { readonly kind: 'message'; readonly content: string }
  | { readonly kind: 'other' };

const OTHER = { kind: 'other' } as const;

const decode = (bytes: Buffer): string => bytes.toString();

export function parseLogicalMessage(bytes: Buffer): LogicalMessage;
export function parseLogicalMessage<Text>(bytes: Buffer, read: (value: Buffer) => Text): LogicalMessage<Text>;
/** @param read reads a value, which shares memory with the message @throws RangeError for a message that ends too early */
export function parseLogicalMessage(
  bytes: Buffer,
  read: (value: Buffer) => unknown = decode,
): LogicalMessage<unknown> {
  const reader = new Reader(bytes, read);
  switch (reader.letter()) {
    case 'R':
      return relation(reader);
    case 'I': {
      const id = reader.int32();
      reader.letter();
      return { kind: 'insert', relation: id, row: reader.tuple() };
    }
    case 'U':
      return update(reader);
    case 'D': {
      const id = reader.int32();
      reader.letter();
      return { kind: 'delete', relation: id, old: reader.tuple() };
    }
    case 'T': {
      const count = reader.int32();
      reader.byte();
      return { kind: 'truncate', relations: Array.from({ length: count }, () => reader.int32()) };
    }
    case 'B':
      return { kind: 'begin', commit: reader.int64(), at: reader.int64() };
    case 'C':
      reader.skip(1 + 8);
      return { kind: 'commit', end: reader.int64() };
    case 'M':
      reader.skip(1 + 8);
      reader.name();
      return { kind: 'message', content: reader.content(reader.int32()).toString() };
    default:
      return OTHER;
  }
}

function relation<Text>(reader: Reader<Text>): LogicalMessage<Text> {
  const id = reader.int32();
  const [schema, name] = [reader.name(), reader.name()];
  const isFull = reader.letter() === 'f';
  const keys: string[] = [];
  const columns = Array.from({ length: reader.int16() }, () => {
    const isKey = reader.byte() === 1;
    const column = reader.name();
    reader.skip(4 + 4);
    if (isKey) keys.push(column);
    return column;
  });
  return { kind: 'relation', id, schema, name, columns, keys, isFull };
}

function update<Text>(reader: Reader<Text>): LogicalMessage<Text> {
  const id = reader.int32();
  const hasOld = reader.letter() !== 'N';
  const old = hasOld ? reader.tuple() : null;
  if (hasOld) reader.letter();
  return { kind: 'update', relation: id, old, row: reader.tuple() };
}

class Reader<Text> {
  private at = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly read: (value: Buffer) => Text,
  ) {}

  skip(count: number): void {
    this.at += count;
  }

  byte(): number {
    return this.bytes.readUInt8(this.move(1));
  }

  letter(): string {
    return String.fromCharCode(this.byte());
  }

  int16(): number {
    return this.bytes.readUInt16BE(this.move(2));
  }

  int32(): number {
    return this.bytes.readUInt32BE(this.move(4));
  }

  int64(): bigint {
    return this.bytes.readBigUInt64BE(this.move(8));
  }

  /** Reads a text that ends with a zero. */
  name(): string {
    const end = this.bytes.indexOf(0, this.at);
    if (end < 0) throw new RangeError('a name without an end');
    const text = this.bytes.toString('utf8', this.at, end);
    this.at = end + 1;
    return text;
  }

  content(length: number): Buffer {
    const from = this.move(length);
    if (this.at > this.bytes.length) throw new RangeError('a value without an end');
    return this.bytes.subarray(from, this.at);
  }

  tuple(): Value<Text>[] {
    return Array.from({ length: this.int16() }, () => this.value());
  }

  private value(): Value<Text> {
    switch (this.letter()) {
      case 'n':
        return null;
      case 'u':
        return undefined;
      default:
        return this.read(this.content(this.int32()));
    }
  }

  private move(count: number): number {
    const from = this.at;
    this.at += count;
    return from;
  }
}
