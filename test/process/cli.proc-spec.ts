// The command line as a program, in a wrong folder and without a server. default-install has it with a server.
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { casesOf } from '../support/extent';
import { runCommandLine } from './support/command-line';
import { ROOT, withDirectory } from './support/processes';

describe('the command line without a key', () => {
  const WHAT_TO_DO =
    'Run this in the folder of the server, or set DATA_DIR to its data directory, or set PLATFORM_ADMIN_KEY.\n';

  it('explains a missing DATA_DIR in one line, and writes nothing', () =>
    withDirectory(async (folder) => {
      expect(await runCommandLine(folder, ['project', 'list'])).toEqual({
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
      expect(await runCommandLine(folder, ['project', 'list'], { DATA_DIR })).toEqual({
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
      const { code, err } = await runCommandLine(folder, ['project', 'list'], { DATA_DIR: folder });
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
        expect(await runCommandLine(folder, [flag])).toEqual({ code: 0, out: `${version}\n`, err: '' });
      expect(readdirSync(folder)).toEqual([]);
    }));
});
