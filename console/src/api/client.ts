/** The typed client of the administration API, generated from Plinth's OpenAPI document. */
import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from '../generated/openapi';
import { PLINTH_URL } from './base-url';
import { ApiError, toApiError } from './errors';
import { noteUnreachable } from './reachability';
import { expireSession, renewSession, sessionHeaders } from './session';

export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** Adds the credential; turns every failure into an ApiError; ends a session that the server no longer accepts. */
const withSession: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(sessionHeaders())) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response }) {
    if (response.ok) return;
    const error = toApiError(response.status, await bodyOf(response));
    if (response.status === 401) expireSession();
    throw error;
  },
  onError() {
    return unreachable();
  },
};

export const api = createClient<paths>({ baseUrl: PLINTH_URL, credentials: 'same-origin', fetch: send });
api.use(withSession);

/** Sends a request, and once more if another tab has signed the same person in again: the CSRF token is another one then. */
async function send(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await fetch(request);
  if (response.status !== 403) return response;
  const { code } = toApiError(403, await bodyOf(response.clone()));
  if (code !== 'csrf_failed' || !(await renewSession())) return response;
  for (const [name, value] of Object.entries(sessionHeaders())) again.headers.set(name, value);
  return fetch(again);
}

/** The body of a successful call. The middleware throws for others. */
export async function dataOf<Data>(call: Promise<{ data?: Data }>): Promise<NonNullable<Data>> {
  return (await call).data as NonNullable<Data>;
}

/** @throws ApiError unless the response is a success */
export async function assertOk(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw toApiError(response.status, await bodyOf(response));
}

export function unreachable(): ApiError {
  noteUnreachable();
  return new ApiError(0, 'unreachable', 'The server did not answer');
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { error: { message: text.slice(0, 500) || response.statusText } };
  }
}
