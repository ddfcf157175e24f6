/**
 * A request's body as a write or a function takes it: JSON text that PostgreSQL reads itself, so that no number loses a
 * digit on the way, and the names of the members in it.
 */
import type { MediaType } from '../grammar/rest-request';
import { invalidBody, restError } from '../rest.errors';
import { parseCsv } from './csv';

export interface Payload {
  /** JSON: an object or a list of objects. */
  readonly json: string;
  readonly isList: boolean;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws AppError PL102 for what does not parse, PL157 for another media type */
export function parsePayload(body: Buffer, type: MediaType): Payload {
  switch (type.kind) {
    case 'json':
    case 'object':
    case 'any':
      return jsonPayload(textOf(body));
    case 'csv':
      return listPayload(parseCsv(textOf(body)));
    case 'form':
      return objectPayload(Object.fromEntries(formFields(textOf(body))));
    default:
      throw restError('PL157', { message: 'The body must be application/json, text/csv or a form' });
  }
}

/** @throws AppError PL102 when it is not UTF-8 */
export function textOf(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch (error) {
    throw invalidBody('The body is not valid UTF-8', error);
  }
}

/** Fields of application/x-www-form-urlencoded, in the client's order. */
export function formFields(text: string): [string, string][] {
  return [...new URLSearchParams(text)];
}

function jsonPayload(json: string): Payload {
  const value = parsedJson(json);
  if (isObject(value)) return { json, isList: false, rows: [value] };
  if (Array.isArray(value) && value.every(isObject)) return { json, isList: true, rows: value };
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

function listPayload(rows: readonly Readonly<Record<string, unknown>>[]): Payload {
  return { json: JSON.stringify(rows), isList: true, rows };
}

function objectPayload(row: Readonly<Record<string, unknown>>): Payload {
  return { json: JSON.stringify(row), isList: false, rows: [row] };
}
