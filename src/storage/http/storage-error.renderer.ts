/** The error envelope of the storage (SPEC.md 7.1). */
import { AppError } from '../../common/errors/app-error';
import { ErrorRenderer } from '../../common/errors/error-renderer';

export class StorageErrorRenderer implements ErrorRenderer {
  matches(path: string): boolean {
    return /^\/p\/[^/]*\/storage(\/|$)/.test(path);
  }

  render(error: AppError): unknown {
    return { data: null, error: { message: error.message, code: error.code, status: error.status } };
  }
}
