/** What every scenario needs: the server, the key, and ways to read an answer. */
import assert from 'node:assert/strict';

export const BASE_URL = process.env['BASE_URL'] ?? '';
export const ANON_KEY = process.env['ANON_KEY'] ?? '';

export function headersOf(token: string): { apikey: string; Authorization: string } {
  return { apikey: ANON_KEY, Authorization: `Bearer ${token}` };
}

/** The value of a request that must succeed. */
export function given<T>(value: T | null | undefined, error?: unknown): T {
  if (value === null || value === undefined) throw new Error(`no answer: ${JSON.stringify(error)}`);
  return value;
}

/** The rows of a write, whose answer has none where the request asked for none. */
export function rowsOf<T>(answer: readonly T[] | object | void | null): readonly T[] {
  if (!Array.isArray(answer)) throw new Error(`no rows: ${JSON.stringify(answer)}`);
  return answer as readonly T[];
}

/** What a promise is rejected with. */
export function rejectionOf(request: Promise<unknown>): Promise<unknown> {
  return request.then(
    () => Promise.reject(new Error('the request succeeded')),
    (reason: unknown) => reason,
  );
}

/**
 * A body that a schema accepts.
 * @throws AssertionError if the schema adds members: a default that is sent would overwrite a value that is kept otherwise
 */
export function unchanged<T>(schema: { parse(value: unknown): unknown }, body: T): T {
  assert.deepEqual(schema.parse(body), body);
  return body;
}
