/**
 * Which server a read may use. Without a preference, this is the primary: a client that does not know about replicas
 * sees its own writes. A client that sends back the token of its last write gets a replica that shows it; `Prefer:
 * read=replica`, or the project's setting, admits any replica that is at most a second behind.
 */
import { createHash } from 'node:crypto';
import { parsePosition } from '../../database/replicas/log-position';
import type { ContextSettings } from '../../database/rls/rls-context';
import type { PreparedRequest } from '../prepare/prepared-request';
import { isReadOnly, type RequestSender } from './request-settings';

/** A header of the response to a write. A request with it sees the write. */
export const CONSISTENCY_TOKEN = 'X-Consistency-Token';

/** A server, and a position in its write-ahead log. */
const TOKEN = /^([0-9a-f]{8})\.([0-9A-F/]{3,17})$/;

const MARKS = new Map<string, string>();

/** The token for a position on a server: positions of another server, to which a project may move, mean nothing there. */
export function consistencyToken(server: string, position: string): string {
  return `${markOf(server)}.${position}`;
}

/** Finds the replica that a read may use. @returns undefined if the primary must be read */
export function replicaFor(
  { caller, facts }: RequestSender,
  prepared: PreparedRequest,
): ContextSettings['replica'] {
  const { server } = caller.database;
  if (server === undefined || !isRead(prepared)) return undefined;
  const { read } = prepared.shape.preferences;
  if (read === 'primary') return undefined;
  const token = facts.headers[CONSISTENCY_TOKEN.toLowerCase()];
  if (token !== undefined) return after(server, String(token));
  return read === 'replica' || caller.project.settings.read_from === 'replica' ? { after: null } : undefined;
}

function isRead({ plan, shape }: PreparedRequest): boolean {
  return plan.kind !== 'write' && shape.method !== 'POST' && isReadOnly({ plan, shape });
}

function after(server: string, token: string): ContextSettings['replica'] {
  const [, mark, text = ''] = TOKEN.exec(token) ?? [];
  const position = parsePosition(text);
  return mark === markOf(server) && position !== null ? { after: position } : undefined;
}

function markOf(server: string): string {
  let mark = MARKS.get(server);
  if (mark === undefined) {
    mark = createHash('sha256').update(server).digest('hex').slice(0, 8);
    MARKS.set(server, mark);
  }
  return mark;
}
