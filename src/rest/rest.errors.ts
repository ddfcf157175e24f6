/**
 * Errors of table REST that are not the database's. `PL1xx` and `PL2xx` mean what PostgREST's `PGRST1xx` and
 * `PGRST2xx` mean, so that a client's table of codes still applies; codes from PLx50 on are Plinth's own. The
 * codes of the grammar are in grammar/grammar-error.ts.
 */
import { AppError } from '../common/errors/app-error';

export const REST_ERRORS = {
  PL102: { status: 400, meaning: 'The body does not parse, or is not what the operation takes.' },
  PL103: { status: 416, meaning: 'The requested range lies behind the last row.' },
  PL105: { status: 405, meaning: 'PUT needs filters on all and only the primary key columns, each with eq.' },
  PL106: { status: 406, meaning: 'The schema that Accept-Profile or Content-Profile names is not exposed.' },
  PL107: { status: 406, meaning: 'None of the media types that the client accepts can be made.' },
  PL108: { status: 400, meaning: 'A filter, order or limit names a resource that is not embedded.' },
  PL111: {
    status: 500,
    meaning: 'response.headers, set in SQL, is not a list of objects with one string each.',
  },
  PL112: { status: 500, meaning: 'response.status, set in SQL, is not an HTTP status.' },
  PL115: { status: 400, meaning: 'The primary key in the body of a PUT differs from the one in the URL.' },
  PL116: {
    status: 406,
    meaning: 'A single object was asked for, but the result has none (404) or several rows.',
  },
  PL118: { status: 400, meaning: 'Ordering by a related resource that is not to-one.' },
  PL120: { status: 400, meaning: 'An embedded resource can only be compared with null.' },
  PL121: { status: 500, meaning: "RAISE SQLSTATE 'PGRST' came without the JSON that it needs." },
  PL122: { status: 400, meaning: 'A preference is not known, under Prefer: handling=strict.' },
  PL124: { status: 400, meaning: 'More rows are affected than Prefer: max-affected allows.' },
  PL127: { status: 400, meaning: 'The combination of features is not available.' },
  PL128: { status: 400, meaning: 'max-affected on a function that returns no set.' },
  PL155: { status: 400, meaning: 'PATCH and DELETE need a filter; nothing was changed.' },
  PL156: { status: 405, meaning: 'The relation does not support the method: a view that cannot be updated.' },
  PL157: { status: 415, meaning: 'The Content-Type of the body is not one that the operation reads.' },
  PL158: { status: 400, meaning: 'A cast to a type whose values name objects of the system catalog.' },
  PL159: { status: 400, meaning: 'The result is larger than MAX_RESULT_SIZE, and cannot be streamed.' },
  PL200: { status: 400, meaning: 'There is no relationship between the resource and the embedded one.' },
  PL201: { status: 300, meaning: 'More than one relationship fits; details lists the candidates.' },
  PL202: { status: 404, meaning: 'There is no function of that name that takes these arguments.' },
  PL203: { status: 300, meaning: 'More than one function fits the arguments.' },
  PL204: { status: 400, meaning: 'A column of the body or of columns= does not exist.' },
  PL205: { status: 404, meaning: 'There is no such table or view in the exposed schemas.' },
} as const;

export type RestErrorCode = keyof typeof REST_ERRORS;

interface ErrorText {
  /** Replaces the status that the code has by default. */
  readonly status?: number;
  readonly message: string;
  readonly detail?: string | null;
  readonly hint?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export function restError(code: RestErrorCode, text: ErrorText): AppError {
  return statedError(code, REST_ERRORS[code].status, text);
}

/** An error with PostgreSQL's own code and message. @param status default: 400 */
export function statedError(code: string, status: number, text: ErrorText): AppError {
  const { message, detail = null, hint = null, headers, extra, cause } = text;
  const database = { sqlstate: code, detail, hint };
  return new AppError(text.status ?? status, code, message, { database, headers, extra, cause });
}

export const invalidBody = (message: string, cause?: unknown): AppError =>
  restError('PL102', { message, cause });

/** JSON can contain a NUL as \u0000; PostgreSQL converts its members to text, which cannot contain one. */
export const textHoldsNul = (cause: unknown): AppError =>
  statedError('22P05', 400, {
    message: 'A value holds a NUL character (\\u0000), which text in PostgreSQL cannot hold',
    cause,
  });

export const missingFilter = (method: string): AppError =>
  restError('PL155', {
    message: `${method} needs a filter`,
    detail: 'Nothing was changed.',
    hint: `Limit it with a filter such as id=eq.1; to reach every row, name one that always holds.`,
  });

export const columnNotFound = (relation: string, column: string): AppError =>
  restError('PL204', {
    message: `Could not find the '${column}' column of '${relation}' in the schema cache`,
  });

/** The error for an unknown column in select, filter or order. */
export const undefinedColumn = (relation: string, column: string): AppError =>
  statedError('42703', 400, { message: `column ${relation}.${column} does not exist` });

/** @param similar a relation of that schema that the caller has rights to */
export const relationNotFound = (schema: string, name: string, similar: string | null): AppError =>
  restError('PL205', {
    message: `Could not find the table '${schema}.${name}' in the schema cache`,
    hint: similar === null ? null : `Perhaps you meant the table '${schema}.${similar}'`,
  });

export const notEmbedded = (resource: string): AppError =>
  restError('PL108', {
    message: `'${resource}' is not an embedded resource in this request`,
    hint: `Verify that '${resource}' is included in the 'select' query parameter.`,
  });

/** No row gives 404, several rows give 406. */
export const notSingular = (rows: number): AppError =>
  restError('PL116', {
    status: rows === 0 ? 404 : undefined,
    message: 'Cannot coerce the result to a single JSON object',
    detail: `The result contains ${rows} rows`,
  });

export const methodNotAllowed = (relation: string, method: string, allowed: string): AppError =>
  restError('PL156', {
    message: `${method} is not possible on '${relation}'`,
    headers: { Allow: allowed },
  });

export const maxAffectedExceeded = (rows: number): AppError =>
  restError('PL124', {
    message: 'Query result exceeds max-affected preference constraint',
    detail: `The query affects ${rows} rows`,
  });

export const putMismatch = (): AppError =>
  restError('PL115', { message: 'Payload values do not match URL in primary key column(s)' });

export const outOfRange = (offset: number, total: number): AppError =>
  restError('PL103', {
    message: 'Requested range not satisfiable',
    detail: `An offset of ${offset} was requested, but there are only ${total} rows.`,
    headers: { 'Content-Range': `*/${total}` },
  });
