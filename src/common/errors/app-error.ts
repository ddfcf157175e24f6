/**
 * The one error type that reaches a client. Its public half (status, code, message, database fields) is sent; cause and
 * details are for the log only.
 */

/** The six fields of a database error as SPEC.md 7.3 shows them; null where the database gave none. */
export interface DatabaseErrorFields {
  readonly sqlstate: string;
  readonly detail: string | null;
  readonly hint: string | null;
  readonly constraint: string | null;
  readonly column: string | null;
}

export interface AppErrorOptions {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Reason phrase of HTTP/1.1 in place of the standard one: visible ASCII and blanks. */
  readonly statusText?: string;
  /** Stable machine-readable code; docs/reference lists those of each area. */
  readonly code: string;
  /** Shown to the client. */
  readonly message: string;
  /** Fields of the database's error, or Plinth's own in the same shape. */
  readonly database?: Partial<DatabaseErrorFields>;
  /** Extra response headers such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the body, for areas whose body has room for them. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Log only. */
  readonly cause?: unknown;
  /** Log only. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export class AppError extends Error {
  readonly status: number;
  readonly statusText: string | undefined;
  readonly code: string;
  readonly database: Partial<DatabaseErrorFields>;
  readonly headers: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(options: AppErrorOptions) {
    super(options.message, { cause: options.cause });
    this.name = 'AppError';
    this.status = options.status;
    this.statusText = options.statusText;
    this.code = options.code;
    this.database = options.database ?? {};
    this.headers = options.headers ?? {};
    this.extra = options.extra ?? {};
    this.details = options.details ?? {};
  }
}
