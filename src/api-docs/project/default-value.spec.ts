import { defaultValue } from './default-value';

it.each([
  [`'sad'::mood`, { type: 'string' }, 'sad'],
  [`'it''s'::text`, { type: 'string' }, `it's`],
  [`''::character varying`, { type: 'string' }, ''],
  ['5', { type: 'integer' }, 5],
  ['(-1.5)', { type: 'number' }, -1.5],
  [`'-1'::integer`, { type: 'integer' }, -1],
  ['false', { type: 'boolean' }, false],
  [`'{"a": 1}'::jsonb`, {}, { a: 1 }],
  [`'{}'::public."odd type"[]`, { type: 'array' }, []],
] as const)('%s is a value', (text, schema, value) => {
  expect(defaultValue(text, schema)).toEqual(value);
});

it.each([
  ['now()', { type: 'string' }],
  [`nextval('private.seq'::regclass)`, { type: 'integer' }],
  [`('a'::text || 'b'::text)`, { type: 'string' }],
  [`upper('secret'::text)`, { type: 'string' }],
  ['CURRENT_USER', { type: 'string' }],
  ['NULL::text', { type: 'string' }],
  [`'{1,2}'::integer[]`, { type: 'array' }],
  [`'{broken'::text`, {}],
  // A JSON number would be another value.
  ['9007199254740993', { type: 'integer' }],
  [`'(1,2)'::point3`, { allOf: [{ $ref: '#/components/schemas/point3.Type' }] }],
])('%s is none', (text, schema) => {
  expect(defaultValue(text, schema)).toBeUndefined();
});
