/** Failures of calls, in one form for all areas of the API. */

/** Fields of PostgreSQL's error, if the call failed in the database. */
interface DatabaseFault {
  readonly detail?: string | null;
  readonly hint?: string | null;
  readonly location?: { readonly line: number; readonly column: number } | null;
}

export class ApiError extends Error {
  constructor(
    /** 0 if the server did not answer. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly database: DatabaseFault | null = null,
    /** Seconds after which the server accepts another attempt, if the response states them. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

interface Answer {
  readonly status: number;
  readonly headers?: Headers;
}

/** @param body of the response: an error of administration, auth, storage or table REST */
export function toApiError({ status, headers }: Answer, body: unknown): ApiError {
  const outer = asObject(body);
  const error = asObject(outer.error ?? body);
  const detail = asObject(outer.detail);
  const database = error.database === undefined ? detail : asObject(error.database);
  return new ApiError(
    status,
    text(error.code) ?? 'unknown',
    text(error.message) ?? `HTTP ${status}`,
    Object.keys(database).length > 0 ? database : null,
    Number.parseInt(headers?.get('Retry-After') ?? '', 10) || null,
  );
}

/** True if no server answered, for example during a restart, or a proxy reported it. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return [0, 502, 504].includes(error.status) || (error.status === 503 && error.code !== 'project_paused');
}

/** True if another attempt may succeed, because the server did not answer or did not decide. */
export function isTransient(error: unknown): boolean {
  return (
    !(error instanceof ApiError) ||
    isUnreachable(error) ||
    error.status === 429 ||
    (error.status >= 500 && error.code !== 'project_paused')
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function asObject(value: unknown): Record<string, never> {
  return typeof value === 'object' && value !== null ? (value as Record<string, never>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
