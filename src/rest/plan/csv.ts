/**
 * CSV (RFC 4180) with a header line, to JSON. An unquoted or quoted NULL is null, and lines of one empty field are no rows,
 * both as in PostgREST. Nothing is made of a row but its text: a body of megabytes has millions of them.
 */
import { invalidBody } from '../rest.errors';

const QUOTE = '"';
const [COMMA, LF, CR] = [0x2c, 0x0a, 0x0d];

export interface CsvRows {
  /** A list of objects with the names of the header, all values texts or null. */
  readonly json: string;
  /** Each once. */
  readonly names: readonly string[];
  readonly count: number;
}

/**
 * Lines end with LF or CRLF; a quoted field may hold anything, `""` is a quote. Of columns with one name the last counts.
 * @throws AppError PL102 for an open quote, or a line with more or fewer fields than the header
 */
export function parseCsv(text: string): CsvRows {
  let header: readonly string[] | null = null;
  let write: RowWriter = () => '';
  const rows: string[] = [];
  forEachRecord(text, (fields) => {
    if (header === null) {
      header = fields;
      write = rowWriter(fields);
    } else if (fields.length !== 1 || fields[0] !== '') {
      if (fields.length !== header.length) throw invalidBody('All lines must have same number of fields');
      rows.push(write(fields));
    }
  });
  if (header === null) throw invalidBody('The CSV body is empty');
  return { json: `[${rows.join(',')}]`, names: [...new Set<string>(header)], count: rows.length };
}

type RowWriter = (fields: readonly string[]) => string;

function rowWriter(header: readonly string[]): RowWriter {
  const places = header
    .map((name, at) => ({ name, at }))
    .filter(({ name, at }) => header.lastIndexOf(name) === at);
  const heads = places.map(({ name, at }, index) => ({
    at,
    head: `${index > 0 ? ',' : '{'}${JSON.stringify(name)}:`,
  }));
  return (fields) => {
    let row = '';
    for (const { head, at } of heads) {
      const field = fields[at] as string;
      row += head + (field === 'NULL' ? 'null' : JSON.stringify(field));
    }
    return `${row}}`;
  };
}

function forEachRecord(text: string, take: (fields: string[]) => void): void {
  let at = 0;
  while (at < text.length) {
    const fields: string[] = [];
    for (;;) {
      const [field, end] = text[at] === QUOTE ? quoted(text, at) : plain(text, at);
      fields.push(field);
      at = end;
      if (text.charCodeAt(at) !== COMMA) break;
      at += 1;
    }
    if (text.charCodeAt(at) === CR) at += 1;
    if (at < text.length && text.charCodeAt(at) !== LF)
      throw invalidBody('The CSV body has text after a closing quote');
    at += 1;
    take(fields);
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

function quoted(text: string, start: number): [string, number] {
  const pieces: string[] = [];
  let from = start + 1;
  for (;;) {
    const end = text.indexOf(QUOTE, from);
    if (end < 0) throw invalidBody('The CSV body has a quote that is never closed');
    pieces.push(text.slice(from, end));
    if (text[end + 1] !== QUOTE) return [pieces.join(''), end + 1];
    pieces.push(QUOTE);
    from = end + 2;
  }
}
