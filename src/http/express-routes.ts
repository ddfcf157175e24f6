/** The routes of a running application as Express 5 keeps them; its own declarations leave most of that out. */
import type { Application } from 'express';

export interface ExpressRoute {
  /** As declared: `/p/:project_slug/storage/buckets`. */
  readonly path: string;
  /** Names in lower case. */
  readonly methods: Readonly<Record<string, boolean>>;
}

export interface ExpressLayer {
  /** Absent for middleware. */
  readonly route?: ExpressRoute;
  match(path: string): boolean;
}

/** Everything that a request passes, in order. */
export function layersOf(app: Application): readonly ExpressLayer[] {
  return app.router.stack as unknown as readonly ExpressLayer[];
}
