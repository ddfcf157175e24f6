/** The error body of the auth endpoints. */
import { AppError } from '../../common/errors/app-error';
import { ErrorRenderer, HtmlPage } from '../../http/errors/error-renderer';
import { statusOfOwnStatement } from '../../http/errors/sqlstate-status';
import { mailErrorPage } from './mail-page';

export class AuthErrorRenderer implements ErrorRenderer {
  matches(path: string): boolean {
    return /^\/v1\/auth(\/|$)/.test(path);
  }

  readonly databaseStatus = statusOfOwnStatement;

  render(error: AppError): unknown {
    return { detail: error.message, status_code: error.status };
  }

  page(error: AppError, path: string, acceptLanguage: string | undefined): HtmlPage | null {
    return mailErrorPage(error, path, acceptLanguage);
  }
}
