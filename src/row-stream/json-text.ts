/** Prints text as a JSON string (RFC 8259, 7). */
import type { Printer } from './body-blocks';
import { printHex } from './binary-values';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const LETTER_U = 0x75;

/** By byte: 0 for one that stands for itself, else the letter after the backslash; `u` for \u00.. */
const ESCAPES = escapes();
/** Bytes of the longest escape sequence. */
const LONGEST_ESCAPE = 6;
/** Bytes of a row or value up to which room for the worst case costs less than counting escapes. */
const SMALL = 4 * 1024;
/** Bytes from which a native copy is faster. */
const LONG = 128;
/** Prints a text without its quotes, or a part of it that was cut anywhere. */
export const TEXT_PART: Printer = { maxBytes: maxEscaped, print: printEscaped };

/**
 * Bytes that a row or value prints at most. Enough for binary formats too: none prints more than six bytes for each of its
 * own. In a large row each value grows by less than the four bytes of its length add here, which count as escapes.
 */
export function maxEscaped(bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  if (length <= SMALL) return LONGEST_ESCAPE * length;
  let more = 0;
  for (let at = start; at < end; at += 1) {
    const escape = ESCAPES[bytes[at] as number];
    if (escape !== 0) more += escape === LETTER_U ? LONGEST_ESCAPE - 1 : 1;
  }
  return length + more;
}

export function printText(bytes: Buffer, from: number, end: number, into: Buffer, at: number): number {
  into[at] = QUOTE;
  const to = printEscaped(bytes, from, into, at + 1, end);
  into[to] = QUOTE;
  return to + 1;
}

function printEscaped(bytes: Buffer, from: number, into: Buffer, at: number, end: number): number {
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
