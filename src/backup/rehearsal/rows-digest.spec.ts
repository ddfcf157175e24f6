import { RowsDigest } from './rows-digest';

function digestOf(...chunks: string[]): RowsDigest {
  const digest = new RowsDigest();
  for (const chunk of chunks) digest.add(Buffer.from(chunk));
  return digest;
}

const ROWS = digestOf('1\ta\n2\tb\n3\t\\N\n');

it.each([
  ['the same rows in another order', ['3\t\\N\n1\ta\n2\tb\n'], true],
  ['the same rows in other chunks', ['1\t', 'a', '\n2\tb\n3', '\t\\N\n'], true],
  ['another value', ['1\ta\n2\tc\n3\t\\N\n'], false],
  ['a missing row', ['1\ta\n2\tb\n'], false],
  ['a duplicated row', ['1\ta\n2\tb\n3\t\\N\n3\t\\N\n'], false],
  ['values exchanged between rows', ['1\tb\n2\ta\n3\t\\N\n'], false],
  ['rows without a column in place of values', ['\n\n\n'], false],
])('compares %s', (_case, chunks, isEqual) => {
  expect(digestOf(...chunks).equals(ROWS)).toBe(isEqual);
});
