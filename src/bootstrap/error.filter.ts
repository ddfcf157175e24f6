/** Logs errors and writes them as responses. A renderer, chosen by the path's area, writes the body. */
import { ArgumentsHost, Catch, ExceptionFilter, Logger } from '@nestjs/common';
import type { Request, Response, Application } from 'express';
import { CallerCheck } from '../access/caller-check.service';
import { AppError } from '../common/errors/app-error';
import { contextOf } from '../http/request-context';
import { ErrorRenderer } from '../http/errors/error-renderer';
import { UUID } from '../common/text/uuid';
import { toAppError } from './to-app-error';
import { type ExpressRoute, layersOf } from '../http/express-routes';

/**
 * The error for a path that exists for other methods only: 405 with `Allow` (RFC 9110, 15.5.6).
 * @param fault the 404 of a path without a route, or of a catch-all route
 * @returns the fault itself for an unknown path, or if the method is allowed
 */
function methodRefusal(fault: AppError, request: Request): AppError {
  if (fault.code !== 'not_found') return fault;
  const allowed = allowedMethods(request.app, request.path);
  if (allowed.length === 0 || allowed.includes(request.method)) return fault;
  return new AppError(405, 'method_not_allowed', `This address does not take ${request.method}`, {
    headers: { Allow: allowed.join(', ') },
    database: { sqlstate: 'PL405' },
  });
}

function allowedMethods(app: Application, path: string): string[] {
  const methods = layersOf(app)
    .filter((layer) => layer.route && !isCatchAll(layer.route) && layer.match(path))
    .flatMap(({ route }) => Object.keys(route?.methods ?? {}).map((method) => method.toUpperCase()));
  return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].sort();
}

/** True for a catch-all route, which responds that the path is unknown. Only such routes accept TRACE. */
function isCatchAll({ methods }: ExpressRoute): boolean {
  return methods.trace === true;
}

@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Request');

  /**
   * @param renderers one for each area
   * @param fallback for all other paths
   */
  constructor(
    private readonly renderers: readonly ErrorRenderer[],
    private readonly fallback: ErrorRenderer,
    private readonly callers: CallerCheck,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    const path = pathOf(request);
    const renderer = this.renderers.find((one) => one.matches(path)) ?? this.fallback;
    const found = toAppError(thrown, (sqlstate) => renderer.databaseStatus(sqlstate));
    const fault = methodRefusal(found, request);
    const refused = (await this.refusalBefore(fault, request)) ?? fault;
    const error = renderer.translate?.(refused, request) ?? refused;
    contextOf(request).errorCode = codeOf(error);
    this.log(error, request);
    if (!response.headersSent) await renderer.complete?.(path, response);
    respondOrAbort(error, renderer, request, response);
  }

  /** Errors in the request are reported only to valid callers; other callers get 401 instead. */
  private async refusalBefore({ status }: AppError, { caller }: Request): Promise<AppError | null> {
    const isAboutRequest = status >= 400 && status < 500 && status !== 401;
    return isAboutRequest && caller ? this.callers.refusalOf(caller) : null;
  }

  /**
   * Logs nothing that a client sent, because it may contain a key: in the query, in the path, in a value that
   * an error quotes. Route, project and code identify the error. For a fault of the installation, the cause is
   * logged too.
   */
  private log(error: AppError, request: Request): void {
    const project = request.caller ? ` (project ${request.caller.project.slug})` : '';
    const id = request.context?.id ?? null;
    const named = id === null ? '' : ` (request ${id})`;
    const line = `${request.method} ${routeOf(request)}${project}${named} ${error.status} ${codeOf(error)}`;
    // Logged at the level debug only: an administrator chose this state, and clients may retry as long as it lasts.
    const isIntended = error.code === 'project_paused';
    if (error.status < 500 || isIntended) this.logger.debug(line);
    else this.logger.error(line + detailsOf(error), causeOf(error));
  }
}

/** `/p/:project_slug/storage/files/:file_id` with ids filled in. Ids are not secret, but a table's name may be. */
function routeOf({ route, params }: Pick<Request, 'params'> & { route?: { path?: unknown } }): string {
  const pattern = route?.path;
  if (typeof pattern !== 'string') return '(no route)';
  return pattern.replace(/:(\w+)/g, (parameter, name: string) => {
    const value: unknown = params[name];
    return typeof value === 'string' && UUID.test(value) ? value : parameter;
  });
}

/** A project's own SQL may raise an error with any code. */
function codeOf({ code }: AppError): string {
  return /^\w{1,40}$/.test(code) ? code : '(a code of the project)';
}

function detailsOf({ details }: AppError): string {
  return Object.keys(details).length === 0 ? '' : `: ${JSON.stringify(details)}`;
}

function causeOf({ cause }: AppError): string | undefined {
  return cause instanceof Error ? (cause.stack ?? cause.message) : undefined;
}

interface Body {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** JSON, unless the client prefers HTML and the area has an HTML page. */
function bodyOf(error: AppError, renderer: ErrorRenderer, request: Request): Body {
  if (renderer.page && request.accepts(['json', 'html']) === 'html') {
    const page = renderer.page(error, pathOf(request), request.headers['accept-language']);
    if (page) return { text: page.html, headers: page.headers };
  }
  if (renderer.xml)
    return { text: renderer.xml(error, request), headers: { 'Content-Type': 'application/xml' } };
  return {
    text: JSON.stringify(renderer.render(error, request)),
    headers: { ...renderer.headers?.(error, request), 'Content-Type': 'application/json; charset=utf-8' },
  };
}

/** Nest does not await this filter: an error in it would end the process. */
function respondOrAbort(...[error, renderer, request, response]: Parameters<typeof respond>): void {
  try {
    respond(error, renderer, request, response);
  } catch (failure) {
    new Logger('Request').error(`the error could not be written: ${String(failure)}`);
    response.destroy();
  }
}

function respond(error: AppError, renderer: ErrorRenderer, request: Request, response: Response): void {
  if (response.headersSent) {
    // Too late for a status: only a broken connection tells the client that the response is incomplete.
    response.destroy();
    return;
  }
  const { text, headers } = bodyOf(error, renderer, request);
  if (error.statusText !== undefined) response.statusMessage = error.statusText;
  response.writeHead(error.status, {
    ...headers,
    ...error.headers,
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}

/** Without the query string, which may hold data and tokens. */
function pathOf(request: Request): string {
  const url = request.originalUrl;
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
