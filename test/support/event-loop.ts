/**
 * How long work holds the event loop, in CPU time of the process: a machine that is slow holds it as long for what it is
 * compared with, and time in which other programs run does not count.
 */

const LOOK_MS = 1;
const MIB = 1024 * 1024;

/** @returns the answer, and milliseconds of CPU of the longest time in which nothing else could be done */
export async function longestHold<Answer>(
  work: () => Promise<Answer>,
): Promise<{ answer: Answer; held: number }> {
  let held = 0;
  let before = process.cpuUsage();
  const look = (): void => {
    held = Math.max(held, milliseconds(process.cpuUsage(before)));
    before = process.cpuUsage();
  };
  const timer = setInterval(look, LOOK_MS);
  try {
    const answer = await work();
    look();
    return { answer, held };
  } finally {
    clearInterval(timer);
  }
}

/** Milliseconds of CPU that JSON of ten mebibytes takes to parse in one go: some 150 on a machine of 2024. */
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
