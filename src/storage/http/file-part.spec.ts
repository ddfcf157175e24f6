import { randomInt } from 'node:crypto';
import { BoundarySearch, ChunkQueue } from './file-part';

const DELIMITER = Buffer.from('\r\n--b1');

/** Returns the output for a part whose bytes arrive in these pieces. */
function run(
  pieces: readonly Buffer[],
  before = Buffer.from('-'.repeat(DELIMITER.length)),
): [string, string | null] {
  const search = new BoundarySearch(DELIMITER, before);
  const own: Buffer[] = [];
  for (const [index, piece] of pieces.entries()) {
    const rest = search.push(Buffer.from(piece), (bytes) => own.push(Buffer.from(bytes)));
    if (rest)
      return [
        Buffer.concat(own).toString('latin1'),
        Buffer.concat([rest, ...pieces.slice(index + 1)]).toString('latin1'),
      ];
  }
  return [Buffer.concat(own).toString('latin1'), null];
}

function cut(text: string, positions: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text, 'latin1');
  return [0, ...positions].map((from, index) => bytes.subarray(from, positions[index] ?? bytes.length));
}

describe('BoundarySearch', () => {
  it.each([
    ['bytes and the end', 'content\r\n--b1--\r\n', 'content', '\r\n--b1--\r\n'],
    ['nothing', '\r\n--b1--\r\n', '', '\r\n--b1--\r\n'],
    ['a near match', 'a\r\n--b\r\n-\r\r\n--b2\r\n\r\n--b1', 'a\r\n--b\r\n-\r\r\n--b2\r\n', '\r\n--b1'],
    ['CRs before the end', '\r\r\n\r\n--b1--', '\r\r\n', '\r\n--b1--'],
    ['a boundary that continues', 'x\r\n--b1234', 'x', '\r\n--b1234'],
    ['two delimiters', 'x\r\n--b1\r\n--b1', 'x', '\r\n--b1\r\n--b1'],
  ])('distinguishes %s, wherever the text is cut', (_case, text, own, rest) => {
    for (let first = 0; first <= text.length; first += 1) {
      for (let second = first; second <= text.length; second += 1) {
        expect(run(cut(text, [first, second]))).toEqual([own, rest]);
      }
    }
  });

  it('finds a delimiter that began in bytes searched before', () => {
    for (let begun = 1; begun < DELIMITER.length; begun += 1) {
      const before = Buffer.concat([Buffer.from('content'), DELIMITER.subarray(0, begun)]);
      expect(run([DELIMITER.subarray(begun), Buffer.from('--')], before)).toEqual(['', '\r\n--b1--']);
      const other = run([Buffer.from('?'), DELIMITER], before);
      expect(other).toEqual([`${DELIMITER.toString('latin1', 0, begun)}?`, '\r\n--b1']);
    }
  });

  it('finds the first delimiter in random text of its characters', () => {
    const letters = ['\r', '\n', '-', 'b', '1', '\r\n', '--', '\r\n--b'];
    for (let round = 0; round < 2_000; round += 1) {
      const text = Array.from({ length: randomInt(40) }, () => letters[randomInt(letters.length)]).join('');
      const positions = Array.from({ length: randomInt(5) }, () => randomInt(text.length + 1)).sort(
        (a, b) => a - b,
      );
      const end = text.indexOf('\r\n--b1');
      const [own, rest] = run(cut(text, positions));
      if (end >= 0) expect([own, rest]).toEqual([text.slice(0, end), text.slice(end)]);
      else {
        expect(rest).toBeNull();
        expect(text.startsWith(own)).toBe(true);
        expect('\r\n--b1'.startsWith(text.slice(own.length))).toBe(true);
      }
    }
  });
});

const taken = async (queue: ChunkQueue): Promise<Buffer[]> => {
  const chunks: Buffer[] = [];
  for await (const chunk of queue) chunks.push(chunk);
  return chunks;
};

const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n % 251));

it.each([
  ['before they are read', false],
  ['while they are read', true],
])('merges single bytes that arrive %s', async (_when, isTakenAtOnce) => {
  const queue = new ChunkQueue(() => undefined);
  const begun = isTakenAtOnce ? taken(queue) : null;
  for (let n = 0; n < bytes.length; n += 1) queue.push(bytes.subarray(n, n + 1));
  if (!isTakenAtOnce) expect(queue.bytes).toBe(bytes.length);
  queue.end();
  const chunks = await (begun ?? taken(queue));
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  expect(chunks.length).toBeLessThan(bytes.length / 1_000);
  expect(queue.bytes).toBe(0);
});

it('keeps the order of large and small chunks', async () => {
  const queue = new ChunkQueue(() => undefined);
  const sizes = [1, 5_000, 3, 4, 4_096, 4_095, 2, 70_000, 1];
  let from = 0;
  for (const size of sizes) {
    queue.push(bytes.subarray(from, from + size));
    from += size;
  }
  queue.end();
  expect(Buffer.concat(await taken(queue)).equals(bytes.subarray(0, from))).toBe(true);
});

it('passes on the error immediately, and nothing after it', async () => {
  const queue = new ChunkQueue(() => undefined);
  queue.push(Buffer.from('a'));
  queue.fail(new Error('broken'));
  queue.push(Buffer.from('b'));
  await expect(queue.next()).rejects.toThrow('broken');
  expect(queue.bytes).toBe(0);
});
