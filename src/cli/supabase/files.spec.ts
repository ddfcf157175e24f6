import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { storageIn } from './files';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'storage-'));
  await mkdir(join(root, 'files/box/face.png'), { recursive: true });
  await writeFile(join(root, 'files/box/face.png/1'), 'bytes');
  await writeFile(join(root, 'files/other'), 'other');
  await writeFile(join(root, 'secret'), 'secret');
});
afterAll(() => rm(root, { recursive: true }));

const open = (name: string, version: string | null, bucket = 'box'): Promise<string> =>
  storageIn(join(root, 'files'))
    .open({
      ...{ bucket, name, version, owner: null, size: null, content_type: null, cache_control: null },
      ...{ user_metadata: null, created_at: '' },
    })
    .then(({ body }) => text(body));

it.each([['1'], [null]])('finds the bytes of version %s', async (version) => {
  expect(await open('face.png', version)).toBe('bytes');
});

it.each([
  ['../../secret', null, 'box'],
  ['secret', null, '..'],
  ['face.png', '../../../secret', 'box'],
  ['face.png', '../../other', 'box'],
  ['face.png', '/etc/hostname', 'box'],
])(
  'refuses to read outside the folder for the name %s, version %s, bucket %s',
  async (name, version, bucket) => {
    await expect(open(name, version, bucket)).rejects.toThrow('leads out of the folder');
  },
);
