import { CsvParser, type CsvRecord, disarmed, disarmingStream, toCsv } from './csv';

/** @param size number of characters in a piece */
function parse(text: string, size = text.length + 1): CsvRecord[] {
  const parser = new CsvParser();
  const records = [];
  for (let at = 0; at < text.length; at += size) records.push(...parser.push(text.slice(at, at + size)));
  return [...records, ...parser.end()].map(({ fields }) => fields);
}

const SAMPLES: [string, CsvRecord[]][] = [
  [
    'a,b\r\n1,2\r\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  ['\ufeffa\n"x ""y"", z"\n', [['a'], ['x "y", z']]],
  ['a\n"two\r\nlines"', [['a'], ['two\r\nlines']]],
  [
    'a,b\n,""\n',
    [
      ['a', 'b'],
      [null, ''],
    ],
  ],
  ['a\n""\n\n', [['a'], ['']]],
  ['a\r\r1', [['a'], ['1']]],
  ['', []],
];

it.each(SAMPLES)('parses %j', (text, records) => {
  expect(parse(text)).toEqual(records);
});

it.each(SAMPLES)('parses %j alike, wherever the pieces end', (text, records) => {
  for (const size of [1, 2, 3]) expect(parse(text, size)).toEqual(records);
});

it('reports the lines on which records begin', () => {
  const lines = new CsvParser().push('a\r\n\r\n"x\ny"\n1\n').map(({ line }) => line);
  expect(lines).toEqual([1, 3, 5]);
});

it('writes what it reads', () => {
  const records = [
    ['a', 'b'],
    ['', 'x,"y"\n'],
    [null, 'NULL'],
  ];
  expect(parse(toCsv(records))).toEqual(records);
  expect(toCsv([[null, '']])).toBe(',""\r\n');
});

it.each([
  ['=1+1', "'=1+1"],
  ['=HYPERLINK("http://evil.test","x")', `'=HYPERLINK("http://evil.test","x")`],
  ["+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"],
  ['-2+3', "'-2+3"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['-12.5e3', '-12.5e3'],
  ['+49', '+49'],
  ['a=b', 'a=b'],
  ['', ''],
  [null, null],
])('disarms %j for spreadsheets', (field, expected) => {
  expect(disarmed(field)).toBe(expected);
});

it('disarms a file wherever its pieces end', async () => {
  const pieces = ['a,"=', 'b"\r\n', '1,', '=2\r\n"", \n'];
  const file = new ReadableStream<string>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const written: string[] = [];
  const collector = new WritableStream<string>({ write: (piece) => void written.push(piece) });
  await file.pipeThrough(disarmingStream()).pipeTo(collector);
  expect(written.join('')).toBe(`a,'=b\r\n1,'=2\r\n"", \r\n`);
});
