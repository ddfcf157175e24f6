/**
 * CSV (RFC 4180) with a header line, to JSON. An unquoted or quoted NULL is null, and lines of one empty field are ignored,
 * both as in PostgREST. Rows become text, never objects, because a body of megabytes may have millions of rows.
 *
 * The library csv-parse takes five to eight times the CPU for a body of 10 MiB, and parses a chunk of 64 KiB in one piece.
 */
import type { Memory } from '../../admission/memory-budget';
import { Slices } from '../../common/time/slices';
import { invalidBody } from '../rest.errors';

const QUOTE = '"';
const [COMMA, LF, CR] = [0x2c, 0x0a, 0x0d];
/** Maximum columns of a header: a table has at most 1,600, but `columns=` may omit some of a header. */
const MAX_COLUMNS = 10_000;
/** Number of a field's pieces after which the parser may yield to the event loop. */
const MANY = 256;
/** Characters of a field that are read or turned into JSON in one piece. */
const PIECE = 64 * 1024;
/** Characters of rows that are joined in one step. */
const BLOCK = 64 * 1024;
/** The JSON is in memory twice: first as blocks and joined, then joined and in the message to PostgreSQL. */
const COPIES = 2;

export interface CsvRows {
  /** The rows as a list of objects with the names of the header; all values are texts or null. */
  readonly json: Buffer;
  /** The names of the header, without duplicates. */
  readonly names: readonly string[];
  readonly count: number;
}

/**
 * Lines end with LF or CRLF. A quoted field may contain any character, and `""` is a quote. The last of duplicate columns counts.
 * @param memory reserves memory for the JSON, since each row repeats the header's names, which may be as long as the body
 * @throws AppError PL102 for an open quote or a line with more or fewer fields than the header, and the errors of `memory`
 */
export async function parseCsv(text: string, memory: Memory): Promise<CsvRows> {
  const slices = new Slices();
  const json = new JsonBlocks(memory);
  let count = 0;
  let header: readonly string[] | null = null;
  let write: RowWriter = () => '';
  for (const fields of records(text)) {
    if (fields !== null && header === null) {
      if (fields.some((name) => name.length > PIECE))
        throw invalidBody('A column of the CSV body has too long a name');
      header = fields;
      write = rowWriter(fields);
    } else if (fields !== null && (fields.length !== 1 || fields[0] !== '')) {
      if (fields.length !== header?.length) throw unequalLines();
      json.add(count === 0 ? '[' : ',');
      const row = write(fields);
      if (typeof row === 'string') json.add(row);
      else
        for (const part of row) {
          json.add(part);
          if (slices.isOver) await slices.yieldToLoop();
        }
      count += 1;
    }
    if (!slices.isOver) continue;
    await slices.yieldToLoop();
  }
  if (header === null) throw invalidBody('The CSV body is empty');
  json.add(count === 0 ? '[]' : ']');
  return { json: await json.joined(slices), names: [...new Set<string>(header)], count };
}

/** Text of JSON, whose memory is counted before it is joined. */
class JsonBlocks {
  private readonly blocks: Buffer[] = [];
  private parts: string[] = [];
  /** Characters of the parts. */
  private length = 0;

  constructor(private readonly memory: Memory) {}

  add(part: string): void {
    this.parts.push(part);
    this.length += part.length;
    if (this.length >= BLOCK) this.closeBlock();
  }

  async joined(slices: Slices): Promise<Buffer> {
    this.closeBlock();
    const bytes = Buffer.allocUnsafeSlow(this.blocks.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const block of this.blocks) {
      at += block.copy(bytes, at);
      if (slices.isOver) await slices.yieldToLoop();
    }
    return bytes;
  }

  private closeBlock(): void {
    this.memory.grow(COPIES * this.length);
    const block = Buffer.from(this.parts.join(''));
    // A UTF-16 code unit can take three bytes.
    if (block.length > this.length) this.memory.grow(COPIES * (block.length - this.length));
    this.blocks.push(block);
    this.parts = [];
    this.length = 0;
  }
}

