import { MultipartRanges } from './multipart-ranges';

const RANGES = [
  { start: 0, end: 9 },
  { start: 20, end: 29 },
  { start: 40, end: 49 },
];

/** A file that counts the ranges that are open, as a provider would hold a descriptor or a connection for each. */
class CountedFile {
  opened = 0;
  isOpen = 0;

  readonly read = async ({ start, end }: { start: number; end: number }): Promise<AsyncIterable<Buffer>> => {
    this.opened += 1;
    this.isOpen += 1;
    return this.chunks(end - start + 1);
  };

  private async *chunks(length: number): AsyncGenerator<Buffer> {
    try {
      for (let n = 0; n < length; n += 5) yield Buffer.alloc(5, 'x');
    } finally {
      this.isOpen -= 1;
    }
  }
}

/** The number of chunks of a whole body: a head and two chunks of each range, and the tail. */
const CHUNKS = 3 * RANGES.length + 1;

it.each(Array.from({ length: CHUNKS + 1 }, (_, taken) => taken))(
  'leaves no range open if the client disconnects after %i chunks',
  async (taken) => {
    const file = new CountedFile();
    const body = new MultipartRanges('text/plain', 50, RANGES).body(file.read);
    for (let n = 0; n < taken; n += 1) expect((await body.next()).done).toBe(false);
    await body.return(undefined);
    expect(file.isOpen).toBe(0);
  },
);

it('opens one range at a time, and sends as many bytes as it announced', async () => {
  const file = new CountedFile();
  const ranges = new MultipartRanges('text/plain', 50, RANGES);
  let bytes = 0;
  for await (const chunk of ranges.body(file.read)) {
    bytes += chunk.length;
    expect(file.isOpen).toBeLessThanOrEqual(1);
  }
  expect([bytes, file.opened, file.isOpen]).toEqual([ranges.length, RANGES.length, 0]);
});

it('sends nothing if the first range cannot be opened', async () => {
  const body = new MultipartRanges('text/plain', 50, RANGES).body(() => Promise.reject(new Error('missing')));
  await expect(body.next()).rejects.toThrow('missing');
});
