// Lets one process at a time install and build in this clone. No dependencies, because it runs before the installation.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;

/**
 * Runs `work` while holding the lock file. Waits if another process holds it, and takes over the lock of a killed process.
 * `work` gets a function that extends the lock to a further child process, which continues its work even if this process is
 * killed.
 * @template T
 * @param {string} file
 * @param {(shareWith: (pid: number) => void) => Promise<T>} work
 * @param {() => void} onWait called once if another process holds the lock
 * @returns {Promise<T>}
 */
export async function exclusively(file, work, onWait) {
  mkdirSync(path.dirname(file), { recursive: true });
  for (let waiting = false; !claim(file); waiting = true) {
    if (!waiting) onWait();
    await sleep(POLL_MS);
  }
  const holders = [process.pid];
  try {
    return await work((pid) => shareWith(file, holders, pid));
  } finally {
    rmSync(file, { force: true });
  }
}

function shareWith(file, holders, pid) {
  const next = `${file}.${process.pid}`;
  holders.push(pid);
  writeFileSync(next, holders.map(identity).join('\n'));
  renameSync(next, file);
}

function claim(file) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, identity(process.pid));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    putAsideIfDead(file, `${own}.dead`);
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Moves the lock of a dead process away. Puts it back if another process has claimed it meanwhile. */
function putAsideIfDead(file, aside) {
  const holder = readOrNull(file);
  if (holder === null || isAlive(holder)) return;
  try {
    renameSync(file, aside);
    if (readOrNull(aside) !== holder) linkSync(aside, file);
  } catch {
    // Another process was faster; the next attempt sees its result.
  }
  rmSync(aside, { force: true });
}

function isAlive(holders) {
  return holders.split('\n').some((holder) => {
    const pid = Number.parseInt(holder, 10);
    return pid > 0 && pid !== process.pid && exists(pid) && identity(pid) === holder;
  });
}

function exists(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** One line: the pid and, if /proc exists, the start time, because pids are reused. Null for a zombie. */
function identity(pid) {
  const stat = readOrNull(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return fields[0] === 'Z' ? null : `${pid} ${fields[19] ?? ''}`;
}

function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
