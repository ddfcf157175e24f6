/** How handlers are described in the OpenAPI document: its text, body, successful answers and own errors. */
import 'reflect-metadata';
import { applyDecorators, HttpCode, SetMetadata, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiOperation, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { DocumentedHeaders } from './documented-headers';
import type { ErrorDocs, ErrorList } from './error-docs';
import { exampleOf } from './example.decorator';

/** Text of an operation, whose operationId is the name of the method. @param text the summary in the first line, and the description in the following lines */
export function Describe(text: string): MethodDecorator {
  const [summary, ...description] = text.split('\n').map((line) => line.trim());
  return ApiOperation({ summary, description: description.join('\n').trim() });
}

/** Set on handlers whose JSON body is documented. */
export const JSON_BODY = Symbol('JSON body');

/** A JSON body, for handlers that read it themselves, or whose body is optional. @param more `required: false` for a body that may be left out */
export function JsonBody(
  type: Type,
  more: { readonly required?: boolean; readonly description?: string } = {},
): MethodDecorator {
  return applyDecorators(
    SetMetadata(JSON_BODY, true),
    ApiExtraModels(type),
    ApiBody({
      required: true,
      ...more,
      schema: { $ref: getSchemaPath(type) },
      examples: { example: { summary: 'Example', value: exampleOf(type) } },
    }),
  );
}

/**
 * A successful answer: its status, and its JSON body. Of several, the first is the usual answer.
 * @param type in an array: a list of it; none: an answer without a body
 */
export function Answer(
  status: number,
  description: string,
  type?: Type | readonly [Type],
  headers: DocumentedHeaders = {},
): MethodDecorator {
  const [item] = [type].flat() as [Type | undefined];
  const isList = Array.isArray(type);
  const body = item && { type: item, isArray: isList, example: isList ? [exampleOf(item)] : exampleOf(item) };
  return applyDecorators(
    HttpCode(status),
    ApiResponse({ status, description, ...(Object.keys(headers).length > 0 ? { headers } : {}), ...body }),
  );
}

const ERRORS = Symbol('errors of a handler');

export interface OwnErrors {
  /** Null: the errors of the controller. */
  readonly docs: ErrorDocs | null;
  readonly errors: ErrorList;
}

/** The errors of a handler, in addition to the errors of its controller. The first one of a status is the example of the answer. */
export const Errors = (...errors: ErrorList): MethodDecorator => errorsIn(null, errors);

/** The same, for errors whose bodies have a schema of their own. */
export const errorsIn =
  (docs: ErrorDocs | null, errors: ErrorList): MethodDecorator =>
  (_prototype, _name, { value }) =>
    Reflect.defineMetadata(ERRORS, [{ docs, errors }, ...ownErrors(value as object)], value as object);

export const ownErrors = (handler: object): readonly OwnErrors[] =>
  (Reflect.getOwnMetadata(ERRORS, handler) as readonly OwnErrors[] | undefined) ?? [];
