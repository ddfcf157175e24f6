// The command line as a program, in a wrong folder and without a server.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { casesOf } from '../support/extent';
import { PlinthProcess, PROCESS_ADMIN_KEY } from '../support/plinth-process';
import { ROOT, withDirectory } from './support/processes';

const CLI = path.join(ROOT, 'scripts/plinth.mjs');

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `node scripts/plinth.mjs` in a folder with the given environment only. */
function run(cwd: string, args: string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } };
    const child = execFile(process.execPath, [CLI, ...args], options, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

describe('the command line without a key', () => {
  const WHAT_TO_DO =
    'Run this in the folder of the server, or set DATA_DIR to its data directory, or set PLATFORM_ADMIN_KEY.\n';

  it('explains a missing DATA_DIR in one line, and writes nothing', () =>
    withDirectory(async (folder) => {
      expect(await run(folder, ['project', 'list'])).toEqual({
        code: 1,
        out: '',
        err: `There is no admin key in ${await realpath(folder)}/data/platform-admin-key. ${WHAT_TO_DO}`,
      });
      expect(readdirSync(folder)).toEqual([]);
    }));

  const FOLDERS = [
    ['a folder that does not exist', 'missing'],
    ['the folder of a key that was truncated', 'truncated'],
    ['an empty folder', 'empty'],
    ['a file', 'file'],
  ] as const;

  it.each(casesOf(FOLDERS, 2))('does the same if DATA_DIR is %s', (_what, name) =>
    withDirectory(async (folder) => {
      await mkdir(path.join(folder, 'empty'));
      await writeFile(path.join(folder, 'file'), '');
      await mkdir(path.join(folder, 'truncated'));
      await writeFile(path.join(folder, 'truncated/platform-admin-key'), '\n');
      const before = readdirSync(folder, { recursive: true }).sort();
      const DATA_DIR = path.join(folder, name);
      expect(await run(folder, ['project', 'list'], { DATA_DIR })).toEqual({
        code: 1,
        out: '',
        err: `There is no admin key in ${DATA_DIR}/platform-admin-key. ${WHAT_TO_DO}`,
      });
      expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before);
    }),
  );

  it('reports an unreadable key in one line', () =>
    withDirectory(async (folder) => {
      await mkdir(path.join(folder, 'platform-admin-key'));
      const { code, err } = await run(folder, ['project', 'list'], { DATA_DIR: folder });
      expect(code).toBe(1);
      expect(err).toMatch(
        /^The admin key cannot be read: EISDIR.*\. Run this in the folder of the server.*\n$/,
      );
    }));

  it('prints its version', () =>
    withDirectory(async (folder) => {
      const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
        version: string;
      };
      for (const flag of ['--version', '-V'])
        expect(await run(folder, [flag])).toEqual({ code: 0, out: `${version}\n`, err: '' });
      expect(readdirSync(folder)).toEqual([]);
    }));
});

describe('the command line with the data directory of a server', () => {
  it('finds the port in it, unless the server was killed', () =>
    withDirectory(async (folder) => {
      const server = await PlinthProcess.start({ dataDir: folder });
      const DATA_DIR = path.join(folder, 'data');
      const key = { PLATFORM_ADMIN_KEY: PROCESS_ADMIN_KEY };
      const inData = (): Promise<Outcome> => run(folder, ['project', 'list'], key);
      expect(await inData()).toMatchObject({ code: 0, err: '' });
      const other = await run('/', ['project', 'list'], { ...key, DATA_DIR });
      expect(other).toMatchObject({ code: 0, err: '' });
      await server.end('SIGKILL');
      expect(readdirSync(DATA_DIR)).toContain('server.json');
      const { code, err } = await inData();
      expect([code, err]).toEqual([
        4,
        expect.stringMatching(
          /^No Plinth answers on http:\/\/127\.0\.0\.1:8080 .*; if it has its own DATA_DIR, PORT or PUBLIC_URL, set the same here\.\n$/,
        ),
      ]);
      const again = await PlinthProcess.start({ dataDir: folder });
      expect((await inData()).code).toBe(0);
      await again.end('SIGTERM');
      expect(readdirSync(DATA_DIR)).not.toContain('server.json');
    }));
});
