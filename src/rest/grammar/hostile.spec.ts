/**
 * Hostile texts, generated: each must yield a tree or a GrammarError in time that is linear in its length. At
 * 50,000 characters a quadratic rule takes seconds and a linear one a few milliseconds. The bound is a multiple
 * of the time that this machine takes for a known task, and a text counts as slow only if it is slow three
 * times.
 */
import { costOfParsing, cpuTimeOf } from '../../../test/support/event-loop';
import { growthOfTime } from '../../../test/support/growth';
import { parseAccept, parseMediaType } from './media-type';
import { parseColumns } from './names';
import { parseFilter } from './operation';
import { GrammarError } from './grammar-error';
import { LIMITS } from './budget';
import { parseLogicTree } from './logic-tree';
import { parseOrder } from './order';
import { parseRestRequest } from './parse-rest-request';
import { parsePrefer } from './prefer';
import { parseRestQuery } from './rest-query';
import { parseSelect } from './select';
import { parseTarget } from './query-string';
import { parseLimit, parseRange } from './window';

const LENGTH = 50_000;
/** Milliseconds of CPU time; about half a second on a machine of 2024. */
const BOUND_MS = 3 * costOfParsing();

const UNITS = [
  ...[
    '(',
    ')',
    '()',
    ',',
    '.',
    '..',
    '...',
    ':',
    '::',
    '-',
    '->',
    '->>',
    '!',
    '*',
    '$',
    '_',
    ' ',
    '\t',
    '\n',
  ],
  ...['"', '""', '\\', '"\\', '\\"', '",', ',"', '","', '"a",', '{', '}', '{}', '{{', '{,', '"{', 'a{', '\0'],
  ...[
    'a',
    'a,',
    'a.',
    'a-',
    'a - ',
    'a(',
    'a(a,',
    'a:',
    'a!',
    'a->',
    'a->0',
    'a->-',
    '0',
    '-0',
    '9',
    '...a(',
  ],
  ...[
    'not.',
    'and(',
    'or(',
    'not.and(',
    'a.eq.1,',
    'a.in.(',
    'a.in.(1,',
    'a.eq."',
    'a.eq.{',
    'count(),',
    'a.sum(),',
  ],
  ...[
    'é',
    'नि',
    '😀',
    '\ud800',
    '\udc00',
    '\u0301',
    '%',
    '%25',
    '%zz',
    '%f0',
    '+',
    '&',
    '=',
    '&a=',
    'a=eq.1&',
    ';',
  ],
  ...['a=1;', 'q=', ';q="', 'a/b,', 'for="', 'a.b.order=a&', 'a.limit=1&', 'order=a&', 'or=(a.eq.1)&', 'x&'],
];

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  select: parseSelect,
  'select after a name': (text) => parseSelect(`a${text}`),
  'select of a path': (text) => parseSelect(`a->${text}`),
  'filter name': (text) => parseFilter(text, 'eq.1'),
  'filter value': (text) => parseFilter('a', text),
  'filter list': (text) => parseFilter('a', `in.(${text}`),
  'filter language': (text) => parseFilter('a', `fts(${text}`),
  'logic tree': (text) => parseLogicTree({ operator: 'or', negated: false }, text),
  'logic terms': (text) => parseLogicTree({ operator: 'and', negated: true }, `(${text}`),
  'logic value': (text) => parseLogicTree({ operator: 'or', negated: false }, `(a.eq.${text}`),
  'logic list': (text) => parseLogicTree({ operator: 'or', negated: false }, `(a.in.(${text}`),
  order: (text) => parseOrder(text),
  'order of a relation': (text) => parseOrder(`a(${text}`),
  columns: (text) => parseColumns('columns', text),
  prefer: (text) => parsePrefer(text),
  accept: (text) => parseAccept(text),
  'media type': (text) => parseMediaType(`a/b;${text}`),
  limit: (text) => parseLimit(text),
  range: (text) => parseRange(text, null),
};

/** @throws any error that isn't a GrammarError. */
function attempt(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error;
  }
}

/** True when three attempts in a row take longer than the bound. */
function isSlow(work: () => unknown): boolean {
  return [1, 2, 3].every(() => cpuTimeOf(() => attempt(work)) > BOUND_MS);
}

function filled(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

/** A small random generator with a seed, so that a failure can be reproduced. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

function soup(seed: number, length: number): string {
  const random = randomOf(seed);
  let text = '';
  while (text.length < length) text += (UNITS[random(UNITS.length)] ?? '').repeat(1 + random(3));
  return text;
}

describe.each(Object.entries(PARSERS))('the parser of %s', (_, parse) => {
  it('parses each unit, repeated, in time', () => {
    for (const unit of UNITS) {
      const text = filled(unit, LENGTH);
      expect({ unit, slow: isSlow(() => parse(text)) }).toEqual({ unit, slow: false });
    }
  });

  it('parses a well-formed start with a hostile end in time', () => {
    for (const unit of ['"', '\\', '(', '{', '->']) {
      const text = `${filled('a,', LENGTH)}${filled(unit, LENGTH)}`;
      expect({ unit, slow: isSlow(() => parse(text)) }).toEqual({ unit, slow: false });
    }
  });

  it('parses random text in time', () => {
    for (let seed = 1; seed <= 300; seed += 1) attempt(() => parse(soup(seed, 5 + (seed % 60))));
    const long = soup(7, LENGTH);
    expect(isSlow(() => parse(long))).toBe(false);
  });
});

describe('a whole request', () => {
  const values = ['', 'select=', 'order=', 'or=(', 'a=in.(', 'a=eq.', 'a.b.', 'columns=', 'limit=', 'a->'];

  it.each(values)('is answered in time after %j', (start) => {
    for (const unit of UNITS) {
      const queryString = `${start}${filled(unit, LIMITS.queryLength - start.length)}`;
      for (const hasArguments of start.includes('a') ? [true, false] : [false]) {
        const slow = isSlow(() => parseRestQuery(queryString, { hasArguments }));
        expect({ unit, slow }).toEqual({ unit, slow: false });
      }
    }
  });

  it('is refused without being parsed when it is too long', () => {
    const queryString = filled('or=(a.eq.1)&', 50_000_000);
    expect(isSlow(() => parseRestQuery(queryString, { hasArguments: false }))).toBe(false);
  });

  it('parses hostile targets and headers in time', () => {
    for (const unit of UNITS) {
      const headers = Object.fromEntries(
        ['prefer', 'accept', 'content-type', 'range', 'accept-profile'].map((name) => [
          name,
          filled(unit, LIMITS.headerLength),
        ]),
      );
      const raw = { method: 'GET', target: 'a', kind: 'table', queryString: '', headers } as const;
      expect(isSlow(() => parseRestRequest(raw))).toBe(false);
      expect(isSlow(() => parseTarget(filled(unit, LIMITS.targetLength)))).toBe(false);
    }
  });

  it('takes linear time', () => {
    const list = (count: number) => `a=in.(${Array(count).fill('"x\\"y"').join()})`;
    const parse = (count: number) => attempt(() => parseRestQuery(list(count), { hasArguments: false }));
    expect(growthOfTime(parse, 1_000)).toBeLessThan(40);
  });
});
