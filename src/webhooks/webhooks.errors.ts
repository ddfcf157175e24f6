/** Errors of webhooks. */
import { AppError } from '../common/errors/app-error';

export const webhookNotFound = (): AppError =>
  new AppError(404, 'webhook_not_found', 'No webhook has this id');

export const deliveryNotFound = (): AppError =>
  new AppError(404, 'delivery_not_found', 'The webhook has no delivery with this id');

export const deliveryNotFailed = (): AppError =>
  new AppError(409, 'delivery_waits', 'The delivery waits for its next attempt, or is being sent');

export const tooManyWebhooks = (limit: number): AppError =>
  new AppError(409, 'too_many_webhooks', `The project has ${limit} webhooks, which is the limit`);

/** @param reason PostgreSQL's message about the names and the SQL of the request */
export const webhookRefused = (reason: string, cause?: unknown): AppError =>
  new AppError(400, 'webhook_refused', reason, { cause });

export const scheduleNotFound = (): AppError =>
  new AppError(404, 'schedule_not_found', 'No schedule has this id');

export const scheduleExists = (name: string): AppError =>
  new AppError(409, 'schedule_exists', `The project has a schedule named "${name}"`);

export const tooManySchedules = (limit: number): AppError =>
  new AppError(409, 'too_many_schedules', `The project has ${limit} schedules, which is the limit`);

export const needsHttpPost = (): AppError =>
  new AppError(
    409,
    'http_post_needed',
    'A schedule with a url needs a webhook with the event http_post, whose secret signs its requests',
  );
