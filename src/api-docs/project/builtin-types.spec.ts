import { builtinSchema } from './builtin-types';

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
  ['constructor', { type: 'string' }],
])('%s', (name, schema) => {
  expect(builtinSchema(name)).toEqual(schema);
});
