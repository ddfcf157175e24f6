/** Errors of SCIM (RFC 7644, 3.12), and their bodies. */
import { AppError } from '../common/errors/app-error';
import type { JsonObject } from '../common/text/json';
import type { ErrorRenderer } from '../http/errors/error-renderer';
import { statusOfSqlstate } from '../http/errors/sqlstate-status';
import { refusal } from '../identity/identity.errors';

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';
const TYPES = ['invalidFilter', 'invalidPath', 'invalidSyntax', 'invalidValue', 'uniqueness'];

export const scimFault = (
  type: 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue',
  message: string,
): AppError => refusal(400, type, message);

export const scimPersonExists = (): AppError =>
  refusal(409, 'uniqueness', 'Another account has this userName');

export const scimPersonNotFound = (): AppError => refusal(404, 'user_not_found', 'There is no such user');

export const scimTokenInvalid = (): AppError =>
  new AppError(
    401,
    'invalid_scim_token',
    'The token is missing, was replaced or deleted, or is for another directory',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );

export const scimGroupExists = (): AppError =>
  refusal(409, 'uniqueness', 'Another group has this displayName');

export const scimGroupNotFound = (): AppError => refusal(404, 'group_not_found', 'There is no such group');

export const scimResourceNotFound = (): AppError =>
  refusal(404, 'resource_not_found', 'There is no such resource');

export const scimTooMany = (message: string): AppError => refusal(413, 'too_many', message);

export const scimTokenNotFound = (): AppError =>
  refusal(404, 'scim_token_not_found', 'There is no token of SCIM');

export class ScimErrorRenderer implements ErrorRenderer {
  readonly databaseStatus = statusOfSqlstate;

  matches(path: string): boolean {
    return /^(\/p\/[^/]+)?\/scim\/v2(\/|$)/.test(path);
  }

  render({ status, code, message }: AppError): JsonObject {
    const body = { schemas: [ERROR_SCHEMA], status: String(status), detail: message };
    return TYPES.includes(code) ? { ...body, scimType: code } : body;
  }
}
