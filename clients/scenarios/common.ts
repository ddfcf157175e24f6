/** What every scenario needs: the server, the keys, and a way to say that a step is done. */
export const BASE_URL = process.env['BASE_URL'] ?? '';
export const ANON_KEY = process.env['ANON_KEY'] ?? '';

export const account = { email: `ada-${Date.now()}@example.com`, password: 'correct horse' };

/** A test reads the steps from standard output. */
export function done(step: string): void {
  console.log(step);
}

/** The value of a step that must succeed. */
export function given<T>(value: T | null | undefined, error?: unknown): T {
  if (value === null || value === undefined) throw new Error(`no answer: ${JSON.stringify(error)}`);
  return value;
}

/** The rows of a write, whose answer has none where the request asked for none. */
export function rowsOf<T>(answer: readonly T[] | void | null): readonly T[] {
  if (!Array.isArray(answer)) throw new Error(`no rows: ${JSON.stringify(answer)}`);
  return answer;
}

export function headersOf(token: string): { apikey: string; Authorization: string } {
  return { apikey: ANON_KEY, Authorization: `Bearer ${token}` };
}
