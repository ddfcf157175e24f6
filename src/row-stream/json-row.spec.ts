/** Cases beyond test/e2e/rest/printed-rows, which compares with PostgreSQL: room for the worst case, and rare forms. */
import { JsonColumn, JsonRow, valuePrinter } from './json-row';
import { int32, int64, rowOf, type Value } from '../../test/support/row-of';

/** Prints into exactly the requested room, after other bytes. */
function printed(shown: JsonColumn[], ...values: Value[]): string {
  const row = new JsonRow(shown);
  const bytes = rowOf(values);
  const into = Buffer.alloc(3 + row.maxBytes(bytes, 0, bytes.length), '.');
  const end = row.print(bytes, 0, into, 3);
  expect(end).toBeLessThanOrEqual(into.length);
  return into.toString('utf8', 3, end);
}

/** Microseconds since 2000-01-01, PostgreSQL's epoch. */
const instant = (iso: string): Buffer => int64((BigInt(Date.parse(iso)) - 946_684_800_000n) * 1000n);

it.each([
  '2026-11-21T18:31:59.048Z',
  '2026-11-21T18:31:59.000Z',
  '2000-01-01T00:00:00.000Z',
  '1999-12-31T23:59:59.999Z',
  '2024-02-29T12:00:00.100Z',
  '9999-12-31T23:59:59.999Z',
])('prints the instant %s', (iso) => {
  expect(printed([{ name: 'at', form: 'instant' }], instant(iso))).toBe(`{"at":"${iso}"}`);
});

it('truncates an instant to milliseconds', () => {
  expect(printed([{ name: 'at', form: 'instant' }], int64(-1n))).toBe('{"at":"1999-12-31T23:59:59.999Z"}');
  expect(printed([{ name: 'at', form: 'instant' }], int64(1_999n))).toBe('{"at":"2000-01-01T00:00:00.001Z"}');
});

it('prints local mean times of the years before time zones, and times on either side of midnight', () => {
  const zoned: JsonColumn[] = [
    { name: null, form: 'utc' },
    { name: 'at', form: 'zoned' },
  ];
  const shifted = (seconds: bigint) => printed(zoned, int64(0n), int64(seconds * 1_000_000n));
  expect(shifted(0n)).toBe('{"at":"2000-01-01T00:00:00+00:00"}');
  expect(shifted(-28_378n)).toBe('{"at":"1999-12-31T16:07:02-07:52:58"}');
  expect(shifted(49_500n)).toBe('{"at":"2000-01-01T13:45:00+13:45"}');
  expect(printed(zoned, null, null)).toBe('{"at":null}');
  expect(printed([...zoned, { name: 'id', form: 'int4' }], null, null, int32(7))).toBe('{"at":null,"id":7}');
});

/** For each form, the value that needs the most room for its bytes. */
const LONGEST: readonly (readonly [form: JsonColumn['form'], value: Buffer, printed: unknown])[] = [
  ['int4', int32(-2_147_483_648), -2_147_483_648],
  ['int8', int64(-(2n ** 63n)), -(2 ** 63)],
  ['uuid', Buffer.alloc(16, 0xab), 'abababab-abab-abab-abab-abababababab'],
  ['date', int32(2_145_031_948), '5874897-12-31'],
  ['date', int32(-2_451_507), '4713-01-01 BC'],
  ['timestamp', int64(9_223_371_331_199_999_999n), '294276-12-31T23:59:59.999999'],
  ['boolean', Buffer.from([0]), false],
  ['instant', instant('2026-11-21T18:31:59.000Z'), '2026-11-21T18:31:59.000Z'],
];

it('reserves enough room, and not much more for large rows', () => {
  const shown: JsonColumn[] = [
    { name: '"text', form: 'text' },
    { name: 'json', form: 'json' },
    { name: 'number', form: 'number' },
    ...LONGEST.map(([form], index) => ({ name: `${index}`, form })),
  ];
  for (const text of [
    '',
    '\u0001',
    '"\\\n',
    'ü',
    'x'.repeat(130),
    '\u0001'.repeat(9_000),
    'é"'.repeat(50_000),
  ]) {
    const numbered = Object.fromEntries(LONGEST.map(([, , value], index) => [index, value]));
    const expected = { '"text': text, json: 1, number: 'NaN', ...numbered };
    const values = [text, '1', 'NaN', ...LONGEST.map(([, value]) => value)];
    expect(JSON.parse(printed(shown, ...values))).toEqual(expected);
    const bytes = rowOf(values);
    const spare =
      new JsonRow(shown).maxBytes(bytes, 0, bytes.length) - Buffer.byteLength(JSON.stringify(expected));
    expect(spare).toBeLessThan(25_000);
  }
  for (const [form, value, expected] of LONGEST) {
    expect(JSON.parse(printed([{ name: 'a', form }], value))).toEqual({ a: expected });
    const printer = valuePrinter(form);
    const most = printer.maxBytes(value, 0, value.length);
    expect(printer.print(value, 0, Buffer.alloc(100), 0, value.length)).toBeLessThanOrEqual(most);
  }
  const none: unknown = Object.fromEntries(shown.map(({ name }) => [name, null]));
  expect(JSON.parse(printed(shown, ...shown.map(() => null)))).toEqual(none);
});

it('reserves enough room for a large row with many short values', () => {
  const far = 9_223_371_331_199_999_999n;
  const zoned: JsonColumn[] = [
    { name: null, form: 'utc' },
    { name: '', form: 'zoned' },
  ];
  const short: [JsonColumn[], Value[]][] = [
    ...LONGEST.map(([form, value]): [JsonColumn[], Value[]] => [[{ name: '', form }], [value]]),
    [zoned, [int64(far), int64(far - 28_378_000_000n)]],
    [[{ name: '', form: 'number' }], ['-Infinity']],
  ];
  for (const [columns, values] of short) {
    const times = Array.from({ length: 500 });
    printed(
      times.flatMap(() => columns),
      ...times.flatMap(() => values),
    );
  }
});

it('prints whole numbers of every length', () => {
  const shown: JsonColumn[] = [
    { name: 'a', form: 'int8' },
    { name: 'b', form: 'int4' },
    { name: 'c', form: 'int2' },
  ];
  for (let power = 0n; power < 63n; power += 1n) {
    for (const value of [2n ** power, 2n ** power - 1n, -(2n ** power), 10n ** (power / 4n)]) {
      const [small, tiny] = [BigInt.asIntN(32, value), BigInt.asIntN(16, value)];
      const short = Buffer.alloc(2);
      short.writeInt16BE(Number(tiny));
      expect(printed(shown, int64(value), int32(Number(small)), short)).toBe(
        `{"a":${value},"b":${small},"c":${tiny}}`,
      );
    }
  }
});

it('fits only the types of its forms', () => {
  const row = new JsonRow([
    { name: 'id', form: 'int4' },
    { name: 'name', form: 'text' },
    { name: null, form: 'utc' },
    { name: 'at', form: 'zoned' },
  ]);
  expect(row.fits([23, 25, 1184, 1114])).toBe(true);
  expect(row.fits([23, 1043, 1184, 1114])).toBe(true);
  for (const types of [
    [23, 25],
    [23, 25, 1184],
    [20, 25, 1184, 1114],
    [23, 25, 1114, 1114],
    [23, 25, 1184, 1184],
    [23, 25, 1184, 1114, 25],
    [],
  ])
    expect(row.fits(types)).toBe(false);
});
