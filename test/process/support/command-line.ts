/** Runs the command line of this clone as a program. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { withCompiledCode } from '../../support/plinth-process';
import { ROOT } from './processes';

const CLI = path.join(ROOT, 'scripts/plinth.mjs');

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `node scripts/plinth.mjs` in a folder with the given environment only. */
export function runCommandLine(
  cwd: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = {
      cwd,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...withCompiledCode(), ...env },
    };
    const child = execFile(process.execPath, [CLI, ...args], options, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}
