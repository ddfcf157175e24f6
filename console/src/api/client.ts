/** The typed client of the administration API, generated from Plinth's OpenAPI document. */
import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from '../generated/openapi';
import { PLINTH_URL } from './base-url';
import { toApiError } from './errors';
import { unreachable } from './reachability';
import {
  currentSession,
  expireSession,
  personOf,
  renewSession,
  type Session,
  sessionHeaders,
} from './session';
import { askToConfirm } from './step-up';

export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** Adds the credential, and turns every failure into an ApiError. */
const withSession: Middleware = {
  onRequest({ request }) {
    return withHeaders(request);
  },
  async onResponse({ response }) {
    if (response.ok) return;
    throw toApiError(response, await bodyOf(response));
  },
  onError({ request }) {
    return request.signal.aborted ? undefined : unreachable();
  },
};

export const api = createClient<paths>({ baseUrl: PLINTH_URL, credentials: 'same-origin', fetch: send });
api.use(withSession);

/**
 * Sends a request, and repeats it once if the same staff member has signed in again, in any tab, or has confirmed their
 * identity. Ends a session that the server no longer accepts.
 */
export async function send(request: Request): Promise<Response> {
  let session = currentSession();
  const [again, confirmed] = [request.clone(), request.clone()];
  let response = await fetch(request);
  if (await isOfFormerSession(response, session)) {
    session = currentSession();
    response = await fetch(withHeaders(again));
  }
  if ((await refusalOf(response)) === 'step_up_required' && (await askToConfirm()))
    response = await fetch(withHeaders(confirmed));
  if (response.status === 401) expireSession(session);
  return response;
}

async function isOfFormerSession(response: Response, used: Session | null): Promise<boolean> {
  const now = currentSession();
  if (response.status === 401) return now !== null && now !== used && personOf(now) === personOf(used);
  return (await refusalOf(response)) === 'csrf_failed' && renewSession();
}

/** The error code in the body of a 403. */
async function refusalOf(response: Response): Promise<string | null> {
  return response.status === 403 ? toApiError(response, await bodyOf(response.clone())).code : null;
}

function withHeaders(request: Request): Request {
  for (const [name, value] of Object.entries(sessionHeaders())) request.headers.set(name, value);
  return request;
}

/** The body of a successful call. The middleware throws for all other responses. */
export async function dataOf<Data>(call: Promise<{ data?: Data }>): Promise<NonNullable<Data>> {
  return (await call).data as NonNullable<Data>;
}

/** @throws ApiError unless the response is a success */
export async function assertOk(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw toApiError(response, await bodyOf(response));
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { error: { message: text.slice(0, 500) || response.statusText } };
  }
}
