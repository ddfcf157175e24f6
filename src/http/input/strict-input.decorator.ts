/**
 * Bodies and query strings that are refused when they hold an unknown member. A misspelt member that is ignored would seem
 * as if it had an effect.
 */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import { getMetadataStorage, type ValidationError } from 'class-validator';
import type { Request } from 'express';
import { invalidParameters } from '../../common/errors/app-error';
import { isJsonObject } from '../../common/text/json';
import { mostSimilar } from './similar';
import { bodyNotAnObject } from '../bodies/body.errors';
import { BodyPipe } from './free-json';
import { inputParameter } from './input-parameter';

const PIPE = new BodyPipe({
  whitelist: true,
  forbidNonWhitelisted: true,
  stopAtFirstError: true,
  // Its class has the names that are suggested.
  validationError: { target: true },
  transform: true,
  // The parameter decorators below are custom decorators, which Nest's pipes skip otherwise.
  validateCustomDecorators: true,
  exceptionFactory: (errors) => invalidParameters(errors.flatMap((error) => messagesOf(error)).join('; ')),
});

const bodyOf = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
  const body: unknown = context.switchToHttp().getRequest<Request>().body;
  if (!isJsonObject(body)) throw bodyNotAnObject();
  return body;
});

const queryOf = createParamDecorator(
  (_data: unknown, context: ExecutionContext): unknown => context.switchToHttp().getRequest<Request>().query,
);

/** The JSON body as its DTO; needs JsonBodyInterceptor. */
export const StrictBody = (): ParameterDecorator => inputParameter('body', bodyOf(PIPE));

/** The query string as its DTO. */
export const StrictQuery = (): ParameterDecorator => inputParameter('query', queryOf(PIPE));

/** The message about an unknown member, for routes that read their body themselves. */
export function unknownMember({ property, target }: ValidationError, path = ''): string {
  const similar = mostSimilar(property, membersOf(target), SIMILARITY);
  const hint = similar === null ? '' : `; did you mean ${similar}?`;
  return `${path}${property} is unknown${hint}`;
}

/** Similarity required of a name that is suggested. */
const SIMILARITY = 0.6;

/** The members that the DTO declares. */
function membersOf(target: object | undefined): string[] {
  if (target === undefined) return [];
  const all = getMetadataStorage().getTargetValidationMetadatas(target.constructor, '', false, false);
  return [...new Set(all.map(({ propertyName }) => propertyName))];
}

/** Messages with the path of the property: `settings.max_rows must be an integer number`. */
function messagesOf(error: ValidationError, path = ''): string[] {
  const { property, constraints = {}, children = [] } = error;
  const own = Object.entries(constraints).map(([kind, message]) =>
    kind === 'whitelistValidation' ? unknownMember(error, path) : `${path}${message}`,
  );
  return [...own, ...children.flatMap((child) => messagesOf(child, `${path}${property}.`))];
}
