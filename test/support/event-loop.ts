/**
 * Measures how long work blocks the event loop, in CPU time of the process, so that the time of other programs is not counted.
 * Compare it with a reference on the same machine.
 */

const POLL_INTERVAL_MS = 1;
const MIB = 1024 * 1024;

/** @returns the result, and the milliseconds of CPU that the process used in the meantime */
export async function cpuTime<Answer>(
  work: () => Promise<Answer>,
): Promise<{ answer: Answer; used: number }> {
  const before = process.cpuUsage();
  const answer = await work();
  return { answer, used: milliseconds(process.cpuUsage(before)) };
}

/** @returns the result, and the longest time that the event loop was blocked, in milliseconds of CPU */
export async function longestHold<Answer>(
  work: () => Promise<Answer>,
): Promise<{ answer: Answer; held: number }> {
  let held = 0;
  let before = process.cpuUsage();
  const look = (): void => {
    held = Math.max(held, milliseconds(process.cpuUsage(before)));
    before = process.cpuUsage();
  };
  const timer = setInterval(look, POLL_INTERVAL_MS);
  try {
    const answer = await work();
    look();
    return { answer, held };
  } finally {
    clearInterval(timer);
  }
}

/** Milliseconds of CPU for parsing ten MiB of JSON in one call: about 150 on a machine of 2024. */
export function costOfParsing(): number {
  const row = '{"a":1},';
  const json = `[${row.repeat((10 * MIB) / row.length)}{}]`;
  return Math.min(...[1, 2, 3].map(() => cpuTimeOf(() => JSON.parse(json))));
}

/** Milliseconds of CPU. */
export function cpuTimeOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return milliseconds(process.cpuUsage(before));
}

const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;
