/**
 * Cross-origin access (WHATWG Fetch). Credentials travel in headers, never in cookies, so every origin is
 * allowed.
 */
import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface';
import type { Request } from 'express';

/** Seconds for which a browser may cache the response to a preflight. */
const MAX_AGE = 86_400;

const OPEN: CorsOptions = {
  origin: '*',
  methods: 'GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD',
  optionsSuccessStatus: 200,
  exposedHeaders: [
    'Content-Range',
    'Content-Location',
    'Content-Profile',
    'Content-Disposition',
    'Link',
    'Location',
    'Preference-Applied',
    'Proxy-Status',
    'Retry-After',
    'ETag',
    'Accept-Ranges',
    'X-Consistency-Token',
    'X-Total-Count',
    'X-Next-Cursor',
    'X-Supabase-Api-Version',
    'X-Quota-Warning',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'Tus-Resumable',
    'Upload-Offset',
    'Upload-Length',
    'Upload-Metadata',
    'Upload-Expires',
    'Upload-Concat',
  ],
  maxAge: MAX_AGE,
};

const NONE: CorsOptions = { origin: false };

/**
 * Pages of other origins may not use the admin API and the metrics. The router refuses their preflights like any
 * unsupported method.
 */
const CLOSED = /^\/(admin|metrics)(\/|\?|$)/;

/**
 * Without an Origin no header is added, except to responses to OPTIONS. An OPTIONS that is not a preflight
 * reaches its route. Preflights get the same response as from PostgREST, for its clients.
 */
export function corsOptions(
  request: Request,
  respond: (error: Error | null, options: CorsOptions) => void,
): void {
  const { headers } = request;
  if (CLOSED.test(request.url)) return respond(null, NONE);
  // The CORS rules of a bucket.
  if (request.context?.cors) return respond(null, request.context.cors);
  if (request.method !== 'OPTIONS') return respond(null, headers.origin === undefined ? NONE : OPEN);
  const isPreflight = headers['access-control-request-method'] !== undefined;
  const allowed = allowedHeaders(headers['access-control-request-headers']);
  respond(null, { ...OPEN, allowedHeaders: allowed, preflightContinue: !isPreflight });
}

/** All headers that the client asks for, and the headers that CORS always allows. */
function allowedHeaders(requested: string | undefined): string {
  const own = (requested ?? '').split(',').map((name) => name.trim());
  return ['Authorization', ...own, 'Accept', 'Accept-Language', 'Content-Language']
    .filter((name) => name !== '')
    .join(', ');
}
