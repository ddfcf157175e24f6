import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Compression, COMPRESSIONS, HAS_ZSTD } from '../../config/compression';
import { compressionOf, compressor, decompressed, endingOf } from './compression';

const HAS_TOOL = spawnSync('zstd', ['--version']).status === 0;
const TEXT = Buffer.from('some text that repeats '.repeat(200_000));
const INPUTS: [string, Buffer[]][] = [
  ['nothing', []],
  ['a few bytes', [Buffer.from('few')]],
  ['many small chunks', Array.from({ length: 40_000 }, (_, n) => Buffer.from(`chunk ${n}\n`))],
  ['one large chunk', [TEXT]],
  ['random bytes', [randomBytes(3_000_000), randomBytes(1)]],
];

const compressed = (compression: Compression, chunks: readonly Buffer[]): Promise<Buffer> =>
  buffer(Readable.from(chunks).pipe(compressor(compression, false)));

const restored = (...chunks: Buffer[]): Promise<Buffer> => buffer(decompressed(Readable.from(chunks)));

const AVAILABLE = COMPRESSIONS.filter((compression) => compression !== 'zstd' || HAS_ZSTD);

describe.each(AVAILABLE)('%s', (compression) => {
  it.each(INPUTS)('restores %s, in pieces of any size', async (_what, chunks) => {
    const expected = Buffer.concat(chunks);
    const bytes = await compressed(compression, chunks);
    expect((await restored(bytes)).equals(expected)).toBe(true);
    const [first, second, rest] = [bytes.subarray(0, 1), bytes.subarray(1, 3), bytes.subarray(3)];
    expect((await restored(first, second, rest)).equals(expected)).toBe(true);
  });

  it('passes an error of the source on', async () => {
    const bytes = await compressed(compression, [TEXT]);
    async function* broken(): AsyncGenerator<Buffer> {
      yield bytes.subarray(0, bytes.length / 2);
      throw new Error('connection lost');
    }
    await expect(buffer(decompressed(broken()))).rejects.toThrow('connection lost');
  });

  it('ends the source when its reader stops', async () => {
    const source = Readable.from([await compressed(compression, [TEXT]), TEXT]);
    for await (const _chunk of decompressed(source)) break;
    expect(source.destroyed).toBe(true);
  });
});

(HAS_ZSTD ? it : it.skip)('compresses with zstd (needs Node.js 22.15)', async () => {
  expect((await compressed('zstd', [TEXT])).length).toBeLessThan(TEXT.length / 100);
});

(HAS_ZSTD && HAS_TOOL ? it : it.skip)('is read by the zstd tool (needs zstd and Node.js 22.15)', async () => {
  const plain = execFileSync('zstd', ['-dc'], {
    input: await compressed('zstd', [TEXT]),
    maxBuffer: 64 << 20,
  });
  expect(plain.equals(TEXT)).toBe(true);
});

(HAS_ZSTD ? it.skip : it)('names the version of Node.js that zstd needs', async () => {
  expect(() => compressor('zstd', false)).toThrow('Node.js 22.15');
  await expect(restored(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]))).rejects.toThrow('Node.js 22.15');
});

it.each([
  ['acme.tar.gz', 'gzip'],
  ['acme.tgz', 'gzip'],
  ['-', 'gzip'],
  ['backup', 'gzip'],
  ['acme.tar.zst', 'zstd'],
  ['acme.tzst', 'zstd'],
  ['dir.tar/acme', 'gzip'],
  ['acme.tar', 'none'],
])('the name %s selects %s', (path, compression) => expect(compressionOf(path)).toBe(compression));

it('names files so that their compression is recognised', () => {
  for (const compression of COMPRESSIONS)
    expect(compressionOf(`a${endingOf(compression)}`)).toBe(compression);
});
