/** Prints text as a JSON string (RFC 8259, 7). */
import type { Printer } from './row-body';
import { printHex } from './binary-values';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const LETTER_U = 0x75;

/** Indexed by byte: 0 for a byte that is not escaped, else the letter after the backslash; `u` for \u00.. */
const ESCAPES = escapes();
/** Bytes of the longest escape sequence. */
const MAX_ESCAPE_BYTES = 6;
/** Maximum bytes of a row or value for which reserving room for the worst case costs less than counting escapes. */
const SMALL = 4 * 1024;
/** Bytes from which a native copy is faster. */
const LONG = 128;
/** Number of bytes of a text from which reading it word by word is faster. */
const MANY = 16;

/** A view of the last requested buffer: a buffer contains many values, and creating a view takes longer than reading a value. */
class LastView {
  private buffer: Buffer = Buffer.alloc(0);
  private view: DataView = new DataView(new ArrayBuffer(0));

  of(buffer: Buffer): DataView {
    if (buffer !== this.buffer) {
      this.buffer = buffer;
      this.view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
    }
    return this.view;
  }
}

const SOURCE = new LastView();
const TARGET = new LastView();

/** Prints a text without its quotes, or a part of such a text that may be cut anywhere. */
export const TEXT_PART: Printer = { maxBytes: maxEscaped, print: printEscaped };

/**
 * Maximum bytes that a row or value prints. The limit also holds for binary formats: they print at most six bytes per
 * byte. In a large row a value grows by less than the four bytes of its length, which are counted as escapes.
 */
export function maxEscaped(bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  if (length <= SMALL) return MAX_ESCAPE_BYTES * length;
  const source = SOURCE.of(bytes);
  let more = 0;
  let at = start;
  while (at < end) {
    if (at <= end - 4 && needsEscape(source.getInt32(at, true)) === 0) {
      at += 4;
      continue;
    }
    const escape = ESCAPES[bytes[at] as number];
    if (escape !== 0) more += escape === LETTER_U ? MAX_ESCAPE_BYTES - 1 : 1;
    at += 1;
  }
  return length + more;
}

export function printText(bytes: Buffer, from: number, end: number, into: Buffer, at: number): number {
  into[at] = QUOTE;
  const isShort = end - from < MANY;
  const to = isShort
    ? printBytes(bytes, from, into, at + 1, end)
    : printEscaped(bytes, from, into, at + 1, end);
  into[to] = QUOTE;
  return to + 1;
}

/** Reads eight bytes at a time as long as none of them needs an escape. */
function printEscaped(bytes: Buffer, from: number, into: Buffer, at: number, end: number): number {
  const source = SOURCE.of(bytes);
  const target = TARGET.of(into);
  let index = from;
  let to = at;
  while (index <= end - 8) {
    const low = source.getInt32(index, true);
    const high = source.getInt32(index + 4, true);
    if ((needsEscape(low) | needsEscape(high)) === 0) {
      target.setInt32(to, low, true);
      target.setInt32(to + 4, high, true);
      to += 8;
      index += 8;
    } else {
      to = printBytes(bytes, index, into, to, index + 4);
      index += 4;
    }
  }
  return printBytes(bytes, index, into, to, end);
}

/**
 * Not 0 if one of the four bytes is a control character, a quote or a backslash. Subtracting n from a byte below n borrows,
 * which sets its highest bit; `& ~` excludes bytes in which it was set before. A borrow can also reach the next byte; that
 * byte is then checked exactly. Exchanging 0x20 and 0x22 makes the quote the neighbour of the control characters.
 */
function needsEscape(word: number): number {
  const controls = word ^ 0x02020202;
  const backslashes = word ^ 0x5c5c5c5c;
  return (
    ((((controls - 0x21212121) | 0) & ~controls) | (((backslashes - 0x01010101) | 0) & ~backslashes)) &
    0x80808080
  );
}

function printBytes(bytes: Buffer, from: number, into: Buffer, at: number, end: number): number {
  let to = at;
  for (let index = from; index < end; index += 1) {
    const byte = bytes[index] as number;
    const escape = ESCAPES[byte] as number;
    if (escape === 0) {
      into[to++] = byte;
      continue;
    }
    into[to++] = BACKSLASH;
    into[to++] = escape;
    if (escape === LETTER_U) {
      into[to++] = ZERO;
      into[to++] = ZERO;
      to = printHex(byte, into, to);
    }
  }
  return to;
}

export function copyPart(bytes: Buffer, from: number, end: number, into: Buffer, at: number): number {
  if (end - from >= LONG) return at + bytes.copy(into, at, from, end);
  let to = at;
  for (let index = from; index < end; index += 1) into[to++] = bytes[index] as number;
  return to;
}

export function copy(bytes: Buffer, into: Buffer, at: number): number {
  return copyPart(bytes, 0, bytes.length, into, at);
}

function escapes(): Uint8Array {
  const table = new Uint8Array(256);
  table.fill(LETTER_U, 0, 0x20);
  for (const pair of ['\bb', '\ff', '\nn', '\rr', '\tt', '""', '\\\\']) {
    table[pair.charCodeAt(0)] = pair.charCodeAt(1);
  }
  return table;
}
