/** Stops the start of the application if ROUTE_TABLE lacks a route of the administration. */
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { RouteRules } from '../../access/route-rules.service';
import { ROUTE_TABLE } from './route-table';

/** Rules of routes that only staff and PLATFORM_ADMIN_KEY may use. */
const STAFF_RULES: ReadonlySet<string> = new Set(['staff', 'staff_member', 'staff_session']);

@Injectable()
export class RouteTableCheck implements OnApplicationBootstrap {
  constructor(private readonly rules: RouteRules) {}

  /** @throws Error that names every missing route */
  onApplicationBootstrap(): void {
    const missing = this.staffRoutes().filter((route) => !ROUTE_TABLE[route]);
    if (missing.length > 0)
      throw new Error(`Routes that are missing in src/staff/roles/route-table.ts:\n${missing.join('\n')}`);
  }

  /** `GET /admin/v1/projects` and so on, in the order of registration. */
  staffRoutes(): string[] {
    return this.rules
      .all()
      .filter(({ rule }) => STAFF_RULES.has(rule))
      .map(({ method, path }) => `${method} ${path}`);
  }
}
