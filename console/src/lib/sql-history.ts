/** Statements that were run, in the browser of the person; the newest first. */

const LIMIT = 100;
const MAX_LENGTH = 20_000;

export interface HistoryEntry {
  readonly sql: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const nameOf = (projectId: string): string => `plinth.sql.${projectId}`;

export function readHistory(projectId: string): readonly HistoryEntry[] {
  try {
    const stored = JSON.parse(localStorage.getItem(nameOf(projectId)) ?? '[]') as unknown;
    return Array.isArray(stored)
      ? (stored as HistoryEntry[]).filter(({ sql }) => typeof sql === 'string')
      : [];
  } catch {
    return [];
  }
}

export function remember(projectId: string, sql: string, at: number): readonly HistoryEntry[] {
  if (sql.length > MAX_LENGTH) return readHistory(projectId);
  const others = readHistory(projectId).filter((one) => one.sql !== sql);
  const entries = [{ sql, at }, ...others].slice(0, LIMIT);
  try {
    localStorage.setItem(nameOf(projectId), JSON.stringify(entries));
  } catch {
    // The storage of the browser is full or forbidden: the history is a convenience.
  }
  return entries;
}

export function forget(projectId: string): void {
  localStorage.removeItem(nameOf(projectId));
}
