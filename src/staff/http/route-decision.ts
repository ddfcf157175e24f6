/** The decision of ROUTE_TABLE about a request. */
import type { Request } from 'express';
import { decide, type Decision } from '../roles/decide';
import { ROUTE_TABLE } from '../roles/route-table';
import type { StaffCaller } from '../roles/staff';

export function decisionAbout({ method, route, params }: Request, staff: StaffCaller): Decision {
  const { path } = route as { path: string };
  const key = `${method === 'HEAD' ? 'GET' : method} ${path}`;
  const access = ROUTE_TABLE[key];
  // RouteTableCheck keeps this from happening.
  if (!access) return 'no';
  return decide(key, access, staff, typeof params.id === 'string' ? params.id : null);
}
