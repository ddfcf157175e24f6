import { parseFilter } from './operation';
import {
  IS_VALUES,
  type IsValue,
  PLAIN_OPERATORS,
  QUANTIFIABLE_OPERATORS,
  QUANTIFIERS,
  TEXT_SEARCH_OPERATORS,
} from './operators';
import { QueryParts } from './query-values';
import { refusalOf, type WithValues, withValues } from '../../../test/support/grammar';
import type { Operation as OperationWithSlot } from './tree';

type Operation = WithValues<OperationWithSlot>;

function operationOf(value: string): { negated: boolean; operation: Operation } {
  const parts = new QueryParts();
  const { negated, operation } = parseFilter('id', value, undefined, parts).node;
  return { negated, operation: withValues(operation, parts.values([])) };
}

const listed = (...values: string[]): Operation => ({ kind: 'in', operator: 'in', value: values });

describe('parseFilter: the column', () => {
  it.each([
    ['id', [], 'id'],
    ['a.b', ['a'], 'b'],
    ['projects.tasks.name', ['projects', 'tasks'], 'name'],
    ['"information.cpe"', [], 'information.cpe'],
    ['"a.b"."c.d"', ['a.b'], 'c.d'],
    ['Just A Server Model', [], 'Just A Server Model'],
    ['"*id*"', [], '*id*'],
    ['هویت', [], 'هویت'],
  ])('reads %s', (parameter, path, name) => {
    const filter = parseFilter(parameter, 'eq.0');
    expect(filter.path).toEqual(path);
    expect(filter.node.field).toEqual({ name, path: [] });
  });

  it('reads a JSON path after embeds', () => {
    expect(parseFilter('clients.data->foo->>-1', 'eq.x')).toMatchObject({
      path: ['clients'],
      node: {
        field: {
          name: 'data',
          path: [
            { kind: 'key', asText: false, key: 'foo' },
            { kind: 'index', asText: true, index: -1 },
          ],
        },
      },
    });
  });

  it.each([
    ['', 1, 'unexpected end of input expecting field name (* or [a..z0..9_$])'],
    ['a.', 3, 'unexpected end of input expecting field name (* or [a..z0..9_$])'],
    ['id[]', 3, 'unexpected \'[\' expecting letter, digit, "-", "->>", "->", delimiter (.) or end of input'],
    ['data->a.b', 8, 'unexpected \'.\' expecting "->>", "->" or end of input'],
  ])('refuses %j at column %i', (parameter, column, details) => {
    expect(refusalOf(() => parseFilter(parameter, 'eq.0'))).toEqual({
      code: 'PL100',
      message: `"failed to parse tree path (${parameter})" (line 1, column ${column})`,
      details,
    });
  });

  it('refuses a path with too many names', () => {
    expect(refusalOf(() => parseFilter('a.'.repeat(31) + 'a', 'eq.0')).code).toBe('PL153');
  });
});

