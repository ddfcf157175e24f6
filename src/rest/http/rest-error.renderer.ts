/** The error body of the table REST, and PostgREST's four members. */
import { AppError } from '../../common/errors/app-error';
import { ErrorRenderer } from '../../http/errors/error-renderer';
import { statusOfSqlstate } from '../../http/errors/sqlstate-status';
import { postgrestCode } from '../postgrest-codes';
import { VARY } from '../respond/response-headers';

export class RestErrorRenderer implements ErrorRenderer {
  matches(path: string): boolean {
    return /^(\/p\/[^/]*)?\/rest\/v1(\/|$)/.test(path);
  }

  readonly databaseStatus = statusOfSqlstate;

  /** RFC 9209, as PostgREST sends it. A code that a project's own SQL raised may be any text of any length. */
  headers(error: AppError): Record<string, string> {
    const code = postgrestCode(error);
    return /^\w{1,64}$/.test(code) ? { ...VARY, 'Proxy-Status': `Plinth; error=${code}` } : VARY;
  }

  render(error: AppError): unknown {
    const {
      sqlstate = error.code,
      detail = null,
      hint = null,
      constraint = null,
      column = null,
    } = error.database;
    return {
      detail: { message: error.message, sqlstate, detail, hint, constraint, column },
      message: error.message,
      code: postgrestCode(error),
      details: detail,
      hint,
      ...error.extra,
    };
  }
}
