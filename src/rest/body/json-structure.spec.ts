/** However large a body is, its structure is the same. */
import { isJsonObject } from '../../common/text/json';
import { type JsonStructure, structureOf } from './json-structure';
import { scanStructure } from './scan-structure';

/** Longer than any piece that is scanned in one step. */
const LONG = 'ü"\\\n😀'.repeat(20_000);
const KEYS = Array.from({ length: 3_000 }, (_, index) => `key ${index}`);

const VALUES: [what: string, value: unknown][] = [
  ['an object', { a: 1, b: { a: [{ c: 1 }], d: {} } }],
  ['an empty object', {}],
  ['an empty list', []],
  ['rows of one shape', Array.from({ length: 5_000 }, (_, id) => ({ id, name: 'x', tags: [{}, { t: 1 }] }))],
  [
    'rows of different shapes',
    [{ a: 1 }, { b: 1, a: 2 }, {}, { a: 3 }, { a: 1, b: 2 }, { a: 1, b: 2, c: 3 }, { b: 1 }],
  ],
  ['long names and texts', [{ [LONG]: LONG }, { [LONG]: null }]],
  ['many names', [Object.fromEntries(KEYS.map((key) => [key, 1]))]],
  ['names of every prototype', [{ constructor: 1, toString: 2 }, JSON.parse('{"__proto__": 1}')]],
  ['a list that has no objects', [1, 'a', null, true, [{}], -1.5e3]],
  ['a list that has some', [{ a: 1 }, 2, { b: [] }]],
  ['a number', 1],
  ['a text', LONG],
  ['null', null],
  ['lists in lists', [[[{ a: 1 }]]]],
];

/** The members of each row, and which rows have the same members. */
const told = ({ kind, rows }: JsonStructure) => ({
  kind,
  shapes: rows.shapes,
  positions: [...rows.positions(rows.shapes.map((_, index) => String(index)))],
  count: rows.count,
  isCut: rows.isCut,
});

describe.each([
  ['parsed', (text: string) => Promise.resolve(structureOf(text))],
  ['scanned', (text: string) => scanStructure(Buffer.from(text))],
])('a body that is %s', (_how, read) => {
  it.each(VALUES)('names the members of %s', async (_what, value) => {
    const objects = [value].flat().filter(isJsonObject);
    const structure = await read(JSON.stringify(value, null, 1));
    const { shapes, positions, count } = told(structure);
    expect(count).toBe(objects.length);
    // All rows are compared at once, because each comparison of Jest takes long.
    const namesOf = (row: number): string => JSON.stringify(Object.keys(objects[row - 1] ?? {}).sort());
    const expected = positions.map((_, shape) => [JSON.stringify([...(shapes[shape] ?? [])].sort())]);
    expect(positions.map(([, rows]) => [...new Set(rows.map(namesOf))])).toEqual(expected);
    expect(positions.flatMap(([, rows]) => rows)).toHaveLength(objects.length);
    expect(structure.rows.allNames()).toEqual([...new Set(objects.flatMap((object) => Object.keys(object)))]);
  });

  it('recognises rows of one shape, in any order of their names', async () => {
    const names = 'abcdefghij'.split('');
    const row = (_: unknown, at: number) =>
      Object.fromEntries([...names.slice(at % 10), ...names.slice(0, at % 10)].map((name) => [name, at]));
    const { shapes, count, isCut } = told(await read(JSON.stringify(Array.from({ length: 20_000 }, row))));
    expect([shapes, count, isCut]).toEqual([[names], 20_000, false]);
  });

  it('counts a repeated name once', async () => {
    const { shapes } = told(
      await read('[{"a":1,"b":2,"a":3},{"a":1,"b":2},{"a":1,"a":2},{"b":1,"a":2,"b":3}]'),
    );
    expect(shapes).toEqual([['a', 'b'], ['a']]);
  });

  it('keeps no more names than any table has columns', async () => {
    const many = Array.from({ length: 150_000 }, (_, index) => `"${index.toString(36)}x":1`);
    expect((await read(`{${many.join(',')}}`)).rows.isCut).toBe(true);
    const rows = (await read(`[${many.map((member) => `{${member}}`).join(',')}]`)).rows;
    expect(rows.isCut).toBe(true);
    expect(rows.allNames().length).toBeLessThan(100_000);
  });

  it.each([
    '',
    ' ',
    '{',
    '[',
    '}',
    ']',
    '{]',
    '[}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '[,]',
    '[1,]',
    '[1 2]',
    '{"a":1 "b":2}',
    '{1:2}',
    '{a:1}',
    '1 2',
    '{} {}',
    '[]]',
    '"a',
    'tru',
    '01',
    '1.',
    '+1',
    '.5',
    '1e',
    "'a'",
    '"\t"',
    '"\\x"',
    '"\\u12"',
    '{"a":1}}',
    '[{"a":1},]',
    'NaN',
    'undefined',
    '\u00a0{}',
    '//\n{}',
    '{"a"::1}',
    '[:]',
    ':',
    ',',
    '{"a",1}',
    '[1:2]',
  ])('refuses %j', async (text) => {
    await expect((async () => read(text))()).rejects.toThrow();
  });
});

it('finds the same structure in random bodies by scanning as by parsing', async () => {
  let seed = 7;
  const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n;
  const draw = (depth: number): unknown => {
    const kind = random(depth > 4 ? 5 : 8);
    if (kind < 5) return [null, true, random(100) / 8, 'text "\\', '😀'][kind];
    const length = random(5);
    if (kind === 5) return Array.from({ length }, () => draw(depth + 1));
    return Object.fromEntries(Array.from({ length }, () => ['abcdef'[random(6)], draw(depth + 1)]));
  };
  for (let number = 0; number < 2_000; number += 1) {
    const text = JSON.stringify(draw(0));
    expect({ text, ...told(await scanStructure(Buffer.from(text))) }).toEqual({
      text,
      ...told(structureOf(text)),
    });
    const broken =
      text.slice(0, random(text.length)) + '[]{},:"'[random(7)] + text.slice(random(text.length));
    const [parsed, scanned] = await Promise.allSettled([
      (async () => told(structureOf(broken)))(),
      (async () => told(await scanStructure(Buffer.from(broken))))(),
    ]);
    expect({ broken, ...scanned, reason: null }).toEqual({ broken, ...parsed, reason: null });
  }
});

it('refuses a body that nests more deeply than PostgreSQL reads', async () => {
  const nested = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
  expect((await scanStructure(nested(100_000))).kind).toBe('other');
  await expect(scanStructure(nested(100_001))).rejects.toThrow('The body nests too deeply');
});
