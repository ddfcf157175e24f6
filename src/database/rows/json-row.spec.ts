/** The forms that no table read shows; what those print is compared with PostgreSQL's own in test/e2e/rest/printed-rows. */
import { JsonColumn, JsonRow } from './json-row';

/** A row's columns as PostgreSQL sends them. */
function columns(...values: (string | null)[]): Buffer {
  return Buffer.concat(
    values.map((value) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(value === null ? -1 : Buffer.byteLength(value));
      return Buffer.concat([length, Buffer.from(value ?? '')]);
    }),
  );
}

/** Printed into exactly the room that was asked for, behind something else. */
function printed(shown: JsonColumn[], ...values: (string | null)[]): string {
  const row = new JsonRow(shown);
  const bytes = columns(...values);
  const into = Buffer.alloc(3 + row.mostBytes(bytes, 0, bytes.length), '.');
  const end = row.print(bytes, 0, into, 3);
  expect(end).toBeLessThanOrEqual(into.length);
  return into.toString('utf8', 3, end);
}

it.each([
  ['"2026-11-21T18:31:59.04829"', '2026-11-21T18:31:59.048Z'],
  ['"2026-11-21T18:31:59.5"', '2026-11-21T18:31:59.500Z'],
  ['"2026-11-21T18:31:59.999999"', '2026-11-21T18:31:59.999Z'],
  ['"2026-11-21T18:31:59"', '2026-11-21T18:31:59.000Z'],
  ['"12026-01-01T00:00:00"', '12026-01-01T00:00:00.000Z'],
])('prints the instant %s as %s', (text, instant) => {
  expect(printed([{ name: 'at', form: 'instant' }], text)).toBe(`{"at":"${instant}"}`);
});

it('asks for room enough, and not for much more where rows are large', () => {
  const forms = ['text', 'json', 'number', 'boolean', 'instant'] as const;
  const shown = forms.map((form, index) => ({ name: `"${index}`, form }));
  for (const text of [
    '',
    '\u0001',
    '"\\\n',
    'ü',
    'x'.repeat(130),
    '\u0001'.repeat(9_000),
    'é"'.repeat(50_000),
  ]) {
    const expected = { '"0': text, '"1': 1, '"2': 'NaN', '"3': false, '"4': '2026-11-21T18:31:59.000Z' };
    const values = [text, '1', 'NaN', 'f', '"2026-11-21T18:31:59"'];
    expect(JSON.parse(printed(shown, ...values))).toEqual(expected);
    const bytes = columns(...values);
    const spare =
      new JsonRow(shown).mostBytes(bytes, 0, bytes.length) - Buffer.byteLength(JSON.stringify(expected));
    expect(spare).toBeLessThan(25_000);
  }
  expect(printed(shown, null, null, null, null, null)).toBe(
    '{"\\"0":null,"\\"1":null,"\\"2":null,"\\"3":null,"\\"4":null}',
  );
});

it('tells types that it does not expect', () => {
  const row = new JsonRow([
    { name: 'id', form: 'number' },
    { name: 'name', form: 'text' },
  ]);
  expect(row.fits([23, 25])).toBe(true);
  expect(row.fits([1700, 2950])).toBe(true);
  for (const types of [[23], [23, 25, 25], [25, 23], [23, 1082], []]) expect(row.fits(types)).toBe(false);
});
