/**
 * A request's body as a write or a function takes it: JSON text that PostgreSQL reads itself, so that no number loses a
 * digit on the way, and the names of the members in it.
 */
import { AppError } from '../../common/errors/app-error';
import type { Memory } from '../../admission/memory-budget';
import type { MediaType } from '../grammar/rest-request';
import { invalidBody, restError } from '../rest.errors';
import { assertText, textInSlices, textOf } from './body-text';
import { parseCsv } from './csv';
import { formFields } from './form';
import { type JsonStructure, structureOf } from './json-structure';
import { RowShapes } from './row-shapes';
import { JSON_HINT, looksLikeJson } from './looks-like-json';
import { scanStructure } from './scan-structure';

export interface Payload {
  /** JSON: an object or a list of objects. Large bodies remain bytes. */
  readonly json: string | Buffer;
  readonly isList: boolean;
  readonly rows: RowShapes;
}

/** Bytes from which JSON is scanned in slices. A smaller body parses within a few milliseconds, whatever its content. */
const LARGE = 64 * 1024;

/**
 * A body of rows. A large body is read in slices, so that the event loop is never blocked for long.
 * @throws AppError PL102 for text that does not parse, PL157 for another media type, and errors of `memory`
 */
export async function readPayload(body: Buffer, type: MediaType, memory: Memory): Promise<Payload> {
  switch (type.kind) {
    case 'json':
    case 'object':
    case 'any':
      return jsonPayload(body);
    case 'csv':
      return csvPayload(body, memory);
    case 'form':
      return formPayload(body);
    default:
      throw unreadable(body);
  }
}

export interface JsonBody {
  readonly json: string | Buffer;
  readonly structure: JsonStructure;
}

/** A JSON body and its structure. @throws AppError PL102 for text that is not JSON */
export async function readJsonBody(body: Buffer): Promise<JsonBody> {
  const isLarge = body.length >= LARGE;
  if (isLarge) assertText(body);
  const json = isLarge ? body : textOf(body);
  try {
    return { json, structure: typeof json === 'string' ? structureOf(json) : await scanStructure(json) };
  } catch (error) {
    throw error instanceof AppError ? error : invalidBody('Empty or invalid json', error);
  }
}

/** The error for a media type that the operation does not read. */
export const unreadable = (body: Buffer): AppError =>
  restError('PL157', {
    message: 'The body must be application/json, text/csv or a form',
    hint: looksLikeJson(body) ? JSON_HINT : null,
  });

async function jsonPayload(body: Buffer): Promise<Payload> {
  const {
    json,
    structure: { kind, rows },
  } = await readJsonBody(body);
  // PostgREST's message. Plinth accepts objects with different keys.
  if (kind === 'mixed') throw invalidBody('All object keys must match');
  if (kind === 'other') throw invalidBody('The body must be a JSON object or a list of objects');
  return payloadOf(json, kind === 'list', rows);
}

async function csvPayload(body: Buffer, memory: Memory): Promise<Payload> {
  const { json, names, count } = await parseCsv(await textInSlices(body), memory);
  return payloadOf(json, true, RowShapes.alike(names, count));
}

/** The last of several fields with one name counts. */
function formPayload(body: Buffer): Payload {
  const row = Object.fromEntries(formFields(body));
  return payloadOf(JSON.stringify(row), false, RowShapes.alike(Object.keys(row), 1));
}

function payloadOf(json: string | Buffer, isList: boolean, rows: RowShapes): Payload {
  if (rows.isCut) throw invalidBody('The body names too many columns, or too many different sets of them');
  return { json, isList, rows };
}
