/** The window of a result: `limit`, `offset`, the Range header, and their intersection. */
import { GrammarError } from './grammar-error';
import { Scanner } from './scanner';
import type { Window } from './tree';

export const WHOLE: Window = { limit: null, offset: 0 };

const NO_ROWS = 'Requested range not satisfiable';

/**
 * Parses `limit`; empty: no limit. A number above the largest safe integer is read as that integer. Example:
 * `/items?limit=3`, `/clients?select=*,projects(*)&projects.limit=1`
 * @throws GrammarError PL100 for anything but an integer, which PostgREST ignores; PL103 below zero.
 */
export function parseLimit(text: string): number | null {
  const limit = integer(text, 'limit');
  if (limit !== null && limit < 0) {
    throw new GrammarError({
      code: 'PL103',
      message: NO_ROWS,
      details: 'Limit should be greater than or equal to zero.',
    });
  }
  return limit;
}

/** The value of `offset`; empty or negative is 0. Example: `/items?limit=3&offset=2` */
export function parseOffset(text: string): number {
  return Math.max(0, integer(text, 'offset') ?? 0);
}

/**
 * The Range header, `0-9` or `10-`. Null if it is absent or not a range of rows: such a header is ignored
 * (RFC 9110, 14.2). Range-Unit must be `items` if it is given.
 * @throws GrammarError PL103 when the range ends before it starts.
 */
export function parseRange(range: string | null, unit: string | null): Window | null {
  if (range === null || (unit !== null && unit.trim().toLowerCase() !== 'items')) return null;
  const match = /^(\d+)-(\d*)$/.exec(range.trim());
  if (!match) return null;
  const first = clamp(Number(match[1]));
  if (!match[2]) return { limit: null, offset: first };
  const last = clamp(Number(match[2]));
  if (last < first) {
    throw new GrammarError({
      code: 'PL103',
      message: NO_ROWS,
      details: 'The lower boundary must be lower than or equal to the upper boundary in the Range header.',
    });
  }
  return { limit: clamp(last - first + 1), offset: first };
}

/**
 * The intersection of two windows. `limit=0` asks for no rows, even with a Range header.
 * @throws GrammarError PL103 when the windows do not intersect.
 */
export function intersect(query: Window, header: Window | null): Window {
  if (header === null || query.limit === 0) return query;
  const offset = Math.max(query.offset, header.offset);
  const end = Math.min(endOf(query), endOf(header));
  if (end === Infinity) return { limit: null, offset };
  if (end > offset) return { limit: clamp(end - offset), offset };
  throw new GrammarError({
    code: 'PL103',
    message: NO_ROWS,
    details: 'The Range header and limit, offset have no row in common.',
  });
}

function endOf({ limit, offset }: Window): number {
  return limit === null ? Infinity : offset + limit;
}

function clamp(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

function integer(text: string, what: string): number | null {
  const scanner = new Scanner(text, { what });
  scanner.skipBlanks();
  if (scanner.atEnd) return null;
  const sign = scanner.eat('-') ? -1 : 1;
  const digits = scanner.takeWhile((code) => code >= 0x30 && code <= 0x39);
  if (digits === '') scanner.fail(['digit']);
  scanner.skipBlanks();
  if (!scanner.atEnd) scanner.fail(['digit', 'end of input']);
  return sign * clamp(Number(digits));
}
