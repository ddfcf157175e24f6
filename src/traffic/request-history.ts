/** A request as an entry of its project's history. */
import type { HistoryEntry, HistorySource } from '../install/history/history-entry';
import type { EndedRequest, Ending, ObservedRequest } from './ended-request';

const SLOW_MS = 1_000;
const SOURCE = /^(?:\/p\/[^/]*)?\/(?:v1\/)?(rest|auth|storage|realtime)\b/;

export const isNotable = ({ status, ms }: Ending): boolean => status >= 400 || ms >= SLOW_MS;

export function toHistoryEntry(ended: EndedRequest, { context }: ObservedRequest): HistoryEntry {
  const { beganAt, method, path, status, role, ms, databaseMs, bytes } = ended;
  return {
    at: beganAt,
    source: (SOURCE.exec(path)?.[1] ?? 'other') as HistorySource,
    method,
    path,
    status,
    role,
    ms,
    ms_database: databaseMs,
    bytes,
    error: context?.errorCode ?? null,
    request_id: context?.id ?? null,
    statement: context?.statement ?? null,
  };
}
