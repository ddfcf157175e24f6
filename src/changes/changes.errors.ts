/** Errors of subscriptions to changes. */
import { AppError } from '../common/errors/app-error';

export const badSubscription = (message: string, cause?: unknown): AppError =>
  new AppError({ status: 400, code: 'bad_subscription', message, cause });

export const tableNotLive = (schema: string, table: string): AppError =>
  new AppError({
    status: 404,
    code: 'table_not_live',
    message: `Changes of ${schema}.${table} are not published: switch them on for the table, or add it to the publication supabase_realtime`,
  });

export const notReadable = (schema: string, table: string): AppError =>
  new AppError({
    status: 403,
    code: 'table_not_readable',
    message: `permission denied for table ${schema}.${table}`,
  });

export const tooManySubscriptions = (limit: number): AppError =>
  new AppError({
    status: 429,
    code: 'too_many_subscriptions',
    message: `The project has ${limit} subscriptions to changes, which is the limit`,
  });

/** @param reason shown to the client */
export const replicationUnavailable = (reason: string, cause?: unknown): AppError =>
  new AppError({
    status: 503,
    code: 'changes_unavailable',
    message: `Changes cannot be followed: ${reason}`,
    headers: { 'Retry-After': '5' },
    cause,
  });

export const tableUnknown = (schema: string, table: string): AppError =>
  new AppError({ status: 404, code: 'table_not_found', message: `There is no table ${schema}.${table}` });

export const needsIdentity = (schema: string, table: string): AppError =>
  new AppError({
    status: 409,
    code: 'replica_identity_needed',
    message: `${schema}.${table} needs a primary key or another replica identity: PostgreSQL would refuse to update and delete its rows`,
  });

export const allTablesLive = (): AppError =>
  new AppError({
    status: 409,
    code: 'all_tables_live',
    message: 'The publication supabase_realtime is for all tables, so none can be added or taken out',
  });
