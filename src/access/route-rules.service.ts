/** The access rule of every route. The application does not start with a route that has none. */
import { Injectable, type OnApplicationBootstrap, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { DiscoveryService, HttpAdapterHost, MetadataScanner, Reflector } from '@nestjs/core';
import type { Application } from 'express';
import { messageOf } from '../common/errors/error-facts';
import { type ExpressRoute, layersOf } from '../http/express-routes';
import { Access, accessOf, type Handler } from './access-rule';

export interface RouteRule extends Access {
  /** `GET`, which stands for HEAD as well; `ALL` for every method. */
  readonly method: string;
  /** As declared: `/p/:project_slug/storage/buckets`. */
  readonly path: string;
}

@Injectable()
export class RouteRules implements OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
    private readonly host: HttpAdapterHost,
  ) {}

  /** Nest calls this once the routes are registered. @throws Error that names every route without a rule */
  onApplicationBootstrap(): void {
    const faults: string[] = [];
    const rules = this.collect(faults);
    for (const { route } of layersOf(this.host.httpAdapter.getInstance<Application>())) {
      if (route && !rules.some((rule) => isOf(rule, route)))
        faults.push(`${methodsOf(route)} ${route.path}: it belongs to no controller`);
    }
    if (faults.length > 0) throw new Error(`Routes without an access rule:\n${faults.join('\n')}`);
  }

  /** In the order of registration. */
  all(): RouteRule[] {
    return this.collect([]);
  }

  private collect(faults: string[]): RouteRule[] {
    return this.discovery
      .getControllers()
      .flatMap(({ metatype }) => (metatype ? this.rulesOf(metatype as Type, faults) : []));
  }

  private rulesOf(controller: Type, faults: string[]): RouteRule[] {
    const prototype = controller.prototype as Record<string, Handler>;
    return this.scanner.getAllMethodNames(prototype).flatMap((name) => {
      const handler = prototype[name];
      const paths = handler ? this.pathsOf(handler) : [];
      if (!handler || paths.length === 0) return [];
      const method = RequestMethod[this.reflector.get<RequestMethod>(METHOD_METADATA, handler)];
      const routes = this.pathsOf(controller).flatMap((base) =>
        paths.map((path) => ({ method, path: join(base, path) })),
      );
      try {
        const access = accessOf(controller, handler);
        return routes.map((route) => ({ ...route, ...access }));
      } catch (error) {
        faults.push(
          ...routes.map((route) => `${route.method} ${route.path} (${controller.name}): ${messageOf(error)}`),
        );
        return [];
      }
    });
  }

  /** Empty for a method that handles no route. */
  private pathsOf(target: Type | Handler): string[] {
    return [this.reflector.get<string | string[] | undefined>(PATH_METADATA, target) ?? []].flat();
  }
}

/** As Nest joins the path of a controller and that of a method. */
function join(...parts: string[]): string {
  return `/${parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/')}`;
}

function isOf(rule: RouteRule, route: ExpressRoute): boolean {
  return (
    rule.path === route.path && (rule.method === 'ALL' || route.methods[rule.method.toLowerCase()] === true)
  );
}

const methodsOf = ({ methods }: ExpressRoute): string => Object.keys(methods).join(',').toUpperCase();
