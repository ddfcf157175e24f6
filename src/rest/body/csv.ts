/**
 * CSV (RFC 4180) with a header line, to JSON. An unquoted or quoted NULL is null, and lines of one empty field are ignored,
 * both as in PostgREST. Rows become text, never objects, because a body of megabytes may have millions of rows.
 *
 * The library csv-parse takes five to eight times the CPU for a body of 10 MiB, and parses a chunk of 64 KiB in one piece.
 */
import type { Memory } from '../../http/bodies/body-budget';
import { Slices } from '../../common/time/slices';
import { invalidBody } from '../rest.errors';

const QUOTE = '"';
const [COMMA, LF, CR] = [0x2c, 0x0a, 0x0d];
/** Maximum columns of a header: a table has at most 1,600, but `columns=` may omit some of a header. */
const MAX_COLUMNS = 10_000;
/** Pieces of a field after which the parser may yield to the event loop. */
const MANY = 256;
/** Characters of rows that are joined at once. */
const BLOCK = 64 * 1024;
/** The JSON is in memory twice: as blocks and as their concatenation, and then as that and as the message to PostgreSQL. */
const COPIES = 2;
const [BEGIN, SEPARATOR, END] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];

export interface CsvRows {
  /** A list of objects with the names of the header, all values texts or null. */
  readonly json: Buffer;
  /** The names of the header, without duplicates. */
  readonly names: readonly string[];
  readonly count: number;
}

/**
 * Lines end with LF or CRLF. A quoted field may contain any character, and `""` is a quote. Of duplicate columns the last counts.
 * @param memory reserves memory for the JSON, since each row repeats the header's names, which may be as long as the body
 * @throws AppError PL102 for an open quote or a line with more or fewer fields than the header, and the errors of `memory`
 */
export async function parseCsv(text: string, memory: Memory): Promise<CsvRows> {
  const slices = new Slices();
  const rows = new RowBlocks(memory);
  let count = 0;
  let header: readonly string[] | null = null;
  let write: RowWriter = () => '';
  for (const fields of records(text)) {
    if (fields !== null && header === null) {
      header = fields;
      write = rowWriter(fields);
    } else if (fields !== null && (fields.length !== 1 || fields[0] !== '')) {
      if (fields.length !== header?.length) throw unequalLines();
      rows.push(write(fields));
      count += 1;
    }
    if (!slices.isOver) continue;
    await slices.yieldToLoop();
  }
  if (header === null) throw invalidBody('The CSV body is empty');
  return { json: rows.list(), names: [...new Set<string>(header)], count };
}

/** Rows of JSON, whose memory is counted before they are joined. */
class RowBlocks {
  private readonly blocks: Buffer[] = [BEGIN];
  private rows: string[] = [];
  /** Characters of the rows. */
  private length = 0;

  constructor(private readonly memory: Memory) {}

  push(row: string): void {
    this.rows.push(row);
    this.length += row.length + 1;
    if (this.length >= BLOCK) this.closeBlock();
  }

  list(): Buffer {
    if (this.rows.length > 0) this.closeBlock();
    return Buffer.concat([...this.blocks, END]);
  }

  private closeBlock(): void {
    this.memory.grow(COPIES * this.length);
    const block = Buffer.from(this.rows.join(','));
    // One character may be three bytes.
    if (block.length > this.length) this.memory.grow(COPIES * (block.length - this.length));
    if (this.blocks.length > 1) this.blocks.push(SEPARATOR);
    this.blocks.push(block);
    this.rows = [];
    this.length = 0;
  }
}

const unequalLines = () => invalidBody('All lines must have same number of fields');

type RowWriter = (fields: readonly string[]) => string;

function rowWriter(header: readonly string[]): RowWriter {
  const last = new Map(header.map((name, at) => [name, at]));
  const places = [...header.entries()].filter(([at, name]) => last.get(name) === at);
  const heads = places.map(([at, name], index) => ({
    at,
    head: `${index > 0 ? ',' : '{'}${JSON.stringify(name)}:`,
  }));
  return (fields) => {
    let row = '';
    for (const { head, at } of heads) {
      const field = fields[at] ?? '';
      row += head + (field === 'NULL' ? 'null' : JSON.stringify(field));
    }
    return `${row}}`;
  };
}

/** The lines as lists of fields. Yields null now and then in a long field, so that the caller can yield to the event loop. */
function* records(text: string): Generator<readonly string[] | null, void> {
  let most = MAX_COLUMNS;
  let at = 0;
  for (let isFirst = true; at < text.length; isFirst = false) {
    const fields: string[] = [];
    for (;;) {
      if (fields.length === most)
        throw isFirst ? invalidBody('The CSV body has too many columns') : unequalLines();
      const [field, end] = text[at] === QUOTE ? yield* quoted(text, at) : plain(text, at);
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

function plain(text: string, start: number): [string, number] {
  let end = start;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === COMMA || code === LF || code === CR) break;
  }
  return [text.slice(start, end), end];
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
