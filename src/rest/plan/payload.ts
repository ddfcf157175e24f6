/**
 * A request's body as a write or a function takes it: JSON text that PostgreSQL reads itself, so that no number loses a
 * digit on the way, and the names of the members in it.
 */
import type { AppError } from '../../common/errors/app-error';
import type { MediaType } from '../grammar/rest-request';
import { invalidBody, restError } from '../rest.errors';
import { type CsvRows, parseCsv } from './csv';

export interface Payload {
  /** JSON: an object or a list of objects. */
  readonly json: string;
  readonly isList: boolean;
  /** For the names in them: values are PostgreSQL's to read. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** Levels; PostgreSQL's default stack holds a few thousand. */
const DEEP = 1_000;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws AppError PL102 for what does not parse, PL157 for another media type */
export function parsePayload(body: Buffer, type: MediaType): Payload {
  switch (type.kind) {
    case 'json':
    case 'object':
    case 'any':
      return jsonPayload(textOf(body));
    case 'csv':
      return csvPayload(parseCsv(textOf(body)));
    case 'form':
      return objectPayload(Object.fromEntries(formFields(textOf(body))));
    default:
      throw unreadable();
  }
}

/** Whether JSON nests so deeply that PostgreSQL's parser may run out of stack: looked at once that has happened. */
export function nestsDeeply(json: string | Buffer): boolean {
  const text = json.toString();
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\') at += 1;
    else if (character === '"') inText = !inText;
    else if (inText) continue;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > DEEP) return true;
  }
  return false;
}

/** For a media type that the operation does not read. */
export const unreadable = (): AppError =>
  restError('PL157', { message: 'The body must be application/json, text/csv or a form' });

/** @throws AppError PL102 when it is not UTF-8, or holds a NUL, which PostgreSQL has no text for */
export function textOf(body: Buffer): string {
  if (body.includes(0)) throw holdsNul();
  try {
    return UTF8.decode(body);
  } catch (error) {
    throw invalidBody('The body is not valid UTF-8', error);
  }
}

/** Fields of application/x-www-form-urlencoded, in the client's order. @throws AppError PL102 for a NUL */
export function formFields(text: string): [string, string][] {
  const fields = [...new URLSearchParams(text)];
  if (fields.flat().some((part) => part.includes('\0'))) throw holdsNul();
  return fields;
}

const holdsNul = (): AppError =>
  invalidBody('The body holds a NUL character, which text in PostgreSQL cannot hold');

function jsonPayload(json: string): Payload {
  const value = parsedJson(json);
  if (isObject(value)) return { json, isList: false, rows: [value] };
  if (Array.isArray(value) && value.every(isObject)) return { json, isList: true, rows: value };
  // PostgREST's words; objects with other keys than the one before them are fine here.
  if (Array.isArray(value) && value.some(isObject)) throw invalidBody('All object keys must match');
  throw invalidBody('The body must be a JSON object or a list of objects');
}

function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw invalidBody('Empty or invalid json', error);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of the rows only the names are asked for, and all have the same. */
function csvPayload({ json, names, count }: CsvRows): Payload {
  const row = Object.fromEntries(names.map((name) => [name, null]));
  return { json, isList: true, rows: new Array<typeof row>(count).fill(row) };
}

function objectPayload(row: Readonly<Record<string, unknown>>): Payload {
  return { json: JSON.stringify(row), isList: false, rows: [row] };
}
