// Where the tests of `npm test` keep their files. Databases are created and dropped hundreds of times, and a file system on a disk
// takes a tenth of the whole time to create files beside ones that were just deleted.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import path from 'node:path';

const IN_MEMORY = '/dev/shm';
/** Bytes: twice as much as the tests were seen to use at once. */
const ROOM = 10 * 1024 ** 3;

/**
 * Sets TMPDIR to a new directory in memory if this system has one with enough room; it is removed when this process has ended.
 * Otherwise the tests use the directory of the system.
 */
export function keepTestFilesInMemory() {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return;
  const directory = mkdtempSync(path.join(IN_MEMORY, 'plinth-test-'));
  removeAtEnd(directory);
  if (!runsPrograms(directory)) return;
  // As /tmp: PostgreSQL runs as another user if the tests run as root.
  chmodSync(directory, 0o1777);
  process.env.TMPDIR = directory;
}

function hasRoom() {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize > ROOM && freemem() > ROOM;
  } catch {
    return false;
  }
}

/** Containers mount it with `noexec`. */
function runsPrograms(directory) {
  const file = path.join(directory, 'program');
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o700 });
  return spawnSync(file).status === 0;
}

/** By another process, because a signal may end this one: the files would stay in memory. */
function removeAtEnd(directory) {
  const script = 'while kill -0 "$0" 2>/dev/null; do sleep 1; done; rm -rf "$1"';
  spawn('sh', ['-c', script, String(process.pid), directory], { detached: true, stdio: 'ignore' }).unref();
}
