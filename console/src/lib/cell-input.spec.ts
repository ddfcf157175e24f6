import { fieldOf, toField } from './cell-input';

it.each([
  ['date', '2020-01-31', 'date'],
  ['date', '', 'date'],
  ['date', 'infinity', 'text'],
  ['date', '0044-03-15 BC', 'text'],
  ['timestamp without time zone', '2020-01-31 08:00:00', 'datetime-local'],
  ['timestamp(3) without time zone', '', 'datetime-local'],
  ['timestamp without time zone', '2020-01-31 08:00:00.123456', 'text'],
  ['timestamp with time zone', '2020-01-31 08:00:00+00', 'text'],
  ['time without time zone', '08:00:00', 'time'],
  ['text', '2020-01-31', 'text'],
])('shows a %s %j in a field of the type %s', (type, value, expected) => {
  expect(fieldOf(type, value).type).toBe(expected);
});

it('writes a time as the browser reads it', () => {
  expect(toField('2020-01-31 08:00:00', { type: 'datetime-local' })).toBe('2020-01-31T08:00:00');
  expect(toField('a b', { type: 'text' })).toBe('a b');
});
