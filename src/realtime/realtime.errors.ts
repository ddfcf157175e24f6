/** Errors of Realtime's HTTP interface. */
import { AppError } from '../common/errors/app-error';

export const channelForbidden = (topic: string): AppError =>
  new AppError(403, 'forbidden', `You may not send to the private channel ${topic}`);
