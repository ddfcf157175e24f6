import { type LogicHead, parseLogicTree as parseWithSlots } from './logic-tree';
import { QueryParts } from './query-values';
import { refusalOf, type WithValues, withValues } from '../../../test/support/grammar';
import type * as tree from './tree';

type Filter = WithValues<tree.Filter>;
type LogicGroup = WithValues<tree.LogicGroup>;
type LogicTree = WithValues<tree.LogicTree>;
type Operation = WithValues<tree.Operation>;

function parseLogicTree(head: LogicHead, text: string): LogicGroup {
  const parts = new QueryParts();
  const group = parseWithSlots(head, text, undefined, parts);
  return withValues(group, parts.values([]));
}

const AND: LogicHead = { operator: 'and', negated: false };
const OR: LogicHead = { operator: 'or', negated: false };

function eq(name: string, value: string, negated = false): Filter {
  const operation: Operation = { kind: 'quantified', operator: 'eq', quantifier: null, value };
  return { kind: 'filter', field: { name, path: [] }, negated, operation };
}

function filter(name: string, operation: Operation, negated = false): Filter {
  return { kind: 'filter', field: { name, path: [] }, negated, operation };
}

function group(head: LogicHead, ...terms: LogicTree[]): LogicGroup {
  return { kind: 'group', ...head, terms };
}

const NOT_AND: LogicHead = { operator: 'and', negated: true };

