/**
 * The one error type that reaches a client. Its public half (status, code, message, database fields) is sent; cause and
 * details are for the log only.
 */

/** The six fields of a database error in responses of table REST; null where the database gave none. */
export interface DatabaseErrorFields {
  readonly sqlstate: string;
  readonly detail: string | null;
  readonly hint: string | null;
  readonly constraint: string | null;
  readonly column: string | null;
}

/** The fields of the database, the headers and, in areas that support them, the further members are sent to the client. */
export interface AppErrorDetails {
  /** Reason phrase of HTTP/1.1 in place of the standard one: visible ASCII and spaces. */
  readonly statusText?: string;
  /** Fields of the database's error, or Plinth's own in the same shape. */
  readonly database?: Partial<DatabaseErrorFields>;
  /** Extra response headers such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the body. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Log only. */
  readonly cause?: unknown;
  /** Log only. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export class AppError extends Error {
  readonly statusText: string | undefined;
  readonly database: Partial<DatabaseErrorFields>;
  readonly headers: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly details: Readonly<Record<string, unknown>>;

  /**
   * @param code stable and machine-readable; docs/reference lists the codes of each area @param message shown to the client
   */
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    { cause, statusText, database = {}, headers = {}, extra = {}, details = {} }: AppErrorDetails = {},
  ) {
    super(message, { cause });
    this.name = 'AppError';
    this.statusText = statusText;
    this.database = database;
    this.headers = headers;
    this.extra = extra;
    this.details = details;
  }
}

const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_parameters',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  408: 'request_timeout',
  409: 'conflict',
  411: 'length_required',
  413: 'payload_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  416: 'range_not_satisfiable',
  422: 'unprocessable_content',
  429: 'rate_limited',
  431: 'headers_too_large',
  500: 'internal_error',
  503: 'service_unavailable',
};

/** An error that the HTTP status describes sufficiently. Its SQLSTATE is `PL` and the status; 503 has a Retry-After. */
export function httpError(status: number, message: string, cause?: unknown, retryAfter = 1): AppError {
  return new AppError(
    status,
    CODES[status] ?? (status < 500 ? 'invalid_parameters' : 'internal_error'),
    message,
    {
      database: { sqlstate: `PL${status}` },
      headers: status === 503 ? { 'Retry-After': String(retryAfter) } : {},
      cause,
    },
  );
}

/** 503 for a condition that ends soon. */
export const busy = (message: string): AppError => httpError(503, message, undefined, 2);

/** A fault of the installation; the cause is for the log only. */
export const internalError = (cause?: unknown): AppError =>
  httpError(500, 'Something went wrong on our side', cause);

export const databaseUnreachable = (cause?: unknown): AppError =>
  new AppError(503, 'service_unavailable', 'The database cannot be reached', {
    database: { sqlstate: '08006' },
    headers: { 'Retry-After': '1' },
    cause,
  });

export const invalidParameters = (message: string): AppError => httpError(400, message);
