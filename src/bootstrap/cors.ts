/** Cross-origin access (WHATWG Fetch). Credentials travel in headers, never in cookies, so every origin may ask. */
import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface';
import type { Request } from 'express';

/** Seconds that a browser may remember a preflight's answer. */
const MAX_AGE = 86_400;

const OPEN: CorsOptions = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  exposedHeaders: [
    'Content-Range',
    'Content-Location',
    'Content-Profile',
    'Content-Disposition',
    'Location',
    'Preference-Applied',
    'Proxy-Status',
    'Retry-After',
    'ETag',
    'Accept-Ranges',
    'X-Total-Count',
    'X-Next-Cursor',
    'X-Quota-Warning',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
  ],
  maxAge: MAX_AGE,
};

/** Without an Origin no header is added; an OPTIONS that is no preflight goes on to its route. */
export function corsOptions(
  request: Request,
  respond: (error: Error | null, options: CorsOptions) => void,
): void {
  if (request.headers.origin === undefined) return respond(null, { origin: false });
  const isPreflight = request.headers['access-control-request-method'] !== undefined;
  respond(null, { ...OPEN, preflightContinue: !isPreflight });
}
