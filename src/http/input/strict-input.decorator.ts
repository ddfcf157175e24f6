/**
 * Bodies and query strings that are refused when they hold an unknown member. A misspelt member that is ignored would seem
 * as if it had an effect.
 */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import type { Request } from 'express';
import { invalidParameters } from '../../common/errors/http-errors';
import { isJsonObject } from '../../common/text/json';
import { bodyNotAnObject } from '../bodies/body.errors';
import { BodyPipe } from './free-json';
import { inputParameter } from './input-parameter';

const PIPE = new BodyPipe({
  whitelist: true,
  forbidNonWhitelisted: true,
  stopAtFirstError: true,
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
export const unknownHere = (name: string): string => `${name} is unknown here`;

/** Messages with the path of the property: `settings.max_rows must be an integer number`. */
function messagesOf({ property, constraints = {}, children = [] }: ValidationError, path = ''): string[] {
  const own = Object.entries(constraints).map(([kind, message]) =>
    kind === 'whitelistValidation' ? unknownHere(`${path}${property}`) : `${path}${message}`,
  );
  return [...own, ...children.flatMap((child) => messagesOf(child, `${path}${property}.`))];
}
