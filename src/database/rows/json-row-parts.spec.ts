/** However a row is cut on its way, its parts print what the whole prints. */
import { BodyBlocks } from '../../common/http/body-blocks';
import { JsonRow } from './json-row';
import { JsonRowParts } from './json-row-parts';

const FORMS = ['text', 'json', 'number', 'boolean', 'instant'] as const;
const ROWS: (string | null)[][] = [
  ['', '[]', '0', 't', '"2026-11-21T18:31:59.04829"'],
  [null, null, null, null, null],
  ['"\\\n\u0001ü😀', '{"a": "\\n"}', '-12.5', 'f', '"2026-11-21T18:31:59"'],
  ['é"'.repeat(20_000), `"${'x'.repeat(40_000)}"`, '9'.repeat(30_000), 't', null],
  ['x', '1', 'NaN', 'f', null],
  ['\u0001'.repeat(20_000), 'null', '-Infinity', null, null],
];

function columns(values: (string | null)[]): Buffer {
  return Buffer.concat(
    values.map((value) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(value === null ? -1 : Buffer.byteLength(value));
      return Buffer.concat([length, Buffer.from(value ?? '')]);
    }),
  );
}

function text(body: BodyBlocks): string {
  return Buffer.concat(body.take()).toString();
}

it.each([1, 3, 7, 1_000, 65_536, 1_000_000])('prints rows that come in parts of %i bytes', (size) => {
  const row = new JsonRow(FORMS.map((form) => ({ name: `"${form}`, form })));
  for (const values of ROWS) {
    const bytes = columns(values);
    const whole = new BodyBlocks();
    whole.print(row, bytes, 0, bytes.length);
    const inParts = new BodyBlocks();
    const parts = new JsonRowParts(row, inParts);
    for (let at = 0; at < bytes.length; at += size) {
      const part = Buffer.from(bytes.subarray(at, at + size));
      parts.take(part, 0, part.length);
      // The memory that it came in is read into again.
      part.fill('#');
    }
    expect(text(inParts)).toBe(text(whole));
  }
});
