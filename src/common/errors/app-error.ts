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

/** Of these, a client gets the database's fields, the headers and, in areas with room for them, the further members. */
export interface AppErrorDetails {
  /** Reason phrase of HTTP/1.1 in place of the standard one: visible ASCII and blanks. */
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

  /** @param code stable and machine-readable; docs/reference lists those of each area @param message shown to the client */
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
