/** A request that was answered or aborted, as observers of requests see it. */
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';

/** A request with what its guards and Express's router have found out about it. */
export type ObservedRequest = IncomingMessage &
  Pick<Request, 'caller' | 'apiKey'> & { readonly route?: { readonly path?: unknown } };

/** `/p/:project_slug/rest/v1/:table`, as declared; null for a path without a route. */
export function routeOf({ route }: ObservedRequest): string | null {
  return typeof route?.path === 'string' ? route.path : null;
}

/** The measurements of a request, taken when its response closed. */
export interface Ending {
  /** The status; as in nginx, 499 if the client disconnected first. */
  readonly status: number;
  /** Milliseconds from the head of the request to the end of the response. */
  readonly ms: number;
  /** Bytes of the response on the connection. */
  readonly bytes: number;
}

/** A description of a request, without anything that could be a secret. */
export interface EndedRequest extends Ending {
  /** Milliseconds since the epoch at which it began. */
  readonly beganAt: number;
  readonly project: { readonly id: string; readonly slug: string } | null;
  readonly method: string;
  /** The path without secrets, with the names of its parameters. */
  readonly path: string;
  readonly role: string | null;
  /** Milliseconds spent using, or waiting for, a connection to the project's database; null if it was not measured. */
  readonly databaseMs: number | null;
}

const MASK = '***';
/** Maximum characters of a segment or name that is shown; longer ones may be tokens. */
const MAX_LENGTH = 64;
const MAX_PARAMETERS = 30;
const MAX_CHARACTERS = 500;
/** A JWT, or the beginning of one. */
const TOKEN = /eyJ[\w-]{10,}/;
const NAME = /^[\w.()-]+$/;

/** `/rest/v1/notes?select=***&id=***`: text that could be a key, a token or data is replaced. @param url of the request line */
export function maskedPath(url: string): string {
  const [path = '', query] = url.split('?', 2);
  const segments = path.slice(0, MAX_CHARACTERS).split('/');
  const masked = segments.map((segment) => (isPlain(segment) ? segment : MASK)).join('/');
  if (!query) return masked;
  const names = query.slice(0, MAX_CHARACTERS).split('&', MAX_PARAMETERS);
  return `${masked}?${names.map(maskedParameter).join('&')}`;
}

function maskedParameter(parameter: string): string {
  const [name = '', value] = parameter.split('=', 2);
  const shown = isPlain(name) && NAME.test(name) ? name : MASK;
  return value === undefined ? shown : `${shown}=${MASK}`;
}

function isPlain(text: string): boolean {
  return text.length <= MAX_LENGTH && !TOKEN.test(text);
}
