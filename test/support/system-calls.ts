/** System calls of a running process, traced by strace. Tests of them are skipped if strace is missing or not permitted. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Number of characters of written data that are recorded. */
const KEPT = 4_096;

/** Whether one process may trace another; containers often forbid it. */
export const hasStrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

/** A successful call in strace's format, with the paths of descriptors: `fsync(21</tmp/file>) = 0`. */
export type SystemCall = string;

/** @returns the calls, in the order in which they ended */
export async function systemCallsDuring(
  pid: number,
  names: readonly string[],
  work: () => Promise<unknown>,
): Promise<SystemCall[]> {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-strace-'));
  const file = join(directory, 'calls');
  const options = ['-f', '-y', '-s', String(KEPT), '-e', `trace=${names.join()}`, '-e', 'signal=none'];
  const child = spawn('strace', [...options, '-o', file, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    await new Promise((resolve, reject) => {
      child.stderr.once('data', resolve);
      child.once('exit', () => reject(new Error('strace could not attach')));
    });
    await work();
  } finally {
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGINT');
    await ended;
  }
  const calls = callsIn(readFileSync(file, 'utf8'));
  rmSync(directory, { recursive: true });
  return calls;
}

/** Joins the two halves of calls that strace interrupted by a line of another thread. */
function callsIn(text: string): SystemCall[] {
  const begun = new Map<string, string>();
  return text.split('\n').flatMap((line) => {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const unfinished = /^(.*) <unfinished \.\.\.>$/.exec(call);
    if (unfinished) {
      begun.set(thread, unfinished[1] as string);
      return [];
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(call);
    const whole = resumed ? `${begun.get(thread) ?? ''}${resumed[1]}` : call;
    return / = \d+/.test(whole) ? [whole] : [];
  });
}
