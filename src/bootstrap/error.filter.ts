/** The one place where errors are logged and written: the area's renderer, chosen by path, makes the body. */
import { ArgumentsHost, Catch, ExceptionFilter, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../common/errors/app-error';
import { ErrorRenderer } from '../common/errors/error-renderer';
import { toAppError } from './to-app-error';

@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Request');

  /**
   * @param renderers of the areas
   * @param fallback for all other paths
   */
  constructor(
    private readonly renderers: readonly ErrorRenderer[],
    private readonly fallback: ErrorRenderer,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const path = pathOf(request);
    const renderer = this.renderers.find((one) => one.matches(path)) ?? this.fallback;
    const error = toAppError(thrown, (sqlstate) => renderer.databaseStatus(sqlstate));
    this.log(error, request.method, path);
    respond(error, renderer, request, http.getResponse<Response>());
  }

  private log(error: AppError, method: string, path: string): void {
    const line = `${method} ${path} ${error.status} ${error.code}: ${error.message}`;
    const cause = error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : undefined;
    if (error.status >= 500) this.logger.error(line, cause ?? error.stack);
    else this.logger.debug(line);
  }
}

function respond(error: AppError, renderer: ErrorRenderer, request: Request, response: Response): void {
  if (response.headersSent) {
    // Too late for a status: breaking off is the only way to tell the client that the answer is not complete.
    response.destroy();
    return;
  }
  const body = JSON.stringify(renderer.render(error));
  response.writeHead(error.status, {
    ...error.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Without the query string, which may hold data and tokens. */
function pathOf(request: Request): string {
  const url = request.originalUrl;
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
