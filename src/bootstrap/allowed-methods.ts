/** The methods of a path, from the application's routes. */
import type { Application, Request } from 'express';
import { AppError } from '../common/errors/app-error';
import { type ExpressRoute, layersOf } from '../http/express-routes';

/**
 * The error for a path that exists for other methods only: 405 with `Allow` (RFC 9110, 15.5.6).
 * @param fault the 404 of a path without a route, or of a catch-all route
 * @returns the fault itself for an unknown path, or if the method is allowed
 */
export function methodRefusal(fault: AppError, request: Request): AppError {
  if (fault.code !== 'not_found') return fault;
  const allowed = allowedMethods(request.app, request.path);
  if (allowed.length === 0 || allowed.includes(request.method)) return fault;
  return new AppError({
    status: 405,
    code: 'method_not_allowed',
    message: `This address does not take ${request.method}`,
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
