import {
  alterEnumSql,
  createEnumSql,
  createExtensionSql,
  createFunctionSql,
  createTriggerSql,
  createViewSql,
  objectsOf,
} from './ddl-objects';

const schema = 'public';
const catalog = {
  types: [
    { schema, name: 'a"b', kind: 'enum' as const, labels: ["it's", 'x'], definition: '' },
    { schema, name: 'd', kind: 'domain' as const, labels: [], definition: 'text not null' },
  ],
  functions: [
    {
      schema,
      name: 'f',
      kind: 'aggregate' as const,
      arguments: '',
      returns: 'bigint',
      language: 'internal',
      definer: false,
      definition: null,
    },
  ],
  triggers: [
    { schema, table: 't"', name: 'g', enabled: false, definition: 'CREATE TRIGGER g BEFORE UPDATE ON "t"""' },
    { schema, table: 't', name: 'c', enabled: true, definition: 'CREATE CONSTRAINT TRIGGER c' },
  ],
  views: [
    { schema, name: 'v', materialized: false, options: ['security_invoker=true'], definition: ' SELECT 1;' },
    { schema, name: 'm', materialized: true, options: [], definition: ' SELECT 2;' },
  ],
  extensions: [{ name: 'x-y', schema: null, version: null, available: '1', comment: '' }],
};
const relations = [
  {
    schema,
    name: 't',
    indexes: [{ name: 't_pkey', definition: 'CREATE UNIQUE INDEX t_pkey', constraint: 't_pkey' }],
    foreignKeys: [
      {
        name: 'k',
        columns: ['a"', 'b'],
        schema: 's',
        table: 'o',
        targets: ['x', 'y'],
        definition: 'FOREIGN KEY ("a""", b) REFERENCES s.o(x, y) ON DELETE CASCADE',
      },
    ],
  },
];

it('has the SQL that drops and changes each object', () => {
  const all = (['types', 'functions', 'triggers', 'views', 'indexes', 'keys', 'extensions'] as const).flatMap(
    (kind) => objectsOf(kind, catalog, relations),
  );
  expect(all.map(({ drop, replace }) => [drop, replace])).toEqual([
    ['drop type "public"."a""b";', null],
    ['drop domain "public"."d";', null],
    ['drop aggregate "public"."f"(*);', null],
    ['drop trigger "g" on "public"."t""";', 'CREATE OR REPLACE TRIGGER g BEFORE UPDATE ON "t""";'],
    ['drop trigger "c" on "public"."t";', null],
    [
      'drop view "public"."v";',
      'create or replace view "public"."v" with (security_invoker=true) as\n SELECT 1;',
    ],
    [
      'drop materialized view "public"."m";',
      'drop materialized view "public"."m";\n\ncreate materialized view "public"."m" as\n SELECT 2;',
    ],
    ['alter table "public"."t"\n  drop constraint "t_pkey";', null],
    ['alter table "public"."t"\n  drop constraint "k";', null],
    [null, null],
  ]);
  expect(objectsOf('keys', catalog, relations)[0]?.definition).toBe(
    'alter table "public"."t"\n  add constraint "k" foreign key ("a""", "b") references "s"."o" ("x", "y") on delete cascade;',
  );
});

it('creates enums, and adds values at their position', () => {
  expect(createEnumSql(schema, 'm"', ["it's", 'x'])).toBe(
    `create type "public"."m""" as enum ('it''s', 'x');`,
  );
  expect(createEnumSql(schema, 'm', [])).toBeNull();
  const [type] = objectsOf('types', catalog, relations);
  expect(alterEnumSql(type!, { name: 'a"b', labels: ["it's", 'x'] })).toBeNull();
  const renamed = { from: 'x', to: "y'" };
  expect(alterEnumSql(type!, { name: 'a"b', labels: ["it's", 'x'], renamed })).toMatch(
    /rename value 'x' to 'y'''/,
  );
  expect(alterEnumSql(type!, { name: 'z', labels: ['first', "it's", 'mid', 'x'] })).toBe(
    `alter type "public"."a""b" add value 'first' before 'it''s';
alter type "public"."a""b" add value 'mid' after 'it''s';
alter type "public"."a""b" rename to "z";`,
  );
});

it('quotes a body of a function with a tag that it does not have', () => {
  const draft = {
    name: 'f',
    arguments: 'a integer',
    returns: 'int',
    language: 'sql' as const,
    volatility: 'stable' as const,
    definer: true,
    body: 'select $$ $body1$ $$',
  };
  expect(createFunctionSql(schema, draft)).toBe(`create function "public"."f"(a integer)
  returns int language sql stable security definer set search_path = ''
as $body2$
select $$ $body1$ $$
$body2$;`);
  expect(createFunctionSql(schema, { ...draft, body: ' ' })).toBeNull();
});

it('creates triggers, views and extensions', () => {
  const trigger = {
    name: 'g',
    table: 't"',
    timing: 'before' as const,
    events: ['insert', 'update'] as const,
    perRow: true,
    when: 'new.a > 1',
    call: { schema: 's', name: 'f' },
  };
  expect(createTriggerSql(schema, trigger)).toBe(`create trigger "g"
  before insert or update on "public"."t"""
  for each row
  when (new.a > 1)
  execute function "s"."f"();`);
  expect(createTriggerSql(schema, { ...trigger, events: [] })).toBeNull();
  const view = { name: 'v', query: 'select 1;\n', materialized: false, invoker: true };
  expect(createViewSql(schema, view)).toBe(
    'create view "public"."v" with (security_invoker = true) as\nselect 1;',
  );
  expect(createViewSql(schema, { ...view, materialized: true })).toBe(
    'create materialized view "public"."v" as\nselect 1;',
  );
  expect(createExtensionSql('x-y', 'e')).toBe('create extension "x-y" with schema "e";');
});
