// CPU seconds and memory of processes and their children, from /proc (Linux; elsewhere the columns stay empty).
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/**
 * CPU seconds that a process and all its descendants have used so far.
 * @param exceptPid a descendant (the embedded PostgreSQL) that is excluded together with its own descendants
 */
export function cpuSeconds(rootPid, exceptPid) {
  let ticks = 0;
  for (const pid of tree(rootPid, exceptPid)) {
    const stat = read(`/proc/${pid}/stat`);
    if (!stat) continue;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // utime, stime, and the same of ended children.
    ticks += Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]);
  }
  return ticks / TICKS_PER_SECOND;
}

/**
 * The largest resident memory that a process has had so far, in MiB.
 * @param exceptPid if given, adds the memory of all descendants except this one
 */
export function peakMemoryMiB(pid, exceptPid) {
  return sumOf(exceptPid === undefined ? [pid] : tree(pid, exceptPid), (one) => {
    const match = /VmHWM:\s+(\d+) kB/.exec(read(`/proc/${one}/status`) ?? '');
    return match ? Number(match[1]) / 1024 : NaN;
  });
}

/** Memory of a process and all its descendants in MiB; pages that processes share count once (proc(5), Pss). */
export function sharedMemoryMiB(rootPid) {
  return sumOf(tree(rootPid), (pid) => {
    const match = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '');
    return match ? Number(match[1]) / 1024 : 0;
  });
}

/** The titles of a process' descendants, in which PostgreSQL shows role and database. */
export function titlesOf(rootPid) {
  return tree(rootPid).map((pid) => (read(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' '));
}

/** Resets the peak of resident memory to its current value (proc(5), clear_refs). */
export function resetPeakMemory(pid, exceptPid) {
  for (const one of exceptPid === undefined ? [pid] : tree(pid, exceptPid)) {
    writeFileSync(`/proc/${one}/clear_refs`, '5');
  }
}

function sumOf(pids, value) {
  return pids.reduce((sum, pid) => sum + value(pid), 0);
}

/** Pid of the postmaster of a cluster. */
export function postmasterPid(clusterDir) {
  return Number((read(`${clusterDir}/postmaster.pid`) ?? '').split('\n')[0]);
}

function tree(rootPid, exceptPid) {
  const children = new Map();
  for (const name of safeReaddir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = read(`/proc/${name}/stat`);
    if (!stat) continue;
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const all = [];
  for (let queue = [rootPid]; queue.length > 0;) {
    const pid = queue.pop();
    all.push(pid);
    queue.push(...(children.get(pid) ?? []).filter((child) => child !== exceptPid));
  }
  return all;
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function safeReaddir(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
