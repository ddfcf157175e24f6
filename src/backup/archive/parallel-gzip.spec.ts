import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { ParallelGzip } from './parallel-gzip';

const compressed = (chunks: Buffer[], level: number): Promise<Buffer> =>
  buffer(Readable.from(chunks).pipe(new ParallelGzip(level)));

const text = Buffer.from('some text that repeats '.repeat(200_000));
const INPUTS: [string, Buffer[]][] = [
  ['nothing', []],
  ['a few bytes', [Buffer.from('few')]],
  ['many small chunks', Array.from({ length: 40_000 }, (_, n) => Buffer.from(`chunk ${n}\n`))],
  ['one large chunk', [text]],
  ['random bytes', [randomBytes(3_000_000), randomBytes(1)]],
];

it.each(INPUTS)('compresses %s for Node and for gzip', async (_what, chunks) => {
  for (const level of [0, 1]) {
    const bytes = await compressed(chunks, level);
    const expected = Buffer.concat(chunks);
    expect((await buffer(Readable.from([bytes]).pipe(createGunzip()))).equals(expected)).toBe(true);
    const plain = execFileSync('gzip', ['-dc'], { input: bytes, maxBuffer: 64 << 20 });
    expect(plain.equals(expected)).toBe(true);
  }
});

it('compresses', async () => {
  expect((await compressed([text], 1)).length).toBeLessThan(text.length / 20);
});
