/** The error envelope of storage. Every error gets one of its codes (docs/reference/storage.md). */
import { Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { AppError } from '../../common/errors/app-error';
import { ErrorRenderer } from '../../http/errors/error-renderer';
import { statusOfOwnStatement } from '../../http/errors/sqlstate-status';
import { STORAGE_ERROR_CODES } from '../storage.errors';
import { RateHeaders } from './rate-headers';

/** Codes by status, for errors from elsewhere: guards, pipes, parsers, the database. */
const CODE_BY_STATUS: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  413: 'file_too_large',
  415: 'unsupported_media_type',
  416: 'range_not_satisfiable',
  429: 'rate_limited',
};

@Injectable()
export class StorageErrorRenderer implements ErrorRenderer {
  constructor(private readonly rate: RateHeaders) {}

  matches(path: string): boolean {
    return /^\/p\/[^/]*\/storage(\/|$)/.test(path);
  }

  readonly databaseStatus = statusOfOwnStatement;

  render(error: AppError): object {
    return storageErrorBody(error);
  }

  complete(path: string, response: ServerResponse): Promise<void> {
    return this.rate.complete(path, response);
  }
}

interface StorageErrorBody {
  readonly data: null;
  readonly error: { readonly message: string; readonly code: string; readonly status: number };
}

export function storageErrorBody(error: AppError): StorageErrorBody {
  const { status } = error;
  const code = error.code in STORAGE_ERROR_CODES ? error.code : codeOf(status);
  return { data: null, error: { message: messageOf(error), code, status } };
}

/** The code of an error that has no code of storage, by its status. */
export function codeOf(status: number): string {
  return CODE_BY_STATUS[status] ?? (status < 500 ? 'invalid_parameters' : 'storage_unavailable');
}

/** PostgreSQL's message for a refusal would reveal names of tables and policies. */
function messageOf({ code, message }: AppError): string {
  return code === '42501' ? 'The policies of the project do not allow this' : message;
}
