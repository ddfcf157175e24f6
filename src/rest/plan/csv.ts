/** CSV (RFC 4180) with a header line, to rows of texts. An unquoted or quoted NULL is null, as in PostgREST. */
import { invalidBody } from '../rest.errors';

const QUOTE = '"';

/**
 * Lines end with LF or CRLF; a quoted field may hold anything, `""` is a quote.
 * @throws AppError PL102 for an open quote, or a line with more or fewer fields than the header
 */
export function parseCsv(text: string): Record<string, string | null>[] {
  const [header, ...lines] = records(text);
  if (!header) throw invalidBody('The CSV body is empty');
  return lines.map((fields) => {
    if (fields.length !== header.length) throw invalidBody('All lines must have same number of fields');
    return Object.fromEntries(header.map((name, at) => [name, toValue(fields[at] as string)]));
  });
}

function toValue(field: string): string | null {
  return field === 'NULL' ? null : field;
}

function records(text: string): string[][] {
  const all: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const fields: string[] = [];
    for (;;) {
      const [field, end] = text[at] === QUOTE ? quoted(text, at) : plain(text, at);
      fields.push(field);
      at = end;
      if (text[at] !== ',') break;
      at += 1;
    }
    if (text[at] === '\r') at += 1;
    if (at < text.length && text[at] !== '\n')
      throw invalidBody('The CSV body has text after a closing quote');
    at += 1;
    all.push(fields);
  }
  return all;
}

function plain(text: string, start: number): [string, number] {
  let end = start;
  while (end < text.length && text[end] !== ',' && text[end] !== '\n' && text[end] !== '\r') end += 1;
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
