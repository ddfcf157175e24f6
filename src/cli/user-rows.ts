/** Reads the users of a file: CSV with a header line, JSON Lines, a JSON list, or an object with the list `users`. */
import { readFile } from 'node:fs/promises';
import { isJsonObject, type JsonObject, parseJson } from '../common/text/json';
import { records } from '../rest/body/csv';
import { CliError, EXIT } from './cli-error';

/** @throws CliError for a file that cannot be read */
export async function textOf(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${(error as Error).message}`, EXIT.failed);
  }
}

/** Yields each row, or its text if it is not a JSON object. */
export function* rowsOf(path: string, text: string): Generator<JsonObject | string, void, undefined> {
  if (/\.csv$/i.test(path)) return yield* csvRows(path, text);
  // JSON Lines fail at the second line.
  const whole = parseJson(text);
  const list = isJsonObject(whole) && Array.isArray(whole.users) ? whole.users : whole;
  if (Array.isArray(list))
    for (const one of list as unknown[]) yield isJsonObject(one) ? one : JSON.stringify(one);
  else if (isJsonObject(list)) yield list;
  else
    for (const line of linesIn(text)) {
      const row = parseJson(line);
      yield isJsonObject(row) ? row : line;
    }
}

/** Not split(): it would copy a large file. */
function* linesIn(text: string): Generator<string, void, undefined> {
  for (let start = 0, end; start < text.length; start = end + 1) {
    end = text.indexOf('\n', start);
    if (end === -1) end = text.length;
    const line = text.slice(start, end).trim();
    if (line !== '') yield line;
  }
}

function* csvRows(path: string, text: string): Generator<JsonObject, void, undefined> {
  let header: readonly string[] | null = null;
  try {
    for (const fields of records(text)) {
      if (fields === null || (fields.length === 1 && fields[0] === '')) continue;
      if (header === null) header = fields;
      else yield Object.fromEntries(header.map((name, n) => [name, valueOf(fields[n])]));
    }
  } catch (error) {
    throw new CliError(`${path} is not CSV: ${(error as Error).message}`, EXIT.failed);
  }
}

const valueOf = (field: string | undefined): string | null =>
  field === undefined || field === '' || field === 'NULL' ? null : field;
