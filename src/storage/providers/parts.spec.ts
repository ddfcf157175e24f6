import { partsOf } from './parts';

/** Chunks of these lengths, whose bytes have ascending values. */
async function* chunksOf(...lengths: number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (const length of lengths) {
    yield Buffer.from(Array.from({ length }, (_, n) => (at + n) % 256));
    at += length;
    await Promise.resolve();
  }
}

it.each<[lengths: number[], parts: number[]]>([
  [[], []],
  [[3], [3]],
  [[4], [4]],
  [[9], [4, 4, 1]],
  [
    [1, 1, 1, 1, 1],
    [4, 1],
  ],
  [
    [3, 3, 3, 3],
    [4, 4, 4],
  ],
  [
    [2, 11, 0, 5],
    [4, 4, 4, 4, 2],
  ],
])('cuts chunks of %j into parts of %j', async (lengths, expected) => {
  const parts: Buffer[] = [];
  for await (const part of partsOf(chunksOf(...lengths), 4)) parts.push(Buffer.from(part));
  expect(parts.map(({ length }) => length)).toEqual(expected);
  const bytes = [...Buffer.concat(parts)];
  expect(bytes).toEqual([...bytes.keys()]);
});

it('leaves a part unchanged while the next one is read', async () => {
  const parts = partsOf(chunksOf(4, 4, 4), 4);
  for (const expected of [
    [0, 1, 2, 3],
    [4, 5, 6, 7],
  ]) {
    const step = await parts.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect([...(step.value as Buffer)]).toEqual(expected);
  }
});

it('rethrows its source’s error', async () => {
  async function* failing(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(5);
    await Promise.resolve();
    throw new Error('broken off');
  }
  const parts = partsOf(failing(), 4);
  expect((await parts.next()).value).toHaveLength(4);
  await expect(parts.next()).rejects.toThrow('broken off');
});

it('ends its source when the consumer stops', async () => {
  let isEnded = false;
  async function* endless(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        await Promise.resolve();
        yield Buffer.alloc(5);
      }
    } finally {
      isEnded = true;
    }
  }
  for await (const part of partsOf(endless(), 4)) {
    expect(part).toHaveLength(4);
    break;
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(isEnded).toBe(true);
});
