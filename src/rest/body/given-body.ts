/** A request's body, read as far as plans need it. */
import type { RestRequest } from '../grammar/rest-request';
import type { JsonOutline } from './json-outline';
import { type Payload, readOutline, readPayload } from './payload';

export interface GivenBody {
  /** As it came. */
  readonly bytes: Buffer;
  /** As rows, where the operation reads rows. */
  readonly payload: Payload | null;
  /** What a function's arguments, or its list of them, name; null for what is no JSON and becomes none. */
  readonly outline: JsonOutline | null;
}

/**
 * @param bytes null when the request has none
 * @throws AppError PL102 for what does not parse, PL157 for a media type that the operation does not read
 */
export async function readGivenBody(
  { kind, method, contentType }: RestRequest,
  bytes: Buffer | null,
): Promise<GivenBody | null> {
  if (bytes === null) return null;
  if (kind === 'table') {
    const payload = method === 'DELETE' ? null : await readPayload(bytes, contentType);
    return { bytes, payload, outline: null };
  }
  switch (contentType.kind) {
    case 'csv': {
      // A function takes its body as it is, save that CSV becomes JSON.
      const payload = await readPayload(bytes, contentType);
      return { bytes, payload, outline: { kind: 'list', rows: payload.rows } };
    }
    case 'json':
    case 'any':
      return { bytes, payload: null, outline: bytes.length > 0 ? await readOutline(bytes) : null };
    default:
      return { bytes, payload: null, outline: null };
  }
}
