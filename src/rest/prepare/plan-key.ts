/** The key of a plan: everything in a request that decides its plan and its SQL. Requests of one key differ in values alone. */
import type { Payload } from '../body/payload';
import type { RequestShape } from '../grammar/rest-request';

/** Between parts; no part holds it. */
const END = '\0';

/**
 * The key of a request to a table.
 * @param payload null where there is none
 * @returns null for a body whose rows name different columns: its plan tells one row from another
 */
export function planKey(shape: RequestShape, payload: Payload | null): string | null {
  const body = payload === null ? '' : bodyKey(payload);
  if (body === null) return null;
  const { method, target, window, preferences, accept, profile } = shape;
  return [
    method,
    target.text,
    profile ?? '',
    `${window.limit},${window.offset}`,
    `${preferences.return},${preferences.resolution},${preferences.missing},${preferences.count}`,
    JSON.stringify(accept),
    body,
    shape.query.text,
  ].join(END);
}

/** The columns that the rows name, and how many rows there are as far as it matters. */
function bodyKey({ isList, rows }: Payload): string | null {
  const [names, ...others] = rows.shapes;
  if (!names) return '[]';
  if (others.length > 0) return null;
  // Rows that one program wrote name their columns in one order; another order is another key.
  return `${isList ? '[' : ''}${rows.count > 1 ? 'n' : '1'}${JSON.stringify(names)}`;
}
