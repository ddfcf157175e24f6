import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskDirectories, NeighbouringIds } from './disk-layout';
import { isObjectId } from './object-store';

describe('DiskDirectories', () => {
  let root: string;
  let directories: DiskDirectories;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'plinth-directories-'));
    writeFileSync(join(root, '.marker'), '');
    directories = new DiskDirectories(join(root, '.marker'), 0o700);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('creates a directory once, with its parents', async () => {
    const path = join(root, 'project', 'ab');
    await Promise.all([directories.ensure(path), directories.ensure(path)]);
    expect(existsSync(path)).toBe(true);
  });

  it('creates no directory while the marker is missing, and tries again later', async () => {
    rmSync(join(root, '.marker'));
    await expect(directories.ensure(join(root, 'ab'))).rejects.toMatchObject({ code: 'ENOENT' });
    writeFileSync(join(root, '.marker'), '');
    await directories.ensure(join(root, 'ab'));
    expect(existsSync(join(root, 'ab'))).toBe(true);
  });

  it('shares one sync among callers that arrive during a sync, and starts it afterwards', async () => {
    const order: string[] = [];
    const first = directories.sync(root).then(() => order.push('first'));
    const later = [directories.sync(root), directories.sync(root)];
    expect(later[0]).toBe(later[1]);
    await Promise.all([first, ...later.map((one) => one.then(() => order.push('later')))]);
    expect(order).toEqual(['first', 'later', 'later']);
    const anew = directories.sync(root);
    expect(anew).not.toBe(later[0]);
    await anew;
  });

  it('rejects all waiting callers when a sync fails, and syncs again for later ones', async () => {
    const path = join(root, 'ab');
    const failures = [directories.sync(path), directories.sync(path), directories.sync(path)];
    for (const failure of failures) await expect(failure).rejects.toMatchObject({ code: 'ENOENT' });
    await directories.ensure(path);
    await directories.sync(path);
  });
});

describe('NeighbouringIds', () => {
  const ids = new NeighbouringIds();
  const made = Array.from({ length: 256 * 256 }, () => ids.next());
  const shardsOf = (some: readonly string[]): Set<string> => new Set(some.map((id) => id.slice(0, 2)));

  it('are UUIDs, each another', () => {
    expect(made.every(isObjectId)).toBe(true);
    expect(new Set(made.map((id) => id.slice(2))).size).toBe(made.length);
  });

  it('share a directory for a while, and fill all directories evenly', () => {
    expect(shardsOf(made.slice(0, 256)).size).toBe(1);
    expect(shardsOf(made.slice(256, 512))).not.toEqual(shardsOf(made.slice(0, 256)));
    const counts = new Map<string, number>();
    for (const id of made) counts.set(id.slice(0, 2), (counts.get(id.slice(0, 2)) ?? 0) + 1);
    expect(counts.size).toBe(256);
    expect(new Set(counts.values())).toEqual(new Set([256]));
  });
});
