/** The table or function that the path names. */
import { assertLength } from './budget';
import { GrammarError } from './grammar-error';
import { LIMITS } from './limits';
import { decode } from './query-string';
import type { Target, TargetName } from './rest-request';

/**
 * Parses one raw path segment. A name may contain dots, so the schema may end at any of them.
 * Example: `/Server%20Today`, `/api.orders`
 * @throws GrammarError PL125 for an empty name, PL150 for broken encoding, PL151 for one that is too long.
 */
export function parseTarget(segment: string): Target {
  assertLength('path', segment, LIMITS.targetLength);
  const text = decode(segment, 'path');
  if (text === '') {
    throw new GrammarError({ code: 'PL125', message: 'Invalid path specified in request URL' });
  }
  const candidates: TargetName[] = [{ schema: null, name: text }];
  for (let dot = text.indexOf('.', 1); dot !== -1; dot = text.indexOf('.', dot + 1)) {
    if (dot === text.length - 1 || candidates.length > LIMITS.pathSegments) break;
    candidates.push({ schema: text.slice(0, dot), name: text.slice(dot + 1) });
  }
  return { text, candidates };
}
