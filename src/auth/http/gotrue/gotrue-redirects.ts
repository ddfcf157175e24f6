/** Addresses of an application with the outcome of a sign-in, and the answers that lead a browser there. */
import type { Response } from 'express';
import { AppError } from '../../../common/errors/app-error';
import { type DocumentedHeaders, NOT_STORED, TEXT } from '../../../http/docs/documented-headers';
import { LIMIT_HEADERS } from '../../../identity/http/client-throttler.guard';
import type { LinkOutcome } from '../../codes/mailed-sign-in.service';
import { toGoTrue } from './gotrue-errors';

/** Of an answer of redirect(), on routes with a limit of requests. */
export const REDIRECT_HEADERS: DocumentedHeaders = {
  ...LIMIT_HEADERS,
  Location: { description: 'The page to open', schema: TEXT },
  ...NOT_STORED,
  'Referrer-Policy': { description: '`no-referrer`', schema: TEXT },
};

/** The fragment stays in the browser; a code is worth nothing without its verifier. @param now Unix seconds */
export function addressFor(
  target: string,
  outcome: LinkOutcome,
  now: number,
  more: Readonly<Record<string, string>> = {},
): string {
  const url = new URL(target);
  if ('code' in outcome) url.searchParams.set('code', outcome.code);
  else {
    const {
      access_token: accessToken,
      expires_at: expiresAt,
      refresh_token: refreshToken,
    } = outcome.session.session;
    url.hash = new URLSearchParams({
      access_token: accessToken,
      expires_at: String(expiresAt),
      expires_in: String(Math.max(0, expiresAt - now)),
      refresh_token: refreshToken,
      token_type: 'bearer',
      ...more,
    }).toString();
  }
  return url.href;
}

/** @param inQuery true: the query contains the error as well, because clients with PKCE read it there */
export function errorAddress(target: string, { code, message, status }: AppError, inQuery = false): string {
  const url = new URL(target);
  const parameters = {
    error: status >= 500 ? 'server_error' : 'access_denied',
    error_code: code,
    error_description: message,
  };
  if (inQuery) for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  url.hash = new URLSearchParams(parameters).toString();
  return url.href;
}

export function redirect(response: Response, address: string, status = 303): void {
  response
    .status(status)
    .set({ Location: address, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
    .end();
}

/** Tells the application why a sign-in failed. @throws the error, if it is not an AppError, or there is no address */
export function redirectFault(response: Response, target: string | null, error: unknown): void {
  if (!(error instanceof AppError) || target === null) throw error;
  redirect(response, errorAddress(target, toGoTrue(error), true));
}

/** A source for `form-action`: only a plain origin, because the client chose the address. */
export function sourceOf(target: string | null): string | undefined {
  if (target === null) return undefined;
  const { protocol, origin } = new URL(target);
  if (!/^https?:$/.test(protocol)) return protocol;
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? origin : undefined;
}
