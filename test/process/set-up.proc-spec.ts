// Two `npm start`s in one clone: one installs and builds, the other waits for it.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isAlive, Program, ROOT, until, withDirectory } from './support/processes';

const EXCLUSIVE = pathToFileURL(path.join(ROOT, 'scripts/lib/exclusive.mjs')).href;

const RUN = pathToFileURL(path.join(ROOT, 'scripts/lib/run.mjs')).href;

/** Prints a line when it enters and leaves the exclusive work, and extends the lock to the processes `children`. */
function contender(directory: string, workMs: number, children: number[] = []): Program {
  const script = `
    import { appendFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { exclusively } from '${EXCLUSIVE}';
    const say = (word) => appendFileSync('${directory}/diary', word + '\\n');
    await exclusively('${directory}/lock', async (shareWith) => {
      ${JSON.stringify(children)}.forEach(shareWith);
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

  it('waits for each child process that outlives its killed parent', () =>
    withDirectory(async (directory) => {
      const [child, ...others] = ['first', 'second', 'third'].map((name) =>
        Program.start('sh', ['-c', 'read -r word', name]),
      ) as [Program, Program, Program];
      const killed = contender(directory, 60_000, [child.pid, ...others.map(({ pid }) => pid)]);
      await killed.says(/INSIDE/);
      await killed.end('SIGKILL');
      const waiting = contender(directory, 0);
      await Promise.all(others.map((other) => other.end()));
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

describe('run', () => {
  /** Runs two programs concurrently, each of which takes a moment to end after SIGTERM. */
  const both = (): Program =>
    Program.start(process.execPath, [
      '--input-type=module',
      '--eval',
      `
      import { run } from '${RUN}';
      const slow = (word) => 'trap "exit 3" TERM; echo $$ ' + word + ' >&2; while :; do sleep 0.1; done';
      const start = (word) => run(word, 'sh', ['-c', slow(word)], { cwd: '/', echo: true });
      const settled = () => console.log('SETTLED');
      Promise.all([start('ONE'), start('TWO')]).then(settled, settled);`,
    ]);

  it('ends all its programs, and then exits by the same signal', async () => {
    const program = both();
    const pids = await Promise.all(['ONE', 'TWO'].map((word) => program.says(new RegExp(`(\\d+) ${word}`))));
    await program.end('SIGTERM');
    expect(await program.exited).toEqual({ code: null, signal: 'SIGTERM' });
    expect(pids.filter(([, pid]) => isAlive(Number(pid)))).toEqual([]);
    expect(program.output).not.toContain('SETTLED');
  });

  it('leaves no program behind when one of them fails', () =>
    withDirectory(async (directory) => {
      const script = `
        import { run } from '${RUN}';
        const start = (text) => run('it', 'sh', ['-c', text], { cwd: '${directory}', echo: true });
        try {
          await Promise.all([
            start('echo $$ OTHER >&2; exec sleep 60'),
            start('while [ ! -e fail ]; do sleep 0.1; done; exit 1'),
          ]);
        } catch {
          process.exit(1);
        }`;
      const program = Program.start(process.execPath, ['--input-type=module', '--eval', script]);
      const [, pid] = await program.says(/(\d+) OTHER/);
      await writeFile(path.join(directory, 'fail'), '');
      expect(await program.exited).toEqual({ code: 1, signal: null });
      await until(() => !isAlive(Number(pid)));
    }));
});
