import type { Column } from '../queries/catalog-types';
import {
  addForeignKeySql,
  addIndexSql,
  addPrimaryKeySql,
  alterColumnSql,
  changeForeignKeySql,
  clausesOf,
  changeIndexSql,
  draftOfColumn,
  dropIndexSql,
} from './ddl-alter';

const table = { schema: 'public', name: 'a"b' };
const column: Column = {
  name: 'c"d',
  type: 'text',
  category: 'S',
  nullable: true,
  default: "'x'::text",
  always: false,
  labels: null,
  comment: null,
};
const same = draftOfColumn(column);

describe('a change of a column', () => {
  it('is empty while the draft equals the column', () => {
    expect(alterColumnSql(table, column, same)).toBeNull();
  });

  it('drops a default of the old type before it changes the type', () => {
    expect(alterColumnSql(table, column, { ...same, type: 'integer', default: '7' })).toBe(
      `alter table "public"."a""b"
  alter column "c""d" drop default,
  alter column "c""d" type integer using "c""d"::text::integer,
  alter column "c""d" set default 7;`,
    );
  });

  it('sets and drops default, not null and comment', () => {
    expect(alterColumnSql(table, column, { ...same, default: '', nullable: false, comment: "it's" })).toBe(
      `alter table "public"."a""b"
  alter column "c""d" drop default,
  alter column "c""d" set not null;

comment on column "public"."a""b"."c""d" is 'it''s';`,
    );
    const commented = { ...column, comment: 'old' };
    expect(alterColumnSql(table, commented, { ...draftOfColumn(commented), comment: '' })).toBe(
      'comment on column "public"."a""b"."c""d" is null;',
    );
  });
});

it('writes indexes', () => {
  const draft = {
    columns: ['x', 'y'],
    unique: true,
    method: 'btree',
    where: '',
    concurrently: false,
  } as const;
  expect(addIndexSql(table, draft)).toBe('create unique index on "public"."a""b" ("x", "y");');
  expect(
    addIndexSql(table, { ...draft, unique: false, method: 'gin', where: 'x > 1', concurrently: true }),
  ).toBe('create index concurrently on "public"."a""b" using gin ("x", "y")\n  where x > 1;');
  expect(addIndexSql(table, { ...draft, columns: [] })).toBeNull();
  expect(dropIndexSql(table, 'i', null)).toBe('drop index "public"."i";');
  expect(dropIndexSql(table, 'i', 'k')).toBe('alter table "public"."a""b"\n  drop constraint "k";');
});

it('writes keys', () => {
  expect(addPrimaryKeySql(table, ['x'])).toBe('alter table "public"."a""b"\n  add primary key ("x");');
  expect(addPrimaryKeySql(table, [])).toBeNull();
  const target = { schema: 's', table: 't', columns: ['id'] };
  const draft = { column: 'x', target, onDelete: 'cascade', withIndex: true } as const;
  expect(addForeignKeySql(table, draft)).toBe(
    `alter table "public"."a""b"
  add foreign key ("x") references "s"."t" ("id") on delete cascade;

create index on "public"."a""b" ("x");`,
  );
  expect(addForeignKeySql(table, { ...draft, target: null })).toBeNull();
});

it('changes indexes in one transaction, and renames them in place', () => {
  const index = { name: 'i', definition: 'CREATE INDEX i ON t USING btree (x)', constraint: null };
  expect(changeIndexSql(table, index, index)).toBeNull();
  expect(changeIndexSql(table, index, { ...index, definition: ' ' })).toBeNull();
  expect(changeIndexSql(table, index, { ...index, name: 'j' })).toBe(
    'alter index "public"."i" rename to "j";',
  );
  expect(changeIndexSql(table, index, { name: 'j', definition: 'create index i on t (y);' })).toBe(
    'drop index "public"."i";\n\ncreate index i on t (y);\n\nalter index "public"."i" rename to "j";',
  );
  expect(changeIndexSql(table, { ...index, constraint: 'k' }, { ...index, name: 'l', definition: 'x' })).toBe(
    'alter table "public"."a""b"\n  rename constraint "k" to "l";',
  );
});

it('changes foreign keys by one statement, and renames them in place', () => {
  const definition =
    'FOREIGN KEY (a, b) REFERENCES s.t(c, d) MATCH FULL ON UPDATE CASCADE ON DELETE SET NULL (a) DEFERRABLE INITIALLY DEFERRED';
  const key = { name: 'k', columns: ['a', 'b'], schema: 's', table: 't', targets: ['c', 'd'], definition };
  const target = { schema: 's', table: 't', columns: ['c', 'd'] };
  const onDelete = 'set null';
  expect(changeForeignKeySql(table, key, { name: 'k', target, onDelete })).toBeNull();
  expect(changeForeignKeySql(table, key, { name: '', target, onDelete })).toBeNull();
  expect(changeForeignKeySql(table, key, { name: 'l', target, onDelete })).toBe(
    'alter table "public"."a""b"\n  rename constraint "k" to "l";',
  );
  expect(changeForeignKeySql(table, key, { name: 'k', target, onDelete: 'cascade' })).toBe(
    `alter table "public"."a""b"
  drop constraint "k",
  add constraint "k" foreign key ("a", "b")
    references "s"."t" ("c", "d") match full on update cascade on delete cascade deferrable initially deferred;`,
  );
  const other = { schema: 'public', table: 'o"', columns: ['x', 'y'] };
  expect(changeForeignKeySql(table, key, { name: 'k', target: other, onDelete })).toBe(
    `alter table "public"."a""b"
  drop constraint "k",
  add constraint "k" foreign key ("a", "b")
    references "public"."o""" ("x", "y") match full on update cascade on delete set null (a) deferrable initially deferred;`,
  );
  expect(clausesOf({ definition: 'FOREIGN KEY (a) REFERENCES " ON DELETE CASCADE"(x)' })).toMatchObject({
    onDelete: 'no action',
    before: '',
    after: '',
  });
});
