import { builtinType } from './builtin-types';

it.each([
  ['integer', { type: 'integer', format: 'int32' }],
  ['numeric(10,2)', { type: 'number' }],
  ['numeric(3,-2)', { type: 'number' }],
  ['character varying(20)', { type: 'string', maxLength: 20 }],
  ['character varying', { type: 'string' }],
  ['character(3)', { type: 'string', maxLength: 3 }],
  ['timestamp(3) with time zone', { type: 'string', format: 'date-time' }],
  ['timestamp without time zone', { type: 'string', format: 'date-time-local' }],
  ['time(0) without time zone', { type: 'string', format: 'time-local' }],
  ['jsonb', {}],
  ['interval', { type: 'string' }],
  ['tstzrange', { type: 'string' }],
  ['extensions.citext', { type: 'string' }],
  ['"any"', {}],
  ['extensions.hstore', { type: 'object', additionalProperties: { type: ['string', 'null'] } }],
  ['gis.geometry(Point,4326)', {}],
  ['constructor', { type: 'string' }],
])('%s', (name, schema) => {
  expect(builtinType(name).schema).toEqual(schema);
});

it.each([
  ['character(2)', 'te'],
  ['bit(3)', '111'],
  ['bit varying', '1'],
  ['int4multirange', '{}'],
  ['daterange', 'empty'],
  ['extensions.hstore', {}],
  ['timestamp(3) with time zone', '2026-01-31T12:00:00Z'],
  ['extensions.cube', 'text'],
])('%s has the example %j', (name, sample) => {
  expect(builtinType(name).sample).toEqual(sample);
});

it('limits the length of an example', () => {
  expect(String(builtinType('bit(83886080)').sample).length).toBeLessThan(1_000);
});