describe('parseLogicTree', () => {
  it.each<[string, LogicTree[]]>([
    ['(id.eq.1)', [eq('id', '1')]],
    ['(id.eq.1,id.eq.2)', [eq('id', '1'), eq('id', '2')]],
    ['(id.eq.1, id.eq.2, id.eq.3)', [eq('id', '1'), eq('id', '2'), eq('id', '3')]],
    ['(id.not.eq.1)', [eq('id', '1', true)]],
    [
      '(and(name.eq.entity 2,id.eq.2),not.and(name.eq.entity 1,id.eq.1))',
      [
        group(AND, eq('name', 'entity 2'), eq('id', '2')),
        group(NOT_AND, eq('name', 'entity 1'), eq('id', '1')),
      ],
    ],
    [
      '(id.eq.1,or(id.eq.2,and(id.eq.3)))',
      [eq('id', '1'), group(OR, eq('id', '2'), group(AND, eq('id', '3')))],
    ],
    [
      '(and_starting_col.eq.smth, or_starting_col.eq.smth)',
      [eq('and_starting_col', 'smth'), eq('or_starting_col', 'smth')],
    ],
    [
      '(and.eq.1,or.eq.2,not.eq.3,not.not.eq.4)',
      [eq('and', '1'), eq('or', '2'), eq('not', '3'), eq('not', '4', true)],
    ],
    ['("a.b,c".eq.1)', [eq('a.b,c', '1')]],
    ['(id.eq.1,id.neq.2))', [eq('id', '1'), filter('id', { kind: 'plain', operator: 'neq', value: '2' })]],
  ])('reads %s', (text, terms) => {
    expect(parseLogicTree(OR, text)).toEqual(group(OR, ...terms));
    expect(parseLogicTree(NOT_AND, text)).toEqual(group(NOT_AND, ...terms));
  });

  it('allows whitespace', () => {
    const text = '( and ( id.in.( 1, 2, 3 ) , id.eq.3 ) , or ( id.eq.2 , id.eq.3 ) )';
    expect(parseLogicTree(AND, text)).toEqual(
      group(
        AND,
        group(AND, filter('id', { kind: 'in', operator: 'in', value: ['1', ' 2', ' 3 '] }), eq('id', '3 ')),
        group(OR, eq('id', '2 '), eq('id', '3 ')),
      ),
    );
  });

  it.each<[string, string]>([
    ['(a.eq.)', ''],
    ['(a.eq.x y)', 'x y'],
    ['(a.eq."(grandchild,entity,4)")', '(grandchild,entity,4)'],
    ['(a.eq."quo\\"te")', 'quo"te'],
    ['(a.eq."a"b)', '"a"b'],
    ['(a.eq.a"b")', 'a"b"'],
    ['(a.eq.")', '"'],
    ['(a.eq.{1,2,3})', '{1,2,3}'],
    ['(a.eq.{})', '{}'],
    ['(a.eq.{"a,b"})', '{"a,b"}'],
    ['(a.eq.{open)', '{open'],
    ['(a.eq."{{1,2},{3,4}}")', '{{1,2},{3,4}}'],
    ['(a.eq.2020-01-01T10:00:00.5)', '2020-01-01T10:00:00.5'],
  ])('reads the value of %s', (text, value) => {
    expect(parseLogicTree(OR, text).terms).toEqual([eq('a', value)]);
  });

  it.each<[string, Filter]>([
    ['name.like.*1', filter('name', { kind: 'quantified', operator: 'like', quantifier: null, value: '*1' })],
    ['id.in.("1",2)', filter('id', { kind: 'in', operator: 'in', value: ['1', '2'] })],
    ['id.not.in.()', filter('id', { kind: 'in', operator: 'in', value: [] }, true)],
    ['arr.cs.{1,2}', filter('arr', { kind: 'plain', operator: 'cs', value: '{1,2}' })],
    ['arr.not.isdistinct.{1}', filter('arr', { kind: 'plain', operator: 'isdistinct', value: '{1}' }, true)],
    ['name.is.null', filter('name', { kind: 'is', operator: 'is', keyword: 'null' })],
    ['name.is.not.null', filter('name', { kind: 'is', operator: 'is', keyword: 'not_null' })],
    ['clients.not.is.null', filter('clients', { kind: 'is', operator: 'is', keyword: 'null' }, true)],
    [
      'k.like(any).{a*,b*}',
      filter('k', { kind: 'quantified', operator: 'like', quantifier: 'any', value: '{a*,b*}' }),
    ],
    [
      't.plfts(german).Art Spass',
      filter('t', { kind: 'text-search', operator: 'plfts', language: 'german', value: 'Art Spass' }),
    ],
  ])('reads %s among others', (text, expected) => {
    expect(parseLogicTree(AND, `(${text},id.eq.1)`).terms).toEqual([expected, eq('id', '1')]);
    expect(parseLogicTree(AND, `(id.eq.1, ${text})`).terms).toEqual([eq('id', '1'), expected]);
  });

  it('reads JSON paths', () => {
    expect(parseLogicTree(OR, '(jsonb_col->a->>b.eq.foo, data->0.eq.1)').terms).toMatchObject([
      { field: { name: 'jsonb_col', path: [{ key: 'a' }, { key: 'b', asText: true }] } },
      { field: { name: 'data', path: [{ index: 0 }] } },
    ]);
  });

  it.each<[LogicHead, string, number, string]>([
    [
      OR,
      '()',
      4,
      'unexpected ")" expecting field name (* or [a..z0..9_$]), negation operator (not) or logic operator (and, or)',
    ],
    [OR, '(id.in.1,2,id.eq.3)', 10, 'unexpected "1" expecting "("'],
    [OR, ')(', 3, 'unexpected ")" expecting "("'],
    [OR, '', 3, 'unexpected end of input expecting "("'],
    [NOT_AND, 'id.eq.1', 8, 'unexpected "i" expecting "("'],
    [AND, '(ord(id.eq.1,id.eq.1),id.eq.2)', 7, 'unexpected "d" expecting "("'],
    [
      OR,
      '(id.eq.1,not.xor(id.eq.2,id.eq.3))',
      16,
      'unexpected "x" expecting "not" or operator (eq, gt, ...)',
    ],
    [OR, '(id.eq.1', 11, 'unexpected end of input expecting ")" or ","'],
    [OR, '(id.eq.1),id.eq.2', 12, "unexpected ',' expecting end of input"],
    [OR, '(a.eq.{1}x)', 12, 'unexpected "x" expecting ")" or ","'],
    [OR, '(a.is.nullx)', 13, 'unexpected "x" expecting ")" or ","'],
    [OR, '(id)', 6, 'unexpected ")" expecting letter, digit, "-", "->>", "->" or delimiter (.)'],
  ])('refuses %j %s at column %i', (head, text, column, details) => {
    expect(refusalOf(() => parseLogicTree(head, text))).toEqual({
      code: 'PL100',
      message: `"failed to parse logic tree (${text})" (line 1, column ${column})`,
      details,
    });
  });

  it('accepts 31 nested groups, counting the outermost, and refuses more', () => {
    const nested = (depth: number) => `(${'or('.repeat(depth)}id.eq.1${')'.repeat(depth + 1)}`;
    expect(parseLogicTree(OR, nested(30)).terms).toHaveLength(1);
    expect(refusalOf(() => parseLogicTree(OR, nested(31))).code).toBe('PL152');
  });

  it('refuses too many terms', () => {
    const terms = (count: number) => `(${Array(count).fill('a.eq.1').join()})`;
    expect(parseLogicTree(OR, terms(1_599)).terms).toHaveLength(1_599);
    expect(refusalOf(() => parseLogicTree(OR, terms(1_600))).code).toBe('PL153');
  });
});
