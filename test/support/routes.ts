/** The routes of the running application, read from Express, with their access rules. */
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application } from 'express';
import { RouteRule, RouteRules } from '../../src/access/route-rules.service';
import { layersOf } from '../../src/http/express-routes';

export interface Route {
  readonly method: string;
  /** The path as declared: `/p/:project_slug/storage/buckets`. */
  readonly path: string;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'];

export function routesOf(app: NestExpressApplication): Route[] {
  return layersOf(app.getHttpAdapter().getInstance() as Application).flatMap(({ route }) => {
    if (!route) return [];
    // Express registers a route for all methods under dozens of unusual methods.
    return METHODS.filter((method) => route.methods[method.toLowerCase()]).map((method) => ({
      method,
      path: route.path,
    }));
  });
}

/** The routes with their access rules, and a HEAD route for every GET route. */
export function guardedRoutesOf(app: NestExpressApplication): RouteRule[] {
  const rules = app.get(RouteRules).all();
  const routes = routesOf(app).flatMap((route) => {
    const rule = rules.find(
      ({ method, path }) => path === route.path && (method === 'ALL' || method === route.method),
    );
    if (!rule) throw new Error(`${route.method} ${route.path} has no access rule`);
    return [{ ...rule, ...route }];
  });
  const heads = routes
    .filter(({ method }) => method === 'GET')
    .filter(({ path }) => !routes.some((other) => other.method === 'HEAD' && other.path === path))
    .map((route) => ({ ...route, method: 'HEAD' }));
  return [...routes, ...heads];
}

/** Fills the parameters of a route's path; missing ones become an id that does not exist. */
export function fillPath(path: string, parameters: Record<string, string>): string {
  return path
    .replace(/:(\w+)/g, (_all, name: string) => parameters[name] ?? '00000000-0000-4000-8000-000000000000')
    .replace(/[{}]/g, '')
    .replace(/\*(\w+)/g, 'x');
}
