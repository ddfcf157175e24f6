import { defaultValue } from './default-value';

it.each([
  [`'sad'::mood`, 'public.mood', 'sad'],
  [`'it''s'::text`, 'text', `it's`],
  [`''::character varying`, 'character varying(3)', ''],
  ['5', 'integer', 5],
  ['(-1.5)', 'numeric(10,2)', -1.5],
  [`'-1'::integer`, 'integer', -1],
  ['false', 'boolean', false],
  [`'{"a": 1}'::jsonb`, 'jsonb', { a: 1 }],
  [`'{}'::public."odd type"[]`, 'public."odd type"[]', []],
] as const)('reads %s as a literal', (text, type, value) => {
  expect(defaultValue(text, type)).toEqual(value);
});

it.each([
  ['now()', 'timestamp with time zone'],
  [`nextval('private.seq'::regclass)`, 'integer'],
  [`('a'::text || 'b'::text)`, 'text'],
  [`upper('secret'::text)`, 'text'],
  ['CURRENT_USER', 'text'],
  ['NULL::text', 'text'],
  [`'{1,2}'::integer[]`, 'integer[]'],
  [`'{broken'::json`, 'json'],
  // A JSON number would be another value.
  ['9007199254740993', 'bigint'],
])('does not read %s as a literal', (text, type) => {
  expect(defaultValue(text, type)).toBeUndefined();
});
