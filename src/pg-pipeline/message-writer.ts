/**
 * Writes the messages of the extended query protocol (manual, 54.7) one after the other into one buffer. pg-protocol's
 * serializer makes a buffer for each message; joining them cost more CPU than everything else on a request's way to its
 * connection. It also binds with one result format for all columns, while a row here has text and binary columns.
 */
import { BINARY, type Format, NULL_LENGTH, TEXT } from './protocol';

/** The size of the buffer in bytes: most pipelines fit into it. */
const USUAL = 16 * 1024;
/** Bytes above which a buffer is returned instead of being copied and kept. */
const KEPT = 64 * 1024;
/** Bytes from which a value is sent without being copied: copying 50 MB blocks the event loop for as many milliseconds. */
const LARGE = 1024 * 1024;
/** Maximum number of UTF-8 bytes for a UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

const PARSE = 'P'.charCodeAt(0);
const BIND = 'B'.charCodeAt(0);
const DESCRIBE = 'D'.charCodeAt(0);
const EXECUTE = 'E'.charCodeAt(0);
const CLOSE = 'C'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);
const STATEMENT = 'S'.charCodeAt(0);
const PORTAL = 'P'.charCodeAt(0);
/** A text that is in UTF-8 already: decoding or encoding a large text would block the event loop. */
export class TextBytes {
  constructor(readonly bytes: Buffer) {}
}

/** A parameter as PostgreSQL accepts it: text, bytes in the type's binary format, or null. */
export type WireValue = string | TextBytes | Buffer | null;

export class MessageWriter {
  private bytes = Buffer.allocUnsafeSlow(USUAL);
  private at = 0;
  /** Large values with their positions. */
  private large: { readonly at: number; readonly bytes: Buffer }[] = [];
  /** Bytes of large values in the current message. */
  private largeBytes = 0;

  /** PostgreSQL infers the types of the parameters. An empty name is the unnamed statement. */
  parse(name: string, text: string): void {
    const length = this.begin(PARSE);
    this.cString(name);
    this.cString(text);
    this.int16(0);
    this.end(length);
  }

  /**
   * Binds the statement of that name to the unnamed portal.
   * @param formats of the result's columns: one for all columns, or one for each
   */
  bind(name: string, values: readonly WireValue[], formats: readonly Format[]): void {
    const length = this.begin(BIND);
    this.cString('');
    this.cString(name);
    this.formats(values);
    this.int16(values.length);
    for (const value of values) this.value(value);
    this.int16(formats.length);
    for (const format of formats) this.int16(format);
    this.end(length);
  }

  describePortal(): void {
    const length = this.begin(DESCRIBE);
    this.byte(PORTAL);
    this.cString('');
    this.end(length);
  }

  /** Requests all rows. */
  execute(): void {
    const length = this.begin(EXECUTE);
    this.cString('');
    this.int32(0);
    this.end(length);
  }

  closeStatement(name: string): void {
    const length = this.begin(CLOSE);
    this.byte(STATEMENT);
    this.cString(name);
    this.end(length);
  }

  /** Copies messages that were written before. */
  raw(bytes: Buffer): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  sync(): void {
    this.end(this.begin(SYNC));
  }

  /**
   * Like take(), but returns the bytes in parts, with the large values between them. A large value must not
   * change until it is sent.
   */
  takeParts(): Buffer[] {
    const { large } = this;
    this.large = [];
    const written = this.take();
    const parts: Buffer[] = [];
    let from = 0;
    for (const { at, bytes } of large) {
      parts.push(written.subarray(from, at), bytes);
      from = at;
    }
    return [...parts, written.subarray(from)];
  }

  /** False if take() returns everything. */
  get hasLarge(): boolean {
    return this.large.length > 0;
  }

  /** Returns the written bytes, which the writer does not change afterwards, and starts over. */
  take(): Buffer {
    const written = this.bytes.subarray(0, this.at);
    this.at = 0;
    if (this.bytes.length <= KEPT) return Buffer.from(written);
    this.bytes = Buffer.allocUnsafeSlow(USUAL);
    return written;
  }

  /** An empty format list means text for every value. */
  private formats(values: readonly WireValue[]): void {
    if (!values.some((value) => Buffer.isBuffer(value))) {
      this.int16(0);
      return;
    }
    this.int16(values.length);
    for (const value of values) this.int16(Buffer.isBuffer(value) ? BINARY : TEXT);
  }

  private value(value: WireValue): void {
    if (value === null) {
      this.int32(NULL_LENGTH);
      return;
    }
    if (typeof value === 'string') {
      const length = this.at;
      this.int32(0);
      this.text(value);
      this.bytes.writeInt32BE(this.at - length - 4, length);
      return;
    }
    const bytes = Buffer.isBuffer(value) ? value : value.bytes;
    this.int32(bytes.length);
    if (bytes.length < LARGE) {
      this.raw(bytes);
      return;
    }
    this.large.push({ at: this.at, bytes });
    this.largeBytes += bytes.length;
  }

  /** @returns the position of the message's length */
  private begin(code: number): number {
    this.byte(code);
    this.int32(0);
    this.largeBytes = 0;
    return this.at - 4;
  }

  /** A message's length counts itself, but not the code before it. */
  private end(length: number): void {
    this.bytes.writeInt32BE(this.at - length + this.largeBytes, length);
  }

  private byte(value: number): void {
    this.reserve(1);
    this.bytes[this.at] = value;
    this.at += 1;
  }

  private int16(value: number): void {
    this.reserve(2);
    this.at = this.bytes.writeUInt16BE(value, this.at);
  }

  private int32(value: number): void {
    this.reserve(4);
    this.at = this.bytes.writeInt32BE(value, this.at);
  }

  private cString(text: string): void {
    this.text(text);
    this.byte(0);
  }

  private text(text: string): void {
    // The bytes of a long text are counted, since reserving three bytes per character would take much memory.
    this.reserve(text.length < USUAL ? text.length * BYTES_PER_UNIT : Buffer.byteLength(text));
    this.at += this.bytes.write(text, this.at, 'utf8');
  }

  private reserve(more: number): void {
    const wanted = this.at + more;
    if (wanted <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.bytes.length));
    this.bytes.copy(grown, 0, 0, this.at);
    this.bytes = grown;
  }
}
