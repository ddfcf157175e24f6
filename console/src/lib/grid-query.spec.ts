import type { Column } from '../queries/catalog-types';
import {
  filterParameters,
  filtersFromText,
  FIRST_PAGE,
  type GridQuery,
  isCut,
  markCut,
  pageParameters,
  type Place,
  rowParameters,
  unchangedRowParameters,
} from './grid-query';

const column = (name: string, nullable = false): Column => ({
  name,
  type: 'text',
  category: 'S',
  nullable,
  default: null,
  always: false,
  labels: null,
  comment: null,
});
const relation = { columns: [column('id'), column('a b', true), column('c')], primaryKey: ['id'] };
const none: GridQuery = { filters: [], sort: null };
const sorted = (name: string, descending = false): GridQuery => ({
  filters: [],
  sort: { column: name, descending },
});
const parametersOf = (query: GridQuery, place: Place) =>
  Object.fromEntries(pageParameters(relation, query, place, 100));

describe('the parameters of a page', () => {
  it('select each column as text, in the order of the key', () => {
    expect(parametersOf(none, FIRST_PAGE)).toEqual({
      select: '"id"::text,"a b"::text,"c"::text',
      limit: '100',
      order: '"id".asc',
    });
  });

  it('add the key to the sort, and put nulls last if a column can be null', () => {
    expect(parametersOf(sorted('a b', true), FIRST_PAGE).order).toBe('"a b".desc.nullslast,"id".asc');
  });

  it('quote values, so that a value cannot end its condition', () => {
    const value = 'x"),(or\\';
    const query = { filters: [{ column: 'a b', operator: 'eq' as const, value }], sort: null };
    expect(parametersOf(query, FIRST_PAGE).and).toBe('("a b".eq."x\\"),(or\\\\")');
  });

  it('continue after a row of the sort', () => {
    const after = { id: '7', 'a b': 'x' };
    expect(parametersOf(sorted('a b'), { after }).and).toBe(
      '(or("a b".is.null,"a b".gt."x",and("a b".eq."x","id".gt."7")))',
    );
  });

  it('continue after a row with a null value by the key alone', () => {
    const after = { id: '7', 'a b': null };
    expect(parametersOf(sorted('a b', true), { after }).and).toBe('(or(and("a b".is.null,"id".gt."7")))');
  });

  it('add a condition that an index on the sort column can use', () => {
    const after = { id: '7', c: 'x' };
    expect(parametersOf(sorted('c', true), { after }).and).toBe(
      '("c".lte."x",or("c".lt."x",and("c".eq."x","id".gt."7")))',
    );
  });

  it('read backwards before a row, with nulls first', () => {
    expect(parametersOf(sorted('a b'), { before: { id: '7', 'a b': null } })).toMatchObject({
      order: '"a b".desc.nullsfirst,"id".desc',
      and: '(or("a b".not.is.null,and("a b".is.null,"id".lt."7")))',
    });
    expect(parametersOf(sorted('a b'), { before: { id: '7', 'a b': 'x' } }).and).toBe(
      '(or("a b".lt."x",and("a b".eq."x","id".lt."7")))',
    );
  });

  it('read the last rows backwards', () => {
    expect(parametersOf(none, 'last')).toEqual({
      select: '"id"::text,"a b"::text,"c"::text',
      limit: '100',
      order: '"id".desc',
    });
  });

  it('use an offset if no neighbour is known', () => {
    expect(parametersOf(none, { offset: 300 }).offset).toBe('300');
  });
});

it('matches all rows of a filter, or all rows by a key that is never null', () => {
  const filters = [{ column: 'c', operator: 'gt' as const, value: '1' }];
  expect(filterParameters(filters, relation).get('and')).toBe('("c".gt."1")');
  expect(filterParameters([], relation).get('and')).toBe('("id".not.is.null)');
});

it('identifies a row by all columns of its key', () => {
  const parameters = rowParameters(['id', 'a b'], { id: '1', 'a b': 'x,y' });
  expect(parameters.get('and')).toBe('("id".eq."1","a b".eq."x,y")');
});

it('matches a row only while the changed columns have the values that were read', () => {
  const columns = [
    ['id', 'bigint', 'N'],
    ['name', 'text', 'S'],
    ['born', 'date', 'D'],
    ['data', 'json', 'U'],
    ['note', 'text', 'S'],
  ].map(([name, type, category]) => ({ ...column(name!), type: type!, category: category! }));
  const row = { id: '1', name: 'a"b', born: null, data: '{}', note: 'x'.repeat(2_000) };
  const table = { primaryKey: ['id'], columns };
  const read = (changed: string[]) => unchangedRowParameters(table, row, changed).get('and');
  expect(read(['name', 'born', 'data', 'note'])).toBe('("id".eq."1","name".eq."a\\"b","born".is.null)');
  expect(read(['id'])).toBe('("id".eq."1")');
});

it('reads only valid filters from a link', () => {
  const good = { column: 'a', operator: 'eq', value: '1' };
  expect(
    filtersFromText(JSON.stringify([good, { column: 'a', operator: 'or', value: '1' }, null, 7])),
  ).toEqual([good]);
  expect(filtersFromText('not json')).toEqual([]);
});

describe('a page of large values', () => {
  it('has the beginnings of long columns, but whole keys', () => {
    const wide = { ...relation, columns: [...relation.columns, { ...column('n'), type: 'integer' }] };
    const parameters = pageParameters(wide, none, FIRST_PAGE, 100, true);
    expect(parameters.get('select')).toBe('"id"::text,"a b"::name,"c"::name,"n"::text');
  });

  it('marks the values that may be cut, in the bytes of PostgreSQL', () => {
    const row = markCut(relation, { id: 'x'.repeat(70), 'a b': 'y'.repeat(63), c: 'z'.repeat(40) });
    expect([isCut(row.id), isCut(row['a b']), isCut(row.c)]).toEqual([false, true, false]);
    expect(row['a b']).toMatch(/^y{63}/);
    expect(isCut(markCut(relation, { 'a b': '\u20ac'.repeat(21) })['a b'])).toBe(true);
    expect(isCut(markCut(relation, { 'a b': null })['a b'])).toBe(false);
    expect(isCut('an ellipsis of the data\u2026')).toBe(false);
  });
});
