/** How many connections to projects' databases a process may open by default, and how much memory its budgets may use. */
import { totalmem } from 'node:os';

/** Bytes of the machine's memory for each connection: a backend takes 3 to 10 MB, and most of the memory has other uses. */
const MEMORY_FOR_EACH = 32 * 1024 * 1024;
/** The minimum for all processes together. */
const MIN_CONNECTIONS = 80;
/** More connections would help only if more than 250 projects were in use in the same second. */
const MAX_CONNECTIONS = 250;
/** The default limit of PostgreSQL's own connections is 100. */
const OTHER_SERVER = 80;

/**
 * The default of DATABASE_MAX_CONNECTIONS.
 * @param url DATABASE_URL; undefined: the embedded PostgreSQL, which shares this machine's memory
 */
export function defaultConnections(
  url: string | undefined,
  processes: number,
  memory = machineMemory(),
): number {
  if (url !== undefined) return OTHER_SERVER;
  const all = Math.min(MAX_CONNECTIONS, Math.max(MIN_CONNECTIONS, Math.floor(memory / MEMORY_FOR_EACH)));
  return Math.floor(all / Math.min(processes, MIN_CONNECTIONS / 10));
}

/**
 * A share of the memory for each of several processes, up to a maximum. @param most the maximum in bytes @param parts the share
 * is one of this many parts of the memory
 */
export function memoryBudget(
  most: number,
  parts: number,
  processes: number,
  memory = machineMemory(),
): number {
  return Math.floor(Math.min(most, memory / parts / processes));
}

/** Bytes that this process may use: of the machine, or less in a container. */
function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit ? Math.min(limit, totalmem()) : totalmem();
}
