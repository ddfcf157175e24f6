/** The routes that the running application really has, read from Express. */
import type { NestExpressApplication } from '@nestjs/platform-express';

export interface Route {
  readonly method: string;
  /** As declared: `/p/:project_slug/storage/buckets`. */
  readonly path: string;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'];

interface Layer {
  readonly route?: { readonly path: string | string[]; readonly methods: Record<string, boolean> };
}

export function routesOf(app: NestExpressApplication): Route[] {
  const { router } = app.getHttpAdapter().getInstance() as { router: { stack: Layer[] } };
  return router.stack.flatMap(({ route }) => {
    if (!route) return [];
    const paths = Array.isArray(route.path) ? route.path : [route.path];
    const declared = Object.keys(route.methods).map((method) => method.toUpperCase());
    // A route for all methods is declared for dozens that no HTTP client sends.
    const methods = route.methods._all ? METHODS : METHODS.filter((method) => declared.includes(method));
    return paths.flatMap((path) => methods.map((method) => ({ method, path })));
  });
}

/** Fills the parameters of a route's path; those not given become an id that nothing has. */
export function fillPath(path: string, parameters: Record<string, string>): string {
  return path
    .replace(/:(\w+)/g, (_all, name: string) => parameters[name] ?? '00000000-0000-4000-8000-000000000000')
    .replace(/[{}]/g, '')
    .replace(/\*(\w+)/g, 'x');
}
