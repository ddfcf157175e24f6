/** A request's body, read as far as the plan requires. */
import type { HeldBody } from '../../admission/memory-budget';
import type { RequestShape } from '../grammar/rest-request';
import { assertText } from './body-text';
import { type FormField, formFields } from './form';
import type { JsonStructure } from './json-structure';
import { type Payload, readJsonBody, readPayload, unreadable } from './payload';
import { RowShapes } from './row-shapes';

export interface RequestBody {
  /** The body as the client sent it. */
  readonly bytes: Buffer;
  /** The body as rows, if the operation reads rows. */
  readonly payload: Payload | null;
  /** The structure of a function's arguments; null for a body that is not JSON and does not become JSON, and for rows. */
  readonly structure: JsonStructure | null;
  /** A function's arguments, if they come in a form. */
  readonly fields: readonly FormField[] | null;
}

/** The structure of a function call without a body. */
const NO_ARGUMENTS: JsonStructure = { kind: 'object', rows: RowShapes.alike([], 1) };

/**
 * @param held null when the request has none
 * @throws AppError PL102 for text that does not parse, PL157 for a media type that the operation does not read
 */
export async function readRequestBody(
  { kind, method, contentType }: RequestShape,
  held: HeldBody | null,
): Promise<RequestBody | null> {
  if (held === null) return null;
  const { bytes, memory } = held;
  const unread: RequestBody = { bytes, payload: null, structure: null, fields: null };
  if (kind === 'table') {
    return method === 'DELETE'
      ? unread
      : { ...unread, payload: await readPayload(bytes, contentType, memory) };
  }
  switch (contentType.kind) {
    case 'csv': {
      // A function takes its body unchanged, except that CSV becomes JSON.
      const payload = await readPayload(bytes, contentType, memory);
      return { ...unread, payload, structure: { kind: 'list', rows: payload.rows } };
    }
    case 'json':
    case 'any':
      return {
        ...unread,
        structure: bytes.length > 0 ? (await readJsonBody(bytes)).structure : NO_ARGUMENTS,
      };
    case 'form':
      return { ...unread, fields: formFields(bytes) };
    case 'text':
    case 'xml':
      assertText(bytes);
      return unread;
    case 'octet-stream':
      return unread;
    default:
      throw unreadable(bytes);
  }
}
