/** The head of a response: the one that the plan asks for, with the settings of the project's SQL over it. */
import type { Response } from 'express';
import { callerOf } from '../../access/current-caller.decorator';
import type { ResponseSettings } from '../execute/execution';
import type { PreparedRequest } from '../prepare/prepared-request';
import { appliedPreferences } from './applied-preferences';
import { inAscii } from './header-text';
import { overriddenHeaders, overriddenStatus } from './overriding-settings';
import { renamedWarning } from './renamed-warning';
import { VARY } from '../response-vary';
import type { ResponseHeaders } from './response-headers';

export interface Head {
  readonly status: number;
  /** Made for one response, and added to until it is written. */
  readonly headers: ResponseHeaders;
}

/** @throws AppError PL112 */
export function statusOf({ status }: Head, settings: ResponseSettings): number {
  return overriddenStatus(settings.status) ?? status;
}

/** @throws AppError PL111, PL112 */
export function writeHead(
  response: Response,
  { plan, profile, shape }: PreparedRequest,
  head: Head,
  settings: ResponseSettings,
): void {
  const { headers } = head;
  headers.Vary = VARY.Vary;
  const applied = appliedPreferences(plan, shape.preferences);
  if (applied.length > 0) headers['Preference-Applied'] = applied.join(', ');
  if (profile !== null) headers['Content-Profile'] = inAscii(profile);
  if (plan.renamed.length > 0) headers.Warning = renamedWarning(plan.renamed);
  const overriding = overriddenHeaders(settings.headers, () => callerOf(response.req).project.slug);
  response.writeHead(
    statusOf(head, settings),
    overriding === null ? headers : { ...without(headers, overriding), ...overriding },
  );
}

function without(headers: ResponseHeaders, others: ResponseHeaders): ResponseHeaders {
  const taken = new Set(Object.keys(others).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !taken.has(name.toLowerCase())));
}
