// One instance per data directory, however the previous instance ended and however many start concurrently.
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DataDirInUseError, InstanceLock } from '../../src/database/embedded/instance-lock';
import { IN_SOAK } from '../support/extent';
import { Program, ROOT, until, withDirectory } from './support/processes';

const HOLDER = path.join(__dirname, 'support/lock-holder.cjs');

async function startHolder(dataDir: string): Promise<Program> {
  const holder = Program.start(process.execPath, [HOLDER, path.join(ROOT, 'dist'), dataDir]);
  await holder.says(/WAITING/);
  return holder;
}

async function lockedHolder(dataDir: string): Promise<Program> {
  const holder = await startHolder(dataDir);
  holder.child.stdin?.write('go\n');
  await holder.says(/LOCKED/);
  return holder;
}

/** Rewrites the lock file with other facts about its holder. */
async function alterLock(dataDir: string, changes: Record<string, unknown>): Promise<void> {
  const file = path.join(dataDir, 'instance.lock');
  const holder = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  await writeFile(file, JSON.stringify({ ...holder, ...changes }));
}

describe('InstanceLock', () => {
  it('refuses a second holder in one line that names the first, until the lock is released', () =>
    withDirectory(async (dataDir) => {
      const lock = await InstanceLock.acquire(dataDir);
      const refusal = await InstanceLock.acquire(dataDir).catch((error: Error) => error);
      expect(refusal).toBeInstanceOf(DataDirInUseError);
      expect((refusal as Error).message).toBe(
        `Another instance of Plinth (process ${process.pid}) is using the data directory ${dataDir}: ` +
          'stop it first, or set DATA_DIR to another directory.',
      );
      await lock.release();
      await (await InstanceLock.acquire(dataDir)).release();
      expect(await readdir(dataDir)).toEqual([]);
    }));

  it('is refused while another process holds it, and taken over when that process was killed', () =>
    withDirectory(async (dataDir) => {
      const holder = await lockedHolder(dataDir);
      await expect(InstanceLock.acquire(dataDir)).rejects.toThrow(`process ${holder.pid}`);
      await holder.end('SIGKILL');
      await (await InstanceLock.acquire(dataDir)).release();
    }));

  it('is taken over when its pid belongs to a later process', () =>
    withDirectory(async (dataDir) => {
      await InstanceLock.acquire(dataDir);
      await alterLock(dataDir, { startTime: '1' });
      await (await InstanceLock.acquire(dataDir)).release();
    }));

  it.each(['', '{"nonce":', 'null'])('is taken over when a power failure left %j in the file', (content) =>
    withDirectory(async (dataDir) => {
      await writeFile(path.join(dataDir, 'instance.lock'), content);
      await (await InstanceLock.acquire(dataDir)).release();
      expect(await readdir(dataDir)).toEqual([]);
    }),
  );

  it('is taken over by exactly one of many processes, in every round', () =>
    withDirectory(async (dataDir) => {
      let previous = await lockedHolder(dataDir);
      for (let round = 0; round < (IN_SOAK ? 3 : 1); round++) {
        const contenders = await Promise.all(Array.from({ length: 8 }, () => startHolder(dataDir)));
        await previous.end('SIGKILL');
        contenders.forEach(({ child }) => child.stdin?.write('go\n'));
        await Promise.all(contenders.map((contender) => contender.says(/LOCKED|DataDirInUseError/)));
        const winners: Program[] = contenders.filter(({ output }) => output.includes('LOCKED'));
        expect(winners).toHaveLength(1);
        await Promise.all(contenders.filter((one) => one !== winners[0]).map((loser) => loser.end()));
        previous = winners[0] as Program;
      }
      await previous.end();
    }));

  describe('of another container or host, whose processes cannot be looked up', () => {
    it('is refused while its file shows signs of life', () =>
      withDirectory(async (dataDir) => {
        await InstanceLock.acquire(dataDir);
        await alterLock(dataDir, { space: 'elsewhere' });
        await expect(InstanceLock.acquire(dataDir)).rejects.toThrow(DataDirInUseError);
      }));

    it('is taken over after a time without signs of life', () =>
      withDirectory(async (dataDir) => {
        const holder = await lockedHolder(dataDir);
        await alterLock(dataDir, { space: 'elsewhere' });
        await holder.end('SIGKILL');
        await (await InstanceLock.acquire(dataDir)).release();
      }));
  });

  it('refreshes the time of its file while it is held', () =>
    withDirectory(async (dataDir) => {
      const lock = await InstanceLock.acquire(dataDir);
      const file = path.join(dataDir, 'instance.lock');
      const longAgo = new Date(0);
      await utimes(file, longAgo, longAgo);
      await until(async () => (await stat(file)).mtimeMs > 0);
      await lock.release();
    }));
});