describe('parseFilter: the operation', () => {
  it.each(PLAIN_OPERATORS.words)('reads %s', (operator) => {
    const operation: Operation = { kind: 'plain', operator, value: '[1,3]' };
    expect(operationOf(`${operator}.[1,3]`)).toEqual({ negated: false, operation });
    expect(operationOf(`not.${operator}.[1,3]`)).toEqual({ negated: true, operation });
    expect(refusalOf(() => operationOf(`${operator}(any).{1}`)).code).toBe('PL100');
  });

  it.each(QUANTIFIABLE_OPERATORS.words)('reads %s, also with any and all', (operator) => {
    const operation: Operation = { kind: 'quantified', operator, quantifier: null, value: 'x.y' };
    expect(operationOf(`${operator}.x.y`)).toEqual({ negated: false, operation });
    expect(operationOf(`not.${operator}.x.y`)).toEqual({ negated: true, operation });
    for (const quantifier of QUANTIFIERS.words) {
      expect(operationOf(`not.${operator}(${quantifier}).{a,b}`)).toEqual({
        negated: true,
        operation: { kind: 'quantified', operator, quantifier, value: '{a,b}' },
      });
    }
  });

  it.each(TEXT_SEARCH_OPERATORS.words)('reads %s, also with a language', (operator) => {
    const operation: Operation = { kind: 'text-search', operator, language: null, value: 'The Fat Rats' };
    expect(operationOf(`${operator}.The Fat Rats`)).toEqual({ negated: false, operation });
    expect(operationOf(`not.${operator}(english).The Fat Rats`)).toEqual({
      negated: true,
      operation: { ...operation, language: 'english' },
    });
  });

  it.each<[string, IsValue]>([
    ['is.null', 'null'],
    ['is.NULL', 'null'],
    ['is.not_null', 'not_null'],
    ['is.NOT_NULL', 'not_null'],
    ['is.not.null', 'not_null'],
    ['is.TRUE', 'true'],
    ['is.FAlSe', 'false'],
    ['is.UnKnOwN', 'unknown'],
  ])('reads %s', (text, keyword) => {
    const operation: Operation = { kind: 'is', operator: 'is', keyword };
    expect(operationOf(text)).toEqual({ negated: false, operation });
    expect(operationOf(`not.${text}`)).toEqual({ negated: true, operation });
  });

  it('knows every word of is', () => {
    for (const keyword of IS_VALUES.words) {
      expect(operationOf(`is.${keyword}`).operation).toEqual({ kind: 'is', operator: 'is', keyword });
    }
  });

  it('leaves values unchanged', () => {
    for (const value of ['', ' ', '"quoted"', '(1,2)', '{"e":1}', 'a.b.c', '*x%', '\\', 'é, ü)', '..*YY.*']) {
      expect(operationOf(`eq.${value}`).operation).toMatchObject({ value });
    }
  });

  it.each([
    ['val', 1, 'unexpected "v" expecting "not" or operator (eq, gt, ...)'],
    ['noop.0', 1, 'unexpected "o" expecting "not" or operator (eq, gt, ...)'],
    ['', 1, 'unexpected end of input expecting "not" or operator (eq, gt, ...)'],
    ['5', 1, 'unexpected "5" expecting "not" or operator (eq, gt, ...)'],
    ['EQ.5', 1, 'unexpected "E" expecting "not" or operator (eq, gt, ...)'],
    ['not.not.eq.5', 5, 'unexpected "n" expecting operator (eq, gt, ...)'],
    ['not.xx.1', 5, 'unexpected "x" expecting operator (eq, gt, ...)'],
    ['eq', 3, 'unexpected end of input expecting operator (eq, gt, ...)'],
    ['eqx.1', 3, 'unexpected "x" expecting operator (eq, gt, ...)'],
    ['eq().value', 4, 'unexpected ")" expecting operator (eq, gt, ...)'],
    ['eq(some).{1}', 4, 'unexpected "s" expecting operator (eq, gt, ...)'],
    ['eq(any)', 8, 'unexpected end of input expecting operator (eq, gt, ...)'],
    ['fts().value', 5, 'unexpected ")" expecting operator (eq, gt, ...)'],
    ['fts(a-b).value', 6, 'unexpected "-" expecting operator (eq, gt, ...)'],
    ['is().value', 3, 'unexpected "(" expecting operator (eq, gt, ...)'],
    ['in().value', 3, 'unexpected "(" expecting operator (eq, gt, ...)'],
    ['is.nil', 4, 'unexpected "n" expecting isVal: (null, not_null, true, false, unknown)'],
    ['is.nullx', 8, "unexpected 'x' expecting end of input"],
    ['is.not.true', 4, 'unexpected "n" expecting isVal: (null, not_null, true, false, unknown)'],
    ['in.1,2', 4, 'unexpected "1" expecting "("'],
    ['in.(1,2', 8, 'unexpected end of input expecting ")" or ","'],
    ['in.("a"b"c")d', 13, "unexpected 'd' expecting end of input"],
  ])('refuses %j at column %i', (value, column, details) => {
    expect(refusalOf(() => operationOf(value))).toEqual({
      code: 'PL100',
      message: `"failed to parse filter (${value})" (line 1, column ${column})`,
      details,
    });
  });

  it('counts lines, and tabs as PostgREST does', () => {
    expect(refusalOf(() => operationOf('in.(a\n\tb')).message).toContain('(line 2, column 10)');
  });
});

describe('parseFilter: lists', () => {
  it.each<[string, Operation]>([
    ['in.(1,3,5)', listed('1', '3', '5')],
    ['in.("Hebdon, John")', listed('Hebdon, John')],
    ['in.(David White,"Hebdon, John")', listed('David White', 'Hebdon, John')],
    ['in.("Double O Seven(007)")', listed('Double O Seven(007)')],
    ['in.("Double\\"Quote\\"McGraw\\"")', listed('Double"Quote"McGraw"')],
    ['in.("\\\\")', listed('\\')],
    ['in.("/\\\\Slash/\\\\Beast/\\\\")', listed('/\\Slash/\\Beast/\\')],
    ['in.("D\\a\\vid W\\h\\ite")', listed('David White')],
    ['in.(")', listed('"')],
    ['in.(Double"Quote"McGraw")', listed('Double"Quote"McGraw"')],
    ['in.("a"b,c)', listed('"a"b', 'c')],
    ['in.(\\)', listed('\\')],
    ['in.(/\\Slash/\\Beast/\\)', listed('/\\Slash/\\Beast/\\')],
    ['in.()', listed()],
    ['in.(    )', listed()],
    ['in.("")', listed('')],
    ['in.(,)', listed('', '')],
    ['in.( ,3,4)', listed('', '3', '4')],
    ['in. ( 1, 2 )', listed('1', ' 2 ')],
    ['in.(1,2))', listed('1', '2')],
  ])('reads %s', (value, operation) => {
    expect(operationOf(value).operation).toEqual(operation);
  });
});
