/** Statements that were run, newest first. The browser stores them separately for each person. */
import { currentSession, personOf } from '../api/session';

const LIMIT = 100;
const MAX_LENGTH = 20_000;

export interface HistoryEntry {
  readonly sql: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface SavedQuery {
  readonly name: string;
  readonly sql: string;
}

const nameOf = (projectId: string): string => `plinth.sql.${projectId}.${personOf(currentSession()) ?? ''}`;
const savedNameOf = (projectId: string): string => `plinth.saved-sql.${projectId}`;

function read(name: string): readonly unknown[] {
  try {
    const stored = JSON.parse(localStorage.getItem(name) ?? '[]') as unknown;
    return Array.isArray(stored) ? stored : [];
  } catch {
    return [];
  }
}

function write(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The storage of the browser is full or forbidden: these lists are a convenience.
  }
}

export function readHistory(projectId: string): readonly HistoryEntry[] {
  return (read(nameOf(projectId)) as HistoryEntry[]).filter((one) => typeof one?.sql === 'string');
}

export function remember(projectId: string, sql: string, at: number): readonly HistoryEntry[] {
  if (sql.length > MAX_LENGTH) return readHistory(projectId);
  const others = readHistory(projectId).filter((one) => one.sql !== sql);
  const entries = [{ sql, at }, ...others].slice(0, LIMIT);
  write(nameOf(projectId), entries);
  return entries;
}

export function forget(projectId: string): void {
  localStorage.removeItem(nameOf(projectId));
}

/** Queries that an earlier version of the console saved in the browser. */
export function readSaved(projectId: string): readonly SavedQuery[] {
  return (read(savedNameOf(projectId)) as SavedQuery[]).filter(
    (one) => typeof one?.sql === 'string' && typeof one.name === 'string',
  );
}

export function forgetSaved(projectId: string): void {
  localStorage.removeItem(savedNameOf(projectId));
}
