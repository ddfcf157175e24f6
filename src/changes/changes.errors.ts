/** Errors of subscriptions to changes. */
import { AppError } from '../common/errors/app-error';

export const badSubscription = (message: string, cause?: unknown): AppError =>
  new AppError(400, 'bad_subscription', message, { cause });

export const tableNotLive = (schema: string, table: string): AppError =>
  new AppError(
    404,
    'table_not_live',
    `Changes of ${schema}.${table} are not published: switch them on for the table, or add it to the publication supabase_realtime`,
  );

export const notReadable = (schema: string, table: string): AppError =>
  new AppError(403, 'table_not_readable', `permission denied for table ${schema}.${table}`);

export const tooManySubscriptions = (limit: number): AppError =>
  new AppError(
    429,
    'too_many_subscriptions',
    `The project has ${limit} subscriptions to changes, which is the limit`,
  );

/** @param reason shown to the client */
export const replicationUnavailable = (reason: string, cause?: unknown): AppError =>
  new AppError(503, 'changes_unavailable', `Changes cannot be followed: ${reason}`, {
    headers: { 'Retry-After': '5' },
    cause,
  });

export const tableUnknown = (schema: string, table: string): AppError =>
  new AppError(404, 'table_not_found', `There is no table ${schema}.${table}`);

export const needsIdentity = (schema: string, table: string): AppError =>
  new AppError(
    409,
    'replica_identity_needed',
    `${schema}.${table} needs a primary key or another replica identity: PostgreSQL would refuse to update and delete its rows`,
  );

export const allTablesLive = (): AppError =>
  new AppError(
    409,
    'all_tables_live',
    'The publication supabase_realtime is for all tables, so none can be added or taken out',
  );
