// Tells one process from a later one that got the same pid, and this machine's (or container's) processes from others'.
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * When a process was started, as an opaque text to compare for equality.
 * Null when there is no such process, or only a zombie that nobody has waited for yet.
 */
export function processStartTime(pid: number): string | null {
  return process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
}

function startTimeFromProc(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field, the command's name, may hold spaces and parentheses: count from behind it.
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
 * Names the set of processes among which a pid means something: the host, its boot and, on Linux, the pid namespace,
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
