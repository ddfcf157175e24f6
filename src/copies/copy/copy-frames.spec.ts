import { CopyFrames } from './copy-frames';

function message(code: string, content: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(code);
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, Buffer.from(content)]);
}

const END = Buffer.concat([message('c', ''), message('C', 'COPY 3\0'), message('Z', 'I')]);
const STREAM = Buffer.concat([
  message('H', '\0\0\0'),
  message('d', 'first\n'),
  message('N', 'a notice'),
  message('d', ''),
  message('d', 'a longer second row\n'),
  message('S', 'name\0value\0'),
  message('d', 'third\n'),
]);
const ROWS = 'first\na longer second row\nthird\n';

/** @param size bytes of each chunk */
function readInChunks(stream: Buffer, size: number): { rows: string; rest: string } {
  const frames = new CopyFrames();
  let [rows, rest] = ['', ''];
  for (let at = 0; at < stream.length; at += size) {
    const chunk = Buffer.from(stream.subarray(at, at + size));
    if (rest !== '') {
      rest += chunk.toString('latin1');
      continue;
    }
    const read = frames.push(chunk);
    rows += read.rows.toString('latin1');
    rest = read.rest?.toString('latin1') ?? '';
  }
  return { rows, rest };
}

it('finds the rows, however the messages are divided', () => {
  const stream = Buffer.concat([STREAM, END]);
  for (let size = 1; size <= stream.length; size += 1)
    expect([size, readInChunks(stream, size)]).toEqual([size, { rows: ROWS, rest: END.toString('latin1') }]);
});

it('passes an error to the reader of other messages', () => {
  const error = message('E', 'SERROR\0Mit failed\0\0');
  expect(readInChunks(Buffer.concat([STREAM, error]), 7)).toEqual({
    rows: ROWS,
    rest: error.toString('latin1'),
  });
});

it('yields the part of a row that has arrived', () => {
  const frames = new CopyFrames();
  const row = message('d', 'x'.repeat(100));
  expect(frames.push(Buffer.from(row.subarray(0, 55))).rows).toHaveLength(50);
  expect(frames.push(Buffer.from(row.subarray(55))).rows).toHaveLength(50);
});
