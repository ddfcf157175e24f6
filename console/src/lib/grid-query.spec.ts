import type { Column } from '../queries/catalog-types';
import {
  filtersFromText,
  PAGE_ROWS,
  pageParameters,
  placeAfter,
  type Row,
  rowParameters,
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
const relation = { columns: [column('id'), column('a b', true)], primaryKey: ['id'] };
const none = { filters: [], sort: null };

const decoded = (parameters: URLSearchParams) => Object.fromEntries(parameters);

describe('the parameters of a page', () => {
  it('select each column as text, in the order of the key', () => {
    expect(decoded(pageParameters(relation, none, null))).toEqual({
      select: '"id"::text,"a b"::text',
      limit: String(PAGE_ROWS),
      order: '"id".asc',
    });
  });

  it('add the key to the sort, and put null last where a column can be null', () => {
    const query = { filters: [], sort: { column: 'a b', descending: true } };
    expect(pageParameters(relation, query, null).get('order')).toBe('"a b".desc.nullslast,"id".asc');
  });

  it('quote values, so that no value ends its condition', () => {
    const value = 'x"),(or\\';
    const query = { filters: [{ column: 'a b', operator: 'eq' as const, value }], sort: null };
    expect(pageParameters(relation, query, null).get('and')).toBe('("a b".eq."x\\"),(or\\\\")');
  });

  it('go on after a row of the sort', () => {
    const query = { filters: [], sort: { column: 'a b', descending: false } };
    const after = pageParameters(relation, query, { after: { id: '7', 'a b': 'x' } });
    expect(after.get('and')).toBe('(or("a b".is.null,"a b".gt."x",and("a b".eq."x","id".gt."7")))');
  });

  it('go on after a row without a value by the key alone', () => {
    const query = { filters: [], sort: { column: 'a b', descending: true } };
    const after = pageParameters(relation, query, { after: { id: '7', 'a b': null } });
    expect(after.get('and')).toBe('(or(and("a b".is.null,"id".gt."7")))');
  });

  it('use an offset where no key identifies rows', () => {
    const keyless = { ...relation, primaryKey: [] };
    const full: Row[] = Array.from({ length: PAGE_ROWS }, () => ({ id: '1', 'a b': null }));
    const place = placeAfter(keyless, full, 200);
    expect(place).toEqual({ offset: 300 });
    expect(pageParameters(keyless, none, place).get('offset')).toBe('300');
  });
});

it('ends at a page that is not full', () => {
  expect(placeAfter(relation, [{ id: '1' }], 0)).toBeNull();
});

it('names a row by all columns of its key', () => {
  const parameters = rowParameters(['id', 'a b'], { id: '1', 'a b': 'x,y' });
  expect(parameters.get('and')).toBe('("id".eq."1","a b".eq."x,y")');
});

it('takes only filters from a link', () => {
  const good = { column: 'a', operator: 'eq', value: '1' };
  expect(
    filtersFromText(JSON.stringify([good, { column: 'a', operator: 'or', value: '1' }, null, 7])),
  ).toEqual([good]);
  expect(filtersFromText('not json')).toEqual([]);
});
