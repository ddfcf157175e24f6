import { StoredRow } from './stored-row';

const read = (value: unknown): StoredRow => new StoredRow('files', { it: value });
const UUID = '0f9d3a52-7c41-4b8e-9a55-3f1f6d2c8b10';
const SHA256 = 'ab'.repeat(32);
const REFUSED = expect.objectContaining({
  code: 'storage_unavailable',
  status: 500,
  message: expect.stringMatching(
    /^The storage tables of this project were altered.*: storage\.files\.it is not /,
  ) as string,
}) as Error;

/** For each method: the values that it accepts, with its results, and the values that it refuses. */
const READERS: [string, (row: StoredRow) => unknown, [unknown, unknown][], unknown[]][] = [
  [
    'uuid',
    (row) => row.uuid('it'),
    [[UUID, UUID]],
    ['', 'x', UUID.toUpperCase(), `${UUID}\n`, null, undefined, 7, [UUID]],
  ],
  [
    'uuidOrNull',
    (row) => row.uuidOrNull('it'),
    [
      [UUID, UUID],
      [null, null],
    ],
    ['', 'x', undefined],
  ],
  [
    'objectId',
    (row) => row.objectId('it'),
    [[UUID, UUID]],
    ['../x', `../${UUID}`, `${UUID}\n`, null, undefined, [UUID]],
  ],
  [
    'sha256',
    (row) => row.sha256('it'),
    [[SHA256, SHA256]],
    ['', SHA256.toUpperCase(), `${SHA256}\r\n`, null, Buffer.from(SHA256)],
  ],
  [
    'text',
    (row) => row.text('it', 4),
    [
      ['a', 'a'],
      ['éé', 'éé'],
      ['\r\n', '\r\n'],
    ],
    ['', 'abcde', 'ééé', null, undefined, 7, ['a'], {}],
  ],
  ['text without a minimum length', (row) => row.text('it', 4, 0), [['', '']], ['abcde', null]],
  [
    'textOrNull',
    (row) => row.textOrNull('it', 4),
    [
      ['', ''],
      [null, null],
    ],
    ['abcde', undefined, true],
  ],
  [
    'wholeNumber',
    (row) => row.wholeNumber('it'),
    [
      ['0', 0],
      ['43', 43],
      [43, 43],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ],
    [
      '-1',
      -1,
      '',
      ' 1',
      '1\n',
      '1.0',
      '1e3',
      '0x1',
      'NaN',
      NaN,
      Infinity,
      0.5,
      '9007199254740992',
      '9223372036854775807',
      null,
      undefined,
      '1'.repeat(40),
      {},
    ],
  ],
  [
    'wholeNumberOrNull',
    (row) => row.wholeNumberOrNull('it'),
    [
      [null, null],
      ['7', 7],
    ],
    ['-7', undefined],
  ],
  [
    'boolean',
    (row) => row.boolean('it'),
    [
      [true, true],
      [false, false],
    ],
    ['false', 't', 0, null, undefined],
  ],
  [
    'instant',
    (row) => row.instant('it').toISOString(),
    [
      [new Date('2026-01-01T00:00:00Z'), '2026-01-01T00:00:00.000Z'],
      [new Date('0001-01-01T00:00:00Z'), '0001-01-01T00:00:00.000Z'],
      [new Date('9999-12-31T23:59:59.999Z'), '9999-12-31T23:59:59.999Z'],
    ],
    [
      Infinity,
      -Infinity,
      new Date(NaN),
      new Date('+010000-01-01T00:00:00Z'),
      new Date('0000-12-31T23:59:59Z'),
      '2026-01-01',
      null,
      7,
    ],
  ],
  [
    'object',
    (row) => row.object('it'),
    [
      [{ a: 1 }, { a: 1 }],
      [{}, {}],
    ],
    [null, [], 'x', 7, new Date(), undefined, JSON.parse('{"a":1e400}'), nested(100)],
  ],
  [
    'textsOrNull',
    (row) => row.textsOrNull('it', 4),
    [
      [null, null],
      [[], []],
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    ],
    ['a', {}, [null], [['a']], ['abcde'], [7], Array(1_001).fill('a'), undefined],
  ],
  ['oneOf', (row) => row.oneOf('it', ['yes', 'no']), [['yes', 'yes']], ['YES', '', null, ['yes'], undefined]],
];

function nested(levels: number): unknown {
  return JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
}

describe.each(READERS)('%s', (_name, readIt, taken, refused) => {
  it('accepts what Plinth writes', () => {
    for (const [value, expected] of taken) expect(readIt(read(value))).toEqual(expected);
  });

  it('refuses everything else, and names the column', () => {
    for (const value of refused) expect(() => readIt(read(value))).toThrow(REFUSED);
  });
});

it('refuses a value that is not a row', () => {
  for (const value of [undefined, null, 'x', 7])
    expect(() => new StoredRow('files', value)).toThrow(/^The storage tables of this project were altered/);
});

it('does not quote a value', () => {
  expect(() => read('<script>'.repeat(1_000)).uuid('it')).not.toThrow(/script/);
});
