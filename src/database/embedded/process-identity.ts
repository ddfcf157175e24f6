// Distinguishes a process from a later process with the same pid, and processes of this machine (or container) from others.
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * The start time of a process, as an opaque text to compare for equality.
 * Null when there is no such process, or only a zombie that its parent has not reaped.
 */
export function processStartTime(pid: number): string | null {
  return process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
}

function startTimeFromProc(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field, the command's name, may hold spaces and parentheses: split after its last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields[0], fields[19]];
  return state === 'Z' || state === 'X' || startTime === undefined ? null : startTime;
}

function startTimeFromPs(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [state = '', ...startTime] = line.split(/\s+/);
    return state === '' || state.startsWith('Z') ? null : startTime.join(' ');
  } catch {
    return null;
  }
}

/**
 * Identifies the set of processes within which a pid is unique: the host, its boot and, on Linux, the pid namespace,
 * because two containers may share a volume but see different processes under the same number.
 */
export function processSpace(): string {
  if (process.platform !== 'linux') return hostname();
  return [hostname(), readOrNull('/proc/sys/kernel/random/boot_id')?.trim(), pidNamespace()].join('/');
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
