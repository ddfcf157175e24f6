/** Long texts are read word by word: escapes must be found at every position of a word, and nothing else be escaped. */
import { maxEscaped, printText } from './json-text';

/** Prints from an odd offset into exactly the requested room. */
function printed(value: Buffer): string {
  const bytes = Buffer.concat([Buffer.from('abc'), value, Buffer.from('"\\\n')]);
  const into = Buffer.alloc(1 + maxEscaped(bytes, 3, 3 + value.length) + 2, '.');
  const end = printText(bytes, 3, 3 + value.length, into, 1);
  return into.toString('latin1', 1, end);
}

/** JSON.stringify() prints the same bytes: it escapes no byte above 0x7f either. */
const expected = (value: Buffer): string => JSON.stringify(value.toString('latin1'));

const CLEAN = 'Every word of eight bytes is clean. ';

it.each([0, 1, 7, 8, 15, 16, 17, 23, 24, 25, 31, 32, 33])(
  'prints each byte anywhere in %i others',
  (length) => {
    const others = Buffer.from(CLEAN.slice(0, length));
    const wrong: unknown[] = [];
    for (let place = 0; place <= length; place += 1) {
      for (let byte = 0; byte < 256; byte += 1) {
        const value = Buffer.concat([others.subarray(0, place), Buffer.from([byte]), others.subarray(place)]);
        if (printed(value) !== expected(value)) wrong.push([byte, place, printed(value)]);
      }
    }
    expect(wrong).toEqual([]);
  },
);

it('prints neighbouring bytes that borrow from each other', () => {
  const edges = [0x00, 0x01, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xa2, 0xdc, 0xff];
  const wrong: unknown[] = [];
  for (const first of edges) {
    for (const second of edges) {
      for (const third of edges) {
        const middle = Buffer.from([first, second, third]);
        const value = Buffer.concat([Buffer.from(CLEAN.slice(0, 16)), middle, Buffer.from(CLEAN)]);
        if (printed(value) !== expected(value)) wrong.push([middle, printed(value)]);
      }
    }
  }
  expect(wrong).toEqual([]);
});

it('reserves exactly the room of a large text', () => {
  const value = Buffer.from(`${CLEAN}"\\\n\u0001ü`.repeat(500), 'utf8');
  expect(maxEscaped(value, 0, value.length)).toBe(expected(value).length - 2);
  expect(printed(value)).toBe(expected(value));
});
