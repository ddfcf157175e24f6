import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskDirectories } from './disk-directories';

describe('DiskDirectories', () => {
  let root: string;
  let directories: DiskDirectories;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'plinth-directories-'));
    writeFileSync(join(root, '.marker'), '');
    directories = new DiskDirectories(join(root, '.marker'), 0o700);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('makes a directory once, with its parents', async () => {
    const path = join(root, 'project', 'ab');
    await Promise.all([directories.ensure(path), directories.ensure(path)]);
    expect(existsSync(path)).toBe(true);
  });

  it('creates none while the marker is missing, and tries again later', async () => {
    rmSync(join(root, '.marker'));
    await expect(directories.ensure(join(root, 'ab'))).rejects.toMatchObject({ code: 'ENOENT' });
    writeFileSync(join(root, '.marker'), '');
    await directories.ensure(join(root, 'ab'));
    expect(existsSync(join(root, 'ab'))).toBe(true);
  });

  it('shares one sync among callers that come during a sync, and starts it afterwards', async () => {
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
