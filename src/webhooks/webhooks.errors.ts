/** Errors of webhooks. */
import { AppError } from '../common/errors/app-error';

export const webhookNotFound = (): AppError =>
  new AppError({ status: 404, code: 'webhook_not_found', message: 'No webhook has this id' });

export const deliveryNotFound = (): AppError =>
  new AppError({
    status: 404,
    code: 'delivery_not_found',
    message: 'The webhook has no delivery with this id',
  });

export const deliveryNotFailed = (): AppError =>
  new AppError({
    status: 409,
    code: 'delivery_waits',
    message: 'The delivery waits for its next attempt, or is being sent',
  });

export const tooManyWebhooks = (limit: number): AppError =>
  new AppError({
    status: 409,
    code: 'too_many_webhooks',
    message: `The project has ${limit} webhooks, which is the limit`,
  });

/** @param reason of PostgreSQL, about the names and the SQL of the request */
export const webhookRefused = (reason: string, cause?: unknown): AppError =>
  new AppError({ status: 400, code: 'webhook_refused', message: reason, cause });
