// Lets one process at a time install and build in this clone. Plain Node: it runs before anything is installed.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;

/**
 * Runs `work` while holding the lock file, waiting for another process that holds it; the lock of a killed one is
 * taken over. `work` is given a function that makes the lock last as long as a child process too: one that outlives us
 * because we are killed goes on with what it does.
 * @template T
 * @param {string} file
 * @param {(shareWith: (pid: number) => void) => Promise<T>} work
 * @param {() => void} onWait told once when there is somebody to wait for
 * @returns {Promise<T>}
 */
export async function exclusively(file, work, onWait) {
  mkdirSync(path.dirname(file), { recursive: true });
  for (let waiting = false; !claim(file); waiting = true) {
    if (!waiting) onWait();
    await sleep(POLL_MS);
  }
  try {
    return await work((pid) => shareWith(file, pid));
  } finally {
    rmSync(file, { force: true });
  }
}

function shareWith(file, pid) {
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${identity(process.pid)}\n${identity(pid)}`);
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

/** Moves the lock of a dead process away. If a living one has claimed it at this very moment, gives it back. */
function putAsideIfDead(file, aside) {
  const holder = readOrNull(file);
  if (holder === null || isAlive(holder)) return;
  try {
    renameSync(file, aside);
    if (readOrNull(aside) !== holder) linkSync(aside, file);
  } catch {
    // Another process was quicker; the next round sees what it left.
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

/** One line: the pid and, where /proc tells it, the start time, because pids are used again. Null for a zombie. */
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
