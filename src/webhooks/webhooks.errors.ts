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

export const scheduleNotFound = (): AppError =>
  new AppError({ status: 404, code: 'schedule_not_found', message: 'No schedule has this id' });

export const scheduleExists = (name: string): AppError =>
  new AppError({
    status: 409,
    code: 'schedule_exists',
    message: `The project has a schedule named "${name}"`,
  });

export const tooManySchedules = (limit: number): AppError =>
  new AppError({
    status: 409,
    code: 'too_many_schedules',
    message: `The project has ${limit} schedules, which is the limit`,
  });

export const needsHttpPost = (): AppError =>
  new AppError({
    status: 409,
    code: 'http_post_needed',
    message:
      'A schedule with a url needs a webhook with the event http_post, whose secret signs its requests',
  });
