/** Describes handlers in the OpenAPI document: text, body, successful answers and specific errors. */
import 'reflect-metadata';
import { applyDecorators, HttpCode, SetMetadata, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiProduces,
  ApiQuery,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import type { AppError } from '../../common/errors/app-error';
import { type DocumentedHeaders, TEXT } from './documented-headers';
import type { SchemaObject } from './documented-types';
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
 * @param type the class of the body; in an array for a list; absent for an answer without a body
 * @param shown the example, in place of that of the type
 */
export function Answer(
  status: number,
  description: string,
  type?: Type | readonly [Type],
  headers: DocumentedHeaders = {},
  shown?: { readonly example: object } | { readonly examples: Readonly<Record<string, object>> },
): MethodDecorator {
  const [item] = [type].flat() as [Type | undefined];
  const isList = Array.isArray(type);
  const ofType = (of: Type): object => ({ example: isList ? [exampleOf(of)] : exampleOf(of) });
  const body = item && { type: item, isArray: isList, ...(shown ?? ofType(item)) };
  return applyDecorators(HttpCode(status), ApiResponse({ status, description, ...given(headers), ...body }));
}

/** A streamed answer. @param content its media types, each with an example, or null if it has none */
export function StreamAnswer(
  description: string,
  content: Readonly<Record<string, unknown>>,
  headers: DocumentedHeaders = {},
  schema: SchemaObject = { type: 'string' },
): MethodDecorator {
  const types = Object.entries(content).map(([type, example]): [string, object] => [
    type,
    { schema, ...(example === null ? {} : { example }) },
  ]);
  return applyDecorators(
    ApiProduces(...Object.keys(content)),
    ApiResponse({
      status: 200,
      description,
      ...given(headers),
      content: Object.fromEntries(types),
    }),
  );
}

/** An answer without a body, whose status the handler sends itself. */
export const EmptyAnswer = (
  status: number,
  description: string,
  headers: DocumentedHeaders,
): MethodDecorator => ApiResponse({ status, description, headers });

/** A query parameter that the handler reads itself. @param example of a required one */
export const QueryText = (name: string, description: string, example?: string): MethodDecorator =>
  ApiQuery({
    name,
    type: String,
    required: example !== undefined,
    description,
    ...(example === undefined ? {} : { example }),
  });

/** A header of the request. */
export const RequestHeader = (
  name: string,
  description: string,
  schema: SchemaObject = TEXT,
  required = false,
): MethodDecorator => ApiHeader({ name, required, schema, description });

const given = (headers: DocumentedHeaders): object => (Object.keys(headers).length > 0 ? { headers } : {});

const ERRORS = Symbol('errors of a handler');

export interface OwnErrors {
  /** Null: the errors of the controller. */
  readonly docs: ErrorDocs | null;
  readonly errors: ErrorList;
}

/** The errors of a handler, in addition to the errors of its controller. The first one of a status is the example of the answer. */
export const Errors = (...errors: ErrorList): MethodDecorator => errorsIn(null, errors);

/** Like Errors(), for errors whose bodies have their own schema. */
export const errorsIn =
  (docs: ErrorDocs | null, errors: ErrorList): MethodDecorator =>
  (_prototype, _name, { value }) =>
    Reflect.defineMetadata(ERRORS, [{ docs, errors }, ...ownErrors(value as object)], value as object);

export const ownErrors = (handler: object): readonly OwnErrors[] =>
  (Reflect.getOwnMetadata(ERRORS, handler) as readonly OwnErrors[] | undefined) ?? [];

type ErrorsOfPath = (path: string) => ErrorList;

const addShared =
  (errors: ErrorsOfPath): ClassDecorator =>
  (controller) =>
    Reflect.defineMetadata(ERRORS, [errors, ...errorsOfPaths(controller)], controller);

const errorsOfPaths = (controller: object): readonly ErrorsOfPath[] =>
  (Reflect.getOwnMetadata(ERRORS, controller) as readonly ErrorsOfPath[] | undefined) ?? [];

/** The errors of every handler of a controller. Stands below the decorator that documents the controller. */
export const SharedErrors = (...errors: ErrorList): ClassDecorator => addShared(() => errors);

/** Like SharedErrors(), for the handlers whose path has a part. @param byPart such as `:webhook_id` or `people/:` */
export const PathErrors = (byPart: Readonly<Record<string, AppError>>): ClassDecorator =>
  addShared((path) => Object.entries(byPart).flatMap(([part, error]) => (path.includes(part) ? error : [])));

/** @param path of the handler, with that of the controller */
export const sharedErrors = (controller: object, path: string): ErrorList =>
  errorsOfPaths(controller).map((errorsOfPath) => errorsOfPath(path));

/** Several decorators as one, for operations with much documentation. They apply as if each stood above the handler, in this order. */
export const together = (...decorators: MethodDecorator[]): MethodDecorator =>
  applyDecorators(...decorators.reverse());
