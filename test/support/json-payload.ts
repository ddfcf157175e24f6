/** Parses a small JSON body synchronously, with the same result as readPayload(). */
import { structureOf } from '../../src/rest/body/json-structure';
import type { Payload } from '../../src/rest/body/payload';

export function jsonPayload(json: string): Payload {
  const { kind, rows } = structureOf(json);
  return { json, isList: kind === 'list', rows };
}
