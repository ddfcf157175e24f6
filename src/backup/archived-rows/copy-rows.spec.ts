import { AppError } from '../../common/errors/app-error';
import { copyLines, fieldsOf, MAX_ROW_BYTES } from './copy-rows';

async function linesOf(...chunks: string[]): Promise<(string | null)[]> {
  const lines: (string | null)[] = [];
  const input = (async function* (): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  for await (const line of copyLines(input)) lines.push(line === null ? null : line.toString('utf8'));
  return lines;
}

const LONG = 'x'.repeat(MAX_ROW_BYTES);

it.each([
  ['rows of one chunk', ['1\ta\n2\tb\n'], ['1\ta', '2\tb']],
  ['a row of several chunks', ['1\t', 'a', 'b\n', '2\tc\n'], ['1\tab', '2\tc']],
  ['rows without a column', ['\n\n'], ['', '']],
  ['a row that is too long, in one chunk', [`1\n${LONG}y\n2\n`], ['1', null, '2']],
  ['a row that is too long, in chunks', ['1\n', LONG, LONG, 'y\n2\n'], ['1', null, '2']],
  ['a cut row, which is dropped', ['1\n2'], ['1']],
])('reads %s', async (_case, chunks, expected) => {
  expect(await linesOf(...chunks)).toEqual(expected);
});

it.each([
  ['1\ta', ['1', 'a']],
  ['\\N\t', [null, '']],
  ['\\\\N\ta\\tb\\nc\\r\\b\\f\\v', ['\\N', 'a\tb\nc\r\b\f\v']],
  ['\\101\\x41\tü\\\\\\.', ['AA', 'ü\\.']],
])('decodes %j', (line, expected) => {
  expect(fieldsOf(Buffer.from(line), 2)).toEqual(expected);
});

it.each(['1', '1\t2\t3', ''])('refuses a row with another number of columns: %j', (line) => {
  expect(() => fieldsOf(Buffer.from(line), 2)).toThrow(AppError);
});
