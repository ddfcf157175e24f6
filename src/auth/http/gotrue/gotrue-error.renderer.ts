/** The error bodies of `/auth/v1`: GoTrue's, in the form of the API version that the client names. */
import type { Request } from 'express';
import { AppError } from '../../../common/errors/app-error';
import { ErrorRenderer, HtmlPage } from '../../../http/errors/error-renderer';
import { statusOfOwnStatement } from '../../../http/errors/sqlstate-status';
import { OAuthError } from '../../oauth/oauth.errors';
import { mailErrorPage } from '../mail-page';
import { toGoTrue } from './gotrue-errors';

const VERSION = 'x-supabase-api-version';
/** From this version on `code` is the error code; before, it is the status. */
const CODE_VERSION = '2024-01-01';

export class GoTrueErrorRenderer implements ErrorRenderer {
  matches(path: string): boolean {
    return /^(\/p\/[^/]*)?\/auth\/v1(\/|$)/.test(path);
  }

  readonly databaseStatus = statusOfOwnStatement;

  translate(error: AppError, request: Request): AppError {
    return toGoTrue(error, request);
  }

  render(error: AppError, request?: Request): unknown {
    const { status, code, message, extra } = error;
    if (error instanceof OAuthError) return { error: code, error_description: message };
    if (request && isNewForm(request)) return { code, message, ...extra };
    return { code: status, error_code: code, msg: message, ...extra };
  }

  headers({ code }: AppError, request?: Request): Readonly<Record<string, string>> {
    const named = { 'X-SB-Error-Code': code };
    return request && isNewForm(request) ? { ...named, 'X-Supabase-Api-Version': CODE_VERSION } : named;
  }

  page(error: AppError, path: string, acceptLanguage: string | undefined): HtmlPage | null {
    return mailErrorPage(error, path, acceptLanguage);
  }
}

function isNewForm(request: Request): boolean {
  const wanted = request.get(VERSION) ?? '';
  return /^\d{4}-\d\d-\d\d$/.test(wanted) && wanted >= CODE_VERSION;
}
