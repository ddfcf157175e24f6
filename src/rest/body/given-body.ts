/** A request's body, read as far as plans need it. */
import type { HeldBody } from '../../http/bodies/body-budget';
import type { RestRequest } from '../grammar/rest-request';
import { assertText } from './body-text';
import { type FormField, formFields } from './form';
import type { JsonOutline } from './json-outline';
import { type Payload, readJsonBody, readPayload, unreadable } from './payload';
import { RowShapes } from './row-shapes';

export interface GivenBody {
  /** As it came. */
  readonly bytes: Buffer;
  /** As rows, where the operation reads rows. */
  readonly payload: Payload | null;
  /** What a function's arguments, or its list of them, name; null for what is no JSON and becomes none, and for rows. */
  readonly outline: JsonOutline | null;
  /** A function's arguments, where they come by a form. */
  readonly fields: readonly FormField[] | null;
}

/** What a function's empty body says. */
const NO_ARGUMENTS: JsonOutline = { kind: 'object', rows: RowShapes.alike([], 1) };

/**
 * @param held null when the request has none
 * @throws AppError PL102 for what does not parse, PL157 for a media type that the operation does not read
 */
export async function readGivenBody(
  { kind, method, contentType }: RestRequest,
  held: HeldBody | null,
): Promise<GivenBody | null> {
  if (held === null) return null;
  const { bytes, memory } = held;
  const asItCame: GivenBody = { bytes, payload: null, outline: null, fields: null };
  if (kind === 'table') {
    return method === 'DELETE'
      ? asItCame
      : { ...asItCame, payload: await readPayload(bytes, contentType, memory) };
  }
  switch (contentType.kind) {
    case 'csv': {
      // A function takes its body as it is, save that CSV becomes JSON.
      const payload = await readPayload(bytes, contentType, memory);
      return { ...asItCame, payload, outline: { kind: 'list', rows: payload.rows } };
    }
    case 'json':
    case 'any':
      return {
        ...asItCame,
        outline: bytes.length > 0 ? (await readJsonBody(bytes)).outline : NO_ARGUMENTS,
      };
    case 'form':
      return { ...asItCame, fields: formFields(bytes) };
    case 'text':
    case 'xml':
      assertText(bytes);
      return asItCame;
    case 'octet-stream':
      return asItCame;
    default:
      throw unreadable(bytes);
  }
}
