/** The error body of Realtime's HTTP interface: realtime-js shows `message`. */
import { AppError } from '../../common/errors/app-error';
import type { ErrorRenderer } from '../../http/errors/error-renderer';
import { statusOfSqlstate } from '../../http/errors/sqlstate-status';

export interface RealtimeErrorBody {
  readonly message: string;
  readonly code: string;
}

export const realtimeErrorBody = ({ message, code }: AppError): RealtimeErrorBody => ({ message, code });

export class RealtimeErrorRenderer implements ErrorRenderer {
  matches(path: string): boolean {
    return /^\/p\/[^/]+\/realtime\/v1(\/|$)/.test(path) || /^\/realtime\/v1(\/|$)/.test(path);
  }

  readonly databaseStatus = statusOfSqlstate;

  render(error: AppError): RealtimeErrorBody {
    return realtimeErrorBody(error);
  }
}
