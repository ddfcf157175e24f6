/** Reads rows in COPY's text format one by one. The text comes from an archive, so its lines may have any length and content. */
import { Slices } from '../../common/time/slices';
import { archiveInvalid } from '../backup.errors';

/** Bytes. A longer row is skipped: the SQL that restores it would not fit into a request. */
export const MAX_ROW_BYTES = 512 * 1024;

const LINE_END = '\n'.charCodeAt(0);
const NULL = '\\N';
/** A field `\N` is null, which fieldsOf() finds first. */
const ESCAPE = /\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|([^]))/g;
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** @returns each row without its line end; null for a row that is too long */
export async function* copyLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null> {
  const slices = new Slices();
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      const last = chunk.subarray(start, end);
      const isTooLong = bytes + last.length > MAX_ROW_BYTES;
      yield isTooLong ? null : bytes === 0 ? last : Buffer.concat([...held, last]);
      [held, bytes, start] = [[], 0, end + 1];
      if (slices.isOver) await slices.yieldToLoop();
    }
    bytes += chunk.length - start;
    // The start of a row that is too long is discarded.
    if (bytes > MAX_ROW_BYTES) held = [];
    else if (start < chunk.length) held.push(Buffer.from(chunk.subarray(start)));
  }
}

/**
 * `1\ta\\tb\t\N` to `1`, `a<tab>b` and null.
 * @throws AppError 400 for another number of columns
 */
export function fieldsOf(line: Buffer, columns: number): (string | null)[] {
  const fields = line.toString('utf8').split('\t', columns + 1);
  if (fields.length !== columns) throw archiveInvalid('a row has another number of columns than its table');
  return fields.map((field) => (field === NULL ? null : field.includes('\\') ? unescaped(field) : field));
}

/** COPY's escapes stand for bytes; PostgreSQL writes them for control characters only. */
const unescaped = (field: string): string =>
  field.replace(ESCAPE, (_all, hex?: string, octal?: string, letter: string = '') => {
    if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
    if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8) & 0xff);
    return CONTROLS[letter] ?? letter;
  });
