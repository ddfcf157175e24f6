/** A small JSON body as readPayload() reads it, at once. */
import { outlineOf } from '../../src/rest/body/json-outline';
import type { Payload } from '../../src/rest/body/payload';

export function jsonPayload(json: string): Payload {
  const { kind, rows } = outlineOf(json);
  return { json, isList: kind === 'list', rows };
}