const unequalLines = () => invalidBody('All lines must have same number of fields');

/** Writes a row. Returns it in parts if a field is long. */
type RowWriter = (fields: readonly string[]) => string | Iterable<string>;

function rowWriter(header: readonly string[]): RowWriter {
  const last = new Map(header.map((name, at) => [name, at]));
  const places = [...header.entries()].filter(([at, name]) => last.get(name) === at);
  const heads = places.map(([at, name], index) => ({
    at,
    head: `${index > 0 ? ',' : '{'}${JSON.stringify(name)}:`,
  }));
  const json = (field: string): string => (field === 'NULL' ? 'null' : JSON.stringify(field));
  return (fields) => {
    if (fields.some((field) => field.length > PIECE)) return inParts(fields);
    let row = '';
    for (const { head, at } of heads) row += head + json(fields[at] ?? '');
    return `${row}}`;
  };
  function* inParts(fields: readonly string[]): Generator<string> {
    for (const { head, at } of heads) {
      const field = fields[at] ?? '';
      yield head;
      if (field.length > PIECE) yield* jsonPieces(field);
      else yield json(field);
    }
    yield '}';
  }
}

/** A long text as JSON. */
function* jsonPieces(text: string): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length;) {
    // A surrogate pair is not split: its halves would be escaped.
    const isHalf = (text.charCodeAt(at + PIECE - 1) & 0xfc00) === 0xd800;
    const end = at + PIECE - (isHalf ? 1 : 0);
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

/**
 * Splits the text into rows, which are lists of fields. Yields null now and then in a long field, so that the
 * caller can yield to the event loop.
 */
export function* records(text: string): Generator<readonly string[] | null, void> {
  let most = MAX_COLUMNS;
  let at = 0;
  for (let isFirst = true; at < text.length; isFirst = false) {
    const fields: string[] = [];
    for (;;) {
      if (fields.length === most)
        throw isFirst ? invalidBody('The CSV body has too many columns') : unequalLines();
      const [field, end] =
        text[at] === QUOTE ? yield* quoted(text, at) : (plain(text, at) ?? (yield* longPlain(text, at)));
      fields.push(field);
      at = end;
      if (text.charCodeAt(at) !== COMMA) break;
      at += 1;
    }
    if (text.charCodeAt(at) === CR) at += 1;
    if (at < text.length && text.charCodeAt(at) !== LF)
      throw invalidBody('The CSV body has text after a closing quote');
    at += 1;
    if (isFirst) most = fields.length;
    yield fields;
  }
}

/** Null if the field is longer than PIECE. */
function plain(text: string, start: number): [string, number] | null {
  const limit = Math.min(text.length, start + PIECE);
  const end = endOfPlain(text, start, limit);
  return end === limit && limit < text.length ? null : [text.slice(start, end), end];
}

function* longPlain(text: string, start: number): Generator<null, [string, number]> {
  for (let limit = start; ;) {
    const from = limit;
    limit = Math.min(text.length, from + PIECE);
    const end = endOfPlain(text, from, limit);
    if (end < limit || limit === text.length) return [text.slice(start, end), end];
    yield null;
  }
}

function endOfPlain(text: string, start: number, limit: number): number {
  for (let end = start; end < limit; end += 1) {
    const code = text.charCodeAt(end);
    if (code === COMMA || code === LF || code === CR) return end;
  }
  return limit;
}

function* quoted(text: string, start: number): Generator<null, [string, number]> {
  const blocks: string[] = [];
  let pieces: string[] = [];
  let from = start + 1;
  for (;;) {
    const end = text.indexOf(QUOTE, from);
    if (end < 0) throw invalidBody('The CSV body has a quote that is never closed');
    pieces.push(text.slice(from, end));
    if (text[end + 1] !== QUOTE) return [[...blocks, ...pieces].join(''), end + 1];
    from = end + 2;
    if (pieces.push(QUOTE) < MANY) continue;
    blocks.push(pieces.join(''));
    pieces = [];
    yield null;
  }
}
