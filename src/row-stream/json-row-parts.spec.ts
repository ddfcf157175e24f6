/** A row that arrives in parts prints the same bytes as the whole row, wherever it is cut. */
import { BodyBlocks } from './row-body';
import { JsonColumn, JsonRow } from './json-row';
import { JsonRowParts } from './json-row-sink';
import { int64, rowOf, type Value } from '../../test/support/row-of';

const COLUMNS: JsonColumn[] = [
  { name: '"text', form: 'text' },
  { name: 'json', form: 'json' },
  { name: 'number', form: 'number' },
  { name: 'flag', form: 'boolean' },
  { name: null, form: 'utc' },
  { name: 'at', form: 'zoned' },
  { name: 'big', form: 'int8' },
];
const TRUE = Buffer.from([1]);
const AT = int64(817_064_319_048_290n);
const LATER = int64(817_064_319_048_290n + 20_700_000_000n);
const ROWS: Value[][] = [
  ['', '[]', '0', TRUE, AT, LATER, int64(-1n)],
  [null, null, null, null, null, null, null],
  ['"\\\n\u0001ü😀', '{"a": "\\n"}', '-12.5', TRUE, LATER, AT, null],
  ['é"'.repeat(20_000), `"${'x'.repeat(40_000)}"`, '9'.repeat(30_000), null, AT, AT, int64(2n ** 62n)],
  ['x', '1', 'NaN', Buffer.from([0]), null, null, int64(0n)],
  ['\u0001'.repeat(20_000), 'null', '-Infinity', null, LATER, LATER, null],
];

function text(body: BodyBlocks): string {
  return Buffer.concat(body.take()).toString();
}

it.each([1, 3, 7, 1_000, 65_536, 1_000_000])('prints rows that come in parts of %i bytes', (size) => {
  const row = new JsonRow(COLUMNS);
  for (const values of ROWS) {
    const bytes = rowOf(values);
    const whole = new BodyBlocks();
    whole.print(row, bytes, 0, bytes.length);
    const inParts = new BodyBlocks();
    const parts = new JsonRowParts(row, inParts);
    for (let at = 0; at < bytes.length; at += size) {
      const part = Buffer.from(bytes.subarray(at, at + size));
      parts.add(part, 0, part.length);
      // The socket reuses the memory for its next read.
      part.fill('#');
    }
    expect(text(inParts)).toBe(text(whole));
  }
});
