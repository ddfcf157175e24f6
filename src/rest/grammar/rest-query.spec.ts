import { refusalOf, type WithValues, withValues } from '../../../test/support/grammar';
import { type ParsedQuery, parseRestQuery } from './rest-query';
import type { RestQuery } from './tree';

const parsed = (queryString: string): ParsedQuery => parseRestQuery(queryString, { hasArguments: false });
const parsedCall = (queryString: string): ParsedQuery => parseRestQuery(queryString, { hasArguments: true });

const filled = ({ shape, values }: ParsedQuery): WithValues<RestQuery> => withValues(shape, values);
const onTable = (queryString: string) => filled(parsed(queryString));
const onCall = (queryString: string) => filled(parsedCall(queryString));

const EMPTY: RestQuery = {
  select: [{ kind: 'star' }],
  selectGiven: false,
  filters: [],
  logic: [],
  order: [],
  windows: [],
  columns: null,
  onConflict: null,
  callParameters: [],
  text: '',
};

describe('parseRestQuery', () => {
  it('reads an empty query string as all columns of all rows', () => {
    expect(onTable('')).toEqual(EMPTY);
    expect(onTable('?')).toEqual(EMPTY);
  });

  it('records whether select was given', () => {
    expect(onTable('select=*')).toMatchObject({ select: [{ kind: 'star' }], selectGiven: true });
    expect(onTable('select=')).toMatchObject({ select: [{ kind: 'star' }], selectGiven: true });
    expect(onTable('select')).toMatchObject({ select: [{ kind: 'star' }], selectGiven: false });
  });

  it('parses each parameter by its rule', () => {
    const written =
      '?select=id,clients(name)&id=gt.1&clients.name=like.A*&or=(id.eq.1,id.eq.2)&clients.not.and=(id.eq.3)' +
      '&order=id.desc&clients.order=name&limit=5&offset=2&clients.limit=1&columns=id,name&on_conflict=id';
    expect(onTable(written)).toMatchObject({
      select: [{ kind: 'field' }, { kind: 'embed', relation: 'clients' }],
      filters: [
        { path: [], node: { field: { name: 'id' }, operation: { operator: 'gt', value: '1' } } },
        {
          path: ['clients'],
          node: { field: { name: 'name' }, operation: { operator: 'like', value: 'A*' } },
        },
      ],
      logic: [
        { path: [], node: { operator: 'or', negated: false, terms: [{}, {}] } },
        { path: ['clients'], node: { operator: 'and', negated: true, terms: [{}] } },
      ],
      order: [
        { path: [], node: [{ field: { name: 'id' }, direction: 'desc' }] },
        { path: ['clients'], node: [{ field: { name: 'name' }, direction: null }] },
      ],
      windows: [
        { path: [], node: { limit: 5, offset: 2 } },
        { path: ['clients'], node: { limit: 1, offset: 0 } },
      ],
      columns: ['id', 'name'],
      onConflict: ['id'],
      callParameters: [],
    });
    expect(parsed(written).values.parameters).toHaveLength(12);
  });

  it.each([
    ['"order"=eq.1', 'order'],
    ['"a.limit"=eq.1', 'a.limit'],
    ['orders=eq.1', 'orders'],
    ['Select=eq.1', 'Select'],
  ])('reads %s as a filter', (queryString, name) => {
    expect(onTable(queryString).filters).toMatchObject([{ path: [], node: { field: { name } } }]);
  });

  it.each([
    ['not.or=(a.eq.1)', [], true],
    ['a.b.or=(a.eq.1)', ['a', 'b'], false],
    ['a.not.or=(a.eq.1)', ['a'], true],
    ['not.a.or=(a.eq.1)', ['a'], true],
    ['"a.b".or=(a.eq.1)', ['a.b'], false],
  ])('reads the path of %s', (queryString, path, negated) => {
    expect(onTable(queryString).logic).toMatchObject([{ path, node: { operator: 'or', negated } }]);
  });

  it('takes the first select, columns and order of a level, and the last limit', () => {
    const query = onTable('select=a&select=b&columns=a&columns=b&order=a&a.order=x&order=b&limit=1&limit=2');
    expect(query).toMatchObject({
      select: [{ field: { name: 'a' } }],
      columns: ['a'],
      order: [
        { path: [], node: [{ field: { name: 'a' } }] },
        { path: ['a'], node: [{ field: { name: 'x' } }] },
      ],
      windows: [{ path: [], node: { limit: 2, offset: 0 } }],
    });
  });

  it('joins filters on the same column', () => {
    expect(onTable('id=gt.1&id=lt.5').filters).toHaveLength(2);
  });

  it.each([
    ['id=0', '"failed to parse filter (0)" (line 1, column 1)'],
    ['order=id.ac', '"failed to parse order (id.ac)" (line 1, column 4)'],
    ['clients.order=id.ac', '"failed to parse order (id.ac)" (line 1, column 4)'],
    ['columns=', '"failed to parse columns parameter ()" (line 1, column 1)'],
    ['on_conflict=a,', '"failed to parse on_conflict parameter (a,)" (line 1, column 3)'],
    ['or=()', '"failed to parse logic tree (())" (line 1, column 4)'],
    ['a.[].or=(a.eq.1)', '"failed to parse logic path (a.[].or)" (line 1, column 3)'],
    ['a.[].limit=1', '"failed to parse tree path (a.[].limit)" (line 1, column 3)'],
    ['limit=x', '"failed to parse limit (x)" (line 1, column 1)'],
    ['=eq.1', '"failed to parse tree path ()" (line 1, column 1)'],
  ])('refuses %s', (queryString, message) => {
    expect(refusalOf(() => onTable(queryString))).toMatchObject({ code: 'PL100', message });
  });

  it('counts terms over all parameters', () => {
    const half = Array(800).fill('a').join();
    expect(onTable(`select=${half}&columns=${half}`).select).toHaveLength(800);
    expect(refusalOf(() => onTable(`select=${half}&columns=${half}&a=eq.1`)).code).toBe('PL153');
  });
});

