import type { Column } from '../queries/catalog-types';
import { comparedColumns, comparisonOf, restoreSql } from './restore-row';

const column = (name: string, type: string, always = false): Column => ({
  ...{ name, type, always, category: 'S', nullable: true, default: null, labels: null, comment: null },
});
const TABLE = {
  schema: 'public',
  name: 'notes',
  columns: [column('id', 'integer', true), column('ti"tle', 'text'), column('added', 'text')],
  primaryKey: ['id'],
};
const ROW = { id: '1', 'ti"tle': `it's \\`, gone: 'x' };
const compared = (present?: string): ReturnType<typeof comparedColumns> =>
  comparedColumns(TABLE, ROW, [
    { archived: 'true', v0: '1', v1: ROW['ti"tle'] },
    ...(present === undefined ? [] : [{ archived: 'false', v0: '1', v1: present }]),
  ]);

it('compares through the types of the columns, by the key', () => {
  expect(comparisonOf(TABLE, ROW)).toEqual({
    query: `select true as archived, ($1::integer)::text as v0, ($2::text)::text as v1
union all select false, t."id"::text, t."ti""tle"::text from "public"."notes" t where t."id" = $1::integer`,
    parameters: ['1', `it's \\`],
  });
  expect(comparisonOf({ ...TABLE, primaryKey: [] }, ROW)).toBeNull();
  expect(comparisonOf({ ...TABLE, primaryKey: ['added'] }, ROW)).toBeNull();
});

it.each([
  [
    'a row that is missing',
    undefined,
    `insert into "public"."notes" ("id", "ti""tle")\noverriding system value\nvalues ('1', E'it''s \\\\');`,
  ],
  [
    'a row that was changed',
    'else',
    `update "public"."notes"\nset "ti""tle" = E'it''s \\\\'\nwhere "id" = '1';`,
  ],
  ['the same row', `it's \\`, null],
])('writes the SQL for %s', (_case, present, sql) => {
  expect(restoreSql(TABLE, ROW, compared(present))).toBe(sql);
});

it('inserts a row of a table without a key', () => {
  const table = { ...TABLE, columns: [column('a', 'text')], primaryKey: [] };
  expect(restoreSql(table, { a: null }, comparedColumns(table, { a: null }, []))).toBe(
    'insert into "public"."notes" ("a")\nvalues (null);',
  );
});
