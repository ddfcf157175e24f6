/**
 * Measures how long work blocks the event loop, in CPU time of the loop's thread: the time of other programs and of
 * V8's garbage collection and compiler threads is not counted. Compare it with a reference on the same machine.
 */
import { readFileSync } from 'node:fs';

const POLL_INTERVAL_MS = 1;
const MIB = 1024 * 1024;

/** @returns the result, and the CPU time of this thread in milliseconds */
export async function cpuTime<Answer>(
  work: () => Promise<Answer>,
): Promise<{ answer: Answer; used: number }> {
  const before = threadTime();
  const answer = await work();
  return { answer, used: threadTime() - before };
}

/** @returns the result, and the longest time that the event loop was blocked, in milliseconds of CPU */
export async function longestHold<Answer>(
  work: () => Promise<Answer>,
): Promise<{ answer: Answer; held: number }> {
  let held = 0;
  let before = threadTime();
  const measure = (): void => {
    const now = threadTime();
    held = Math.max(held, now - before);
    before = now;
  };
  const timer = setInterval(measure, POLL_INTERVAL_MS);
  try {
    const answer = await work();
    measure();
    return { answer, held };
  } finally {
    clearInterval(timer);
  }
}

/** Milliseconds of CPU for parsing ten MiB of JSON in one call, about 150 on a machine from 2024. */
export function costOfParsing(): number {
  const row = '{"a":1},';
  const json = `[${row.repeat((10 * MIB) / row.length)}{}]`;
  return Math.min(...[1, 2, 3].map(() => cpuTimeOf(() => JSON.parse(json))));
}

/** A duration in milliseconds of CPU time. */
export function cpuTimeOf(work: () => unknown): number {
  const before = threadTime();
  work();
  return threadTime() - before;
}

/** CPU time of this thread so far, in milliseconds. Read from Linux, because Node 20 does not provide it. */
function threadTime(): number {
  try {
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}
