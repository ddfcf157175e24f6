/** The Content-Type of a response. */
import type { RequestPlan } from '../plan/plan';

/** PostgREST names the charset of the types that it knows itself; a project's own media types stay as they are. */
const WITH_CHARSET = new Set([
  'application/json',
  'application/geo+json',
  'application/openapi+json',
  'text/csv',
  'text/plain',
  'text/xml',
]);

export function contentType({ contentType: type, representation }: RequestPlan): string {
  const isOpaque = representation.kind === 'handler' && !WITH_CHARSET.has(type);
  return isOpaque ? type : `${type}; charset=utf-8`;
}
