import { ChunkQueue } from './chunk-queue';

const taken = async (queue: ChunkQueue): Promise<Buffer[]> => {
  const chunks: Buffer[] = [];
  for await (const chunk of queue) chunks.push(chunk);
  return chunks;
};

const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n % 251));

it.each([
  ['before they are taken', false],
  ['while they are taken', true],
])('puts single bytes together that come %s', async (_when, isTakenAtOnce) => {
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

it('gives the error at once, and nothing after it', async () => {
  const queue = new ChunkQueue(() => undefined);
  queue.push(Buffer.from('a'));
  queue.fail(new Error('broken'));
  queue.push(Buffer.from('b'));
  await expect(queue.next()).rejects.toThrow('broken');
  expect(queue.bytes).toBe(0);
});
