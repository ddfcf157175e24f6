/** Errors of Realtime's HTTP interface. */
import { AppError } from '../common/errors/app-error';

export const channelForbidden = (topic: string): AppError =>
  new AppError({
    status: 403,
    code: 'forbidden',
    message: `You may not send to the private channel ${topic}`,
  });
