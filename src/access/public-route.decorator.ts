/** Marks a route that needs no credential. Without this mark, or a guard, the application does not start (access-rule.ts). */
import { SetMetadata } from '@nestjs/common';

export const PUBLIC_ROUTE = 'plinth:public-route';

/** @param reason why the route needs no credential; docs/reference/access.md lists it */
export const PublicRoute = (reason: string): MethodDecorator & ClassDecorator =>
  SetMetadata(PUBLIC_ROUTE, reason);
