/** Status and headers of a write. As PostgREST's, unless DECISIONS.md says otherwise. */
import { isJsonObject } from '../../common/text/json';
import type { Execution } from '../execute/execution';
import type { PreparedRequest } from '../prepare/prepared-request';
import { addressHeader } from './header-text';
import type { ResponseHeaders } from './response-headers';

/** The status of a write. */
export function writeStatus({ plan, shape }: PreparedRequest, execution: Execution): number {
  if (plan.kind !== 'write') return 200;
  const returnsRows = plan.representation.kind !== 'none';
  switch (plan.write.kind) {
    case 'insert': {
      const isMerge = plan.write.conflict?.action === 'merge';
      const isNew = !isMerge || execution.inserted > 0;
      if (shape.method === 'PUT') return returnsRows ? (isNew ? 201 : 200) : 204;
      return isNew ? 201 : 200;
    }
    case 'update':
    case 'delete':
      return returnsRows ? 200 : 204;
  }
}

export function writeHeaders({ plan, shape }: PreparedRequest, rows: number): ResponseHeaders {
  const total = shape.preferences.count === null ? '*' : String(rows);
  if (plan.kind !== 'write' || shape.method === 'PUT') return {};
  if (plan.write.kind === 'update')
    return { 'Content-Range': `${rows > 0 ? `0-${rows - 1}` : '*'}/${total}` };
  return { 'Content-Range': `*/${total}` };
}

/** Bytes of the row, which has the key only. Parsed JSON takes up to 28 times as much memory. */
const LONGEST_ROW = 1024 * 1024;

/** The address of one inserted row, by its primary key; without it where that is longer than a header may be. */
export function locationHeader(
  { plan, shape }: PreparedRequest,
  first: () => Buffer | undefined,
  rows: number,
): ResponseHeaders {
  if (plan.kind !== 'write' || plan.write.kind !== 'insert') return {};
  if (shape.preferences.return !== 'headers-only' || rows !== 1) return {};
  const row = first();
  if (row === undefined || row.length > LONGEST_ROW) return {};
  const value: unknown = JSON.parse(withExactNumbers(row.toString()));
  if (!isJsonObject(value)) return {};
  const filters = [...plan.relation.primaryKey].sort().map((name) => {
    const key = value[name];
    const filter =
      key === null || key === undefined
        ? 'is.null'
        : `eq.${typeof key === 'string' ? key : JSON.stringify(key)}`;
    return `${encodeURIComponent(name)}=${encodeURIComponent(filter)}`;
  });
  if (filters.length === 0) return {};
  return addressHeader('Location', `/${encodeURIComponent(plan.relation.name)}?${filters.join('&')}`);
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** JSON text in which numbers that a double cannot hold, such as large bigints, are strings. */
function withExactNumbers(json: string): string {
  return json.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${token}"`,
  );
}
