/** Errors of SQL that an administrator sends. */
import { DatabaseError } from 'pg';
import { AppError } from '../common/errors/app-error';
import { lineAndColumn, TextLocation } from '../common/text/sql-statements';

/** Classes of SQLSTATEs that concern the server, not the SQL: connection, resources, shutdown. */
const SERVER_CLASSES = new Set(['08', '53', '58', 'XX']);

const POLICY_OF_VIEW =
  'storage.objects is a view, whose policies cannot be altered. Use storage.files: name is filename there, and bucket_id ' +
  "the bucket's uuid, as in storage.bucket_name(bucket_id) = 'avatars'";

/**
 * The administrator's SQL failed and was rolled back. The response contains every field of the database's
 * error, because the SQL is the caller's own.
 * @param query the text that ran, for the line and column of the error
 */
export function sqlFailed(error: DatabaseError, query: string): AppError {
  const position = error.position === undefined ? null : Number(error.position);
  return failedAt(error, query, position, position === null ? null : lineAndColumn(query, position));
}

/** Like sqlFailed(), with the migration and a location in its script instead of a position. */
export function migrationFailed(
  error: DatabaseError,
  { sql, version, name }: { readonly sql: string; readonly version: string; readonly name: string },
  location: TextLocation | null,
): AppError {
  return failedAt(error, sql, null, location, { migration: { version, name } });
}

/** PostgreSQL's hint, or for a policy of Supabase that is not translated what to write instead of it. */
function hintFor({ code, hint, message }: DatabaseError, query: string): string | null {
  const isPolicy =
    code === '42809' && message.includes('"objects"') && /\bstorage"?\."?objects\b/i.test(query);
  return hint ?? (isPolicy ? POLICY_OF_VIEW : null);
}

function failedAt(
  error: DatabaseError,
  query: string,
  position: number | null,
  location: TextLocation | null,
  extra: Readonly<Record<string, unknown>> = {},
): AppError {
  const { code: sqlstate = 'XX000', message, detail, constraint, column, table, schema, where } = error;
  const isServers = SERVER_CLASSES.has(sqlstate.slice(0, 2)) || sqlstate.startsWith('57P');
  return new AppError(isServers ? 503 : 400, sqlstate, message, {
    headers: isServers ? { 'Retry-After': '1' } : {},
    extra: {
      ...extra,
      database: {
        sqlstate,
        detail: detail ?? null,
        hint: hintFor(error, query),
        constraint: constraint ?? null,
        column: column ?? null,
        table: table ?? null,
        schema: schema ?? null,
        position,
        location,
        where: where ?? null,
      },
    },
    cause: error,
  });
}

export const sqlTookTooLong = (seconds: number, cause: unknown): AppError =>
  new AppError(
    400,
    '57014',
    `The SQL took longer than ${seconds} s and was ended; raise timeout_seconds or use psql`,
    { cause },
  );

/** Written to the audit log only: the client has disconnected. */
export const sqlAbandoned = (): AppError =>
  new AppError(400, '57014', 'The client disconnected before the SQL ran');

export const tooManyStatements = (most: number): AppError =>
  new AppError(
    400,
    'invalid_parameters',
    `The SQL has more than ${most} statements: send it in several requests`,
  );

export const tooManyColumns = (most: number): AppError =>
  new AppError(
    400,
    'invalid_parameters',
    `The results of the statements have more than ${most} columns together: the SQL was ended, and may have taken effect`,
  );

export const transactionLeftOpen = (): AppError =>
  new AppError(
    400,
    'invalid_parameters',
    'The SQL began a transaction that it did not end; the transaction was rolled back',
  );

export const savedQueryNotFound = (): AppError =>
  new AppError(404, 'query_not_found', 'There is no such saved query, or it is not yours');

export const savedQueryExists = (name: string): AppError =>
  new AppError(409, 'query_exists', `You have a query "${name}" already`);

export const tooManySavedQueries = (most: number): AppError =>
  new AppError(409, 'too_many_queries', `You have ${most} queries in this project`);
