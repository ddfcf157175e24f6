/** The error body of everything that is not auth, storage or table REST: administration, health, unknown paths. */
import { AppError } from '../common/errors/app-error';
import { ErrorRenderer } from '../http/errors/error-renderer';
import { platformErrorBody } from '../http/errors/platform-error-docs';
import { statusOfOwnStatement } from '../http/errors/sqlstate-status';

export class PlatformErrorRenderer implements ErrorRenderer {
  matches(): boolean {
    return true;
  }

  readonly databaseStatus = statusOfOwnStatement;

  render(error: AppError): unknown {
    return platformErrorBody(error);
  }
}
