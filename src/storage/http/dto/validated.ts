/**
 * Validates a request by its DTO without Nest's pipes: on the busiest routes they cost more than the
 * validation itself, and a credential in the URL has to be verified first.
 */
import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError, type ValidatorOptions } from 'class-validator';
import { unknownMember } from '../../../http/input/strict-input.decorator';
import { isJsonObject, isTooLargeToCheck } from '../../../common/text/json';
import { bodyTooLargeToCheck } from '../../../http/bodies/body.errors';
import { invalidParameters } from '../../storage.errors';

/** A query string; parameters that the DTO lacks are left out. @throws AppError 400 for an invalid value */
export function validQuery<T extends object>(dto: Type<T>, query: object): T {
  return validated(dto, query, { whitelist: true });
}

/** A JSON body without nested objects; members that the DTO lacks are refused. @throws AppError 400 for an invalid value */
export function validBody<T extends object>(dto: Type<T>, body: unknown): T {
  if (!isJsonObject(body)) throw invalidParameters('The body must be a JSON object');
  return validated(dto, body, { whitelist: true, forbidNonWhitelisted: true });
}

function validated<T extends object>(dto: Type<T>, given: object, options: ValidatorOptions): T {
  if (isTooLargeToCheck(given)) throw bodyTooLargeToCheck();
  const value = plainToInstance(dto, given);
  const errors = validateSync(value, { ...options, stopAtFirstError: true });
  if (errors.length > 0) throw invalidParameters(errors.flatMap(messagesOf).join('; '));
  return value;
}

function messagesOf(error: ValidationError): string[] {
  return Object.entries(error.constraints ?? {}).map(([kind, message]) =>
    kind === 'whitelistValidation' ? unknownMember(error) : message,
  );
}
