// Two `npm start`s in one clone: one installs and builds, the other waits for it.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Program, ROOT, withDirectory } from './support/processes';

const EXCLUSIVE = pathToFileURL(path.join(ROOT, 'scripts/lib/exclusive.mjs')).href;

/** Prints a line when it enters and leaves the exclusive work, and extends the lock to the process `child`, if any. */
function contender(directory: string, workMs: number, child = 0): Program {
  const script = `
    import { appendFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { exclusively } from '${EXCLUSIVE}';
    const say = (word) => appendFileSync('${directory}/diary', word + '\\n');
    await exclusively('${directory}/lock', async (shareWith) => {
      if (${child}) shareWith(${child});
      say('enter');
      console.log('INSIDE');
      await sleep(${workMs});
      say('leave');
    }, () => undefined);
  `;
  return Program.start(process.execPath, ['--input-type=module', '--eval', script]);
}

describe('exclusively', () => {
  it('lets one process work at a time, even after a holder was killed', () =>
    withDirectory(async (directory) => {
      const killed = contender(directory, 60_000);
      await killed.says(/INSIDE/);
      const waiting = Array.from({ length: 5 }, () => contender(directory, 100));
      await killed.end('SIGKILL');
      for (const one of waiting) expect(await one.exited).toEqual({ code: 0, signal: null });
      const diary = (await readFile(path.join(directory, 'diary'), 'utf8')).trim().split('\n');
      expect(diary).toEqual(['enter', ...Array.from({ length: 5 }, () => ['enter', 'leave']).flat()]);
    }));

  it('waits for a child process that outlives its killed parent', () =>
    withDirectory(async (directory) => {
      const child = Program.start('sh', ['-c', 'read -r word']);
      const killed = contender(directory, 60_000, child.pid);
      await killed.says(/INSIDE/);
      await killed.end('SIGKILL');
      const waiting = contender(directory, 0);
      await expect(waiting.says(/INSIDE/, 1_500)).rejects.toThrow('not so within');
      await child.end();
      expect(await waiting.exited).toEqual({ code: 0, signal: null });
    }));

  it('takes over a lock whose pid belongs to a later process', () =>
    withDirectory(async (directory) => {
      await writeFile(path.join(directory, 'lock'), `${process.pid} 1`);
      expect(await contender(directory, 0).exited).toEqual({ code: 0, signal: null });
    }));
});
