/** Marks a route that needs no credential, with the reason, so that a walk over all routes can tell it from a forgotten guard. */
import { SetMetadata } from '@nestjs/common';

export const PUBLIC_ROUTE = 'plinth:public-route';

/** @param reason why nobody has to prove who they are; read by the reader and by the test that walks the routes */
export const PublicRoute = (reason: string): MethodDecorator & ClassDecorator =>
  SetMetadata(PUBLIC_ROUTE, reason);
