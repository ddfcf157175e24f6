/**
 * Errors in the form that S3's clients read: XML, with the codes and the statuses of S3, by which clients
 * decide whether to try again.
 */
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AppError } from '../../../common/errors/app-error';
import { storageErrorBody, StorageErrorRenderer } from '../storage-error.renderer';
import { printXml } from './xml';

/** The S3 code, and the status if it differs from that of the error. */
const KNOWN: Readonly<Record<string, readonly [code: string, status?: number]>> = {
  invalid_parameters: ['InvalidArgument'],
  unauthorized: ['AccessDenied', 403],
  forbidden: ['AccessDenied'],
  project_not_found: ['InvalidAccessKeyId', 403],
  not_found: ['NoSuchKey'],
  bucket_not_found: ['NoSuchBucket'],
  file_not_found: ['NoSuchKey'],
  method_not_allowed: ['MethodNotAllowed'],
  request_timeout: ['RequestTimeout', 400],
  bucket_already_exists: ['BucketAlreadyOwnedByYou'],
  file_already_exists: ['PreconditionFailed', 412],
  conflict: ['OperationAborted'],
  precondition_failed: ['PreconditionFailed'],
  file_too_large: ['EntityTooLarge', 400],
  quota_exceeded: ['QuotaExceeded', 403],
  unsupported_media_type: ['InvalidArgument', 400],
  file_infected: ['AccessDenied', 403],
  upload_locked: ['SlowDown', 503],
  range_not_satisfiable: ['InvalidRange'],
  rate_limited: ['SlowDown', 503],
  storage_unavailable: ['InternalError'],
  project_paused: ['ServiceUnavailable'],
};
const REQUEST_ID = 'x-amz-request-id';
/** The form of S3's own codes. */
const OWN = /^[A-Z][A-Za-z0-9]+$/;

@Injectable()
export class S3ErrorRenderer extends StorageErrorRenderer {
  override matches(path: string): boolean {
    return /^\/p\/[^/]*\/storage\/v1\/s3(\/|$)/.test(path);
  }

  translate(error: AppError): AppError {
    if (OWN.test(error.code)) return error;
    const { code: ofStorage, message } = storageErrorBody(error).error;
    const found = error.code in KNOWN ? error.code : ofStorage;
    const isTransient = error.status === 503 && found === 'storage_unavailable';
    const [code = 'InternalError', status = error.status] = isTransient ? ['SlowDown'] : (KNOWN[found] ?? []);
    return new AppError(status, code, message, {
      headers: error.headers,
      cause: error,
      details: error.details,
    });
  }

  xml({ code, message }: AppError, request: Request): string {
    const [path = ''] = request.originalUrl.split('?', 1);
    return printXml('Error', {
      Code: code,
      Message: message,
      Resource: path.slice(0, 2_048),
      RequestId: request.res?.get(REQUEST_ID),
    });
  }
}
