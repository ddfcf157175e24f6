/** A request as listeners of a project's live requests get it, and its form between processes. */
import { isJsonObject, parseJson } from '../../common/text/json';
import { EndedRequest } from '../ended-request';

export interface LiveRequest {
  /** The time at which the request began (RFC 3339). */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly role: string | null;
  readonly ms: number;
  readonly ms_database: number | null;
  readonly bytes: number;
}

/** Requests of one project from one process. */
export interface LiveBatch {
  readonly projectId: string;
  readonly requests: readonly LiveRequest[];
  /** Number of requests that were left out, because there were too many. */
  readonly dropped: number;
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

export function toLiveRequest({ beganAt, databaseMs, ms, ...ended }: EndedRequest): LiveRequest {
  return {
    at: new Date(beganAt).toISOString(),
    method: ended.method,
    path: ended.path,
    status: ended.status,
    role: ended.role,
    ms: tenths(ms),
    ms_database: databaseMs === null ? null : tenths(databaseMs),
    bytes: ended.bytes,
  };
}

/** Maximum characters of a payload: PostgreSQL refuses notifications of 8,000 bytes or more. */
const MAX_PAYLOAD = 7_800;

/** Splits the batch into as many payloads as it needs. @param from id of this process */
export function payloadsOf(from: string, { projectId, requests, dropped }: LiveBatch): string[] {
  const payloads: string[] = [];
  let part: LiveRequest[] = [];
  let size = 0;
  const close = (lost: number): void => {
    payloads.push(JSON.stringify({ from, projectId, requests: part, dropped: lost }));
    [part, size] = [[], 0];
  };
  for (const request of requests) {
    const bytes = Buffer.byteLength(JSON.stringify(request)) + 1;
    if (size + bytes > MAX_PAYLOAD - 200) close(0);
    part.push(request);
    size += bytes;
  }
  close(dropped);
  return payloads;
}

/** Null for a malformed payload of another process, for example from another version. */
export function batchOf(payload: string): (LiveBatch & { readonly from: string }) | null {
  const batch = parseJson(payload);
  if (!isJsonObject(batch)) return null;
  const { from, projectId, requests, dropped } = batch;
  const isWhole = typeof from === 'string' && typeof projectId === 'string' && typeof dropped === 'number';
  if (!isWhole || !Array.isArray(requests)) return null;
  return { from, projectId, requests: requests as unknown as LiveRequest[], dropped };
}
