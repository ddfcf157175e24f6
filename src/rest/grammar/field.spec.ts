import { jsonPath } from './field';
import { refusalOf } from '../../../test/support/grammar';
import { Scanner } from './scanner';
import type { JsonStep } from './tree';

const key = (name: string, asText = false): JsonStep => ({ kind: 'key', asText, key: name });
const index = (value: number, asText = false): JsonStep => ({ kind: 'index', asText, index: value });

function pathIn(text: string): { steps: readonly JsonStep[]; rest: string } {
  const scanner = new Scanner(text, { what: 'path' });
  const steps = jsonPath(scanner);
  return { steps, rest: text.slice(scanner.pos) };
}

describe('jsonPath', () => {
  it.each<[string, JsonStep[], string]>([
    ['', [], ''],
    ['->text', [key('text')], ''],
    ['->!@#$%^&*_a', [key('!@#$%^&*_a')], ''],
    ['->1', [index(1)], ''],
    ['->>text', [key('text', true)], ''],
    ['->>!@#$%^&*_a', [key('!@#$%^&*_a', true)], ''],
    ['->>1', [index(1, true)], ''],
    ['->0,other', [index(0)], ',other'],
    ['->0.desc', [index(0)], '.desc'],
    ['->0::int', [index(0)], '::int'],
    ['->0)', [index(0)], ')'],
    ['->>-1', [index(-1, true)], ''],
    ['->-1->>-3', [index(-1), index(-3, true)], ''],
    ['->0->a->>2', [index(0), key('a'), index(2, true)], ''],
    ['->"a.b"->>"c,d"', [key('a.b'), key('c,d', true)], ''],
    ['->"0"', [key('0')], ''],
    ['-> a key ->>b', [key('a key'), key('b', true)], ''],
    ['->2147483647', [index(2147483647)], ''],
  ])('reads %s', (text, steps, rest) => {
    expect(pathIn(text)).toEqual({ steps, rest });
  });

  it('treats only well-formed numbers as indexes', () => {
    expect(pathIn('->0->0xy1->1->23-xy-45->1->xy-6->>0::int')).toEqual({
      steps: [index(0), key('0xy1'), index(1), key('23-xy-45'), index(1), key('xy-6'), index(0, true)],
      rest: '::int',
    });
  });

  it.each([
    ['->>-78xy', 7, 'unexpected \'x\' expecting digit, "->", "::", ".", "," or end of input'],
    ['->>--34', 5, 'unexpected "-" expecting digit'],
    ['->>-xy-4', 5, 'unexpected "x" expecting digit'],
    ['->(!@#', 3, 'unexpected "(" expecting "-", digit or any non reserved character different from: .,>()'],
    ['->"open', 8, 'unexpected end of input expecting the closing "\\"" of a quoted key'],
    ['->2147483648', 13, 'unexpected end of input expecting an index up to 2147483647 before this'],
  ])('refuses %s at column %i', (text, column, details) => {
    expect(refusalOf(() => pathIn(text))).toEqual({
      code: 'PL100',
      message: `"failed to parse path (${text})" (line 1, column ${column})`,
      details,
    });
  });

  it('refuses a path with too many arrows', () => {
    expect(refusalOf(() => pathIn('->a'.repeat(101))).code).toBe('PL153');
  });
});