describe('parseRestQuery for a function called with GET', () => {
  it('leaves it to the plan to decide which parameters are arguments', () => {
    const written = '?min=2&max=eq.4&text=not.a filter&select=id&order=id&limit=1&id=in.(1,2)&v=&min=3';
    const query = onCall(written);
    expect(query.filters).toEqual([]);
    expect(query.callParameters).toMatchObject([
      { name: 'min', filter: null },
      { name: 'max', filter: { node: { field: { name: 'max' }, operation: { value: '4' } } } },
      { name: 'text', filter: null },
      { name: 'id', filter: { path: [], node: { operation: { value: ['1', '2'] } } } },
      { name: 'v', filter: null },
      { name: 'min', filter: null },
    ]);
    const { arguments: texts } = parsedCall(written).values;
    expect([...texts]).toEqual([
      ['min', ['2', '3']],
      ['text', ['not.a filter']],
      ['v', ['']],
    ]);
    expect(query).toMatchObject({ select: [{ field: { name: 'id' } }], order: [{}], windows: [{}] });
  });

  it('reads filters on embeds and JSON paths of the result', () => {
    expect(onCall('clients.name=eq.x&val->i=gt.0.5').callParameters).toMatchObject([
      { name: 'name', filter: { path: ['clients'] } },
      { name: 'val', filter: { node: { field: { name: 'val', path: [{ key: 'i' }] } } } },
    ]);
  });

  it.each([['is.there'], ['in.a'], ['eq'], ['.x'], ['fts(.x'], ['{"a":1}'], ['not.'], ['hello.world']])(
    'reads %s as a value',
    (value) => {
      expect(onCall(`a=${value}`).callParameters).toEqual([{ name: 'a', filter: null }]);
      expect(parsedCall(`a=${value}`).values).toMatchObject({
        filters: [],
        arguments: new Map([['a', [value]]]),
      });
    },
  );

  it('still refuses malformed parameters', () => {
    expect(refusalOf(() => onCall('a[]=1')).code).toBe('PL100');
    expect(refusalOf(() => onCall(`a=eq.1&${'a=eq.1&'.repeat(1_700)}`)).code).toBe('PL153');
  });
});

describe('the text of a shape', () => {
  const textOf = (queryString: string): string => parsed(queryString).shape.text;

  it('is the same if only values differ', () => {
    const one = 'select=id&id=eq.1&or=(a.eq.1,not.and(b.in.(1,2),c.fts(english).x))&b.c=not.in.(1)';
    const other = 'select=id&id=eq.&or=(a.eq."x,y",not.and(b.in.(),c.fts(english).{a}))&b.c=not.in.(")",2)';
    expect(textOf(other)).toBe(textOf(one));
    expect(parsed(other).values.filters).toEqual(['x,y', [], '{a}', '', [')', '2']]);
  });

  it.each([
    ['id=eq.1', 'id=gt.1'],
    ['id=eq.1', 'id=not.eq.1'],
    ['id=eq.1&a=eq.1', 'id=eq.1'],
    ['id=eq.1', 'order=id&id=eq.1'],
    ['limit=1', 'limit=2'],
    ['or=(a.eq.1,b.eq.1)', 'or=(a.eq.1)&b=eq.1'],
    ['or=(a.eq.1,b.eq.1)', 'and=(a.eq.1,b.eq.1)'],
    ['or=(a.eq.1,b.is.null)', 'or=(a.eq.1,b.is.true)'],
    ['a=fts(x).1', 'a=fts(y).1'],
    ['a=eq.1,b.eq.2', 'or=(a.eq.1,b.eq.2)'],
  ])('differs: %s, %s', (one, other) => {
    expect(textOf(one)).not.toBe(textOf(other));
  });

  it('contains the names of a function’s arguments, but not their values', () => {
    const [one, other] = [parsedCall('a=in.(1,2&b=2'), parsedCall('a=x&b=3')];
    expect(one.shape.text).toBe(other.shape.text);
    expect([one.values.filters, other.values.filters]).toEqual([[], []]);
  });
});
