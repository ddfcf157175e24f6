import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Header, pack } from 'tar-stream';
import { archiveInvalid } from '../backup.errors';
import { unpackCluster } from './unpack-cluster';

type Member = Partial<Header> & { name: string };

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'plinth-unpack-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function* tarOf(...entries: (Member & { content?: string })[]): AsyncGenerator<Buffer> {
  const tar = pack();
  for (const { content = '', ...header } of entries) tar.entry(header, content);
  tar.finalize();
  for await (const chunk of tar as unknown as AsyncIterable<Buffer>) yield chunk;
}

it('unpacks files, and directories without files', async () => {
  const entries = [
    { name: 'PG_VERSION', content: '18\n' },
    { name: 'pg_twophase', type: 'directory' as const },
    { name: 'base/1/2619', content: 'rows' },
  ];
  await unpackCluster(tarOf(...entries), join(directory, 'postgres'));
  expect(readdirSync(directory, { recursive: true }).sort()).toEqual([
    'postgres',
    'postgres/PG_VERSION',
    'postgres/base',
    'postgres/base/1',
    'postgres/base/1/2619',
    'postgres/pg_twophase',
  ]);
  expect(readFileSync(join(directory, 'postgres/base/1/2619'), 'utf8')).toBe('rows');
});

it.each<[string, Member]>([
  ['a path that leads out', { name: '../outside' }],
  ['a path that leads out indirectly', { name: 'base/../../outside' }],
  ['an absolute path', { name: '/tmp/plinth-outside' }],
  ['a directory outside', { name: '../outside', type: 'directory' }],
  ['a sibling directory with the same prefix', { name: '../postgres-outside' }],
  ['a symbolic link', { name: 'pg_wal', type: 'symlink', linkname: '/tmp' }],
  ['a hard link', { name: 'pg_wal', type: 'link', linkname: '/etc/passwd' }],
])('refuses %s', async (_what, header) => {
  const unpacked = unpackCluster(tarOf(header), join(directory, 'postgres'));
  await expect(unpacked).rejects.toMatchObject({ code: 'invalid_archive' });
  expect(readdirSync(directory)).toEqual(['postgres']);
});

it('refuses bytes that are not a tar file', async () => {
  async function* noise(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(1024, 'x');
  }
  await expect(unpackCluster(noise(), join(directory, 'postgres'))).rejects.toMatchObject({
    code: 'invalid_archive',
  });
});

it('fails wherever the archive breaks off', async () => {
  const files = Array.from({ length: 20 }, (_, n) => ({
    name: `base/${n}/1`,
    content: 'x'.repeat(n * 4_000),
  }));
  const whole = await buffer(tarOf(...files));
  for (let end = 0; end < whole.length - 1024; end += 40_009) {
    async function* broken(): AsyncGenerator<Buffer> {
      for (let at = 0; at < end; at += 65_536) yield whole.subarray(at, Math.min(end, at + 65_536));
      throw archiveInvalid('a checksum differs');
    }
    const unpacked = unpackCluster(broken(), join(directory, `${end}`));
    await expect(unpacked).rejects.toThrow('a checksum differs');
  }
});
