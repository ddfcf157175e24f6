/**
 * Documents the handlers of a controller from their signatures and routes: body, query string, path parameters, and the errors
 * that all routes of their kind have. A controller declares the errors that its handlers share, with @SharedErrors() and
 * @PathErrors(); a handler only its own, with @Errors().
 */
import 'reflect-metadata';
import { METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { ApiQuery } from '@nestjs/swagger';
import type { AppError } from '../../common/errors/app-error';
import { INPUT, type InputParameter } from '../input/input-parameter';
import { flatErrors, type ErrorDocs, type ErrorList } from './error-docs';
import { JSON_BODY, JsonBody, type OwnErrors, ownErrors, sharedErrors } from './operation.decorators';
import { pathParameters } from './path-parameters';
import { JSON_BODY_ERRORS } from './standard-errors';

export interface Handler {
  /** Without a leading slash: `admin/v1/projects/:id`. */
  readonly path: string;
  /** The method, which has its metadata. */
  readonly method: object;
}

export interface HandlerErrors {
  readonly docs: ErrorDocs;
  readonly errors: ErrorList;
}

/** @param errorsOf the errors that a handler always has */
export function documentHandlers(errorsOf: (handler: Handler) => HandlerErrors): ClassDecorator {
  return (controller) => {
    const base = Reflect.getMetadata(PATH_METADATA, controller) as string | undefined;
    if (base === undefined)
      throw new Error(`@Controller() comes after the documentation of ${controller.name}`);
    const prototype = controller.prototype as object;
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      const method = property.value as unknown;
      if (typeof method !== 'function' || !Reflect.hasMetadata(METHOD_METADATA, method)) continue;
      const path = [base, Reflect.getMetadata(PATH_METADATA, method) as string]
        .join('/')
        .replace(/\/+/g, '/');
      for (const decorator of decoratorsOf(prototype, name, { path, method }, errorsOf))
        decorator(prototype, name, property);
    }
  };
}

function decoratorsOf(
  prototype: object,
  name: string,
  handler: Handler,
  errorsOf: (handler: Handler) => HandlerErrors,
): MethodDecorator[] {
  const { method, path } = handler;
  const inputs = inputsOf(prototype, name);
  const types = (Reflect.getMetadata('design:paramtypes', prototype, name) as (new () => object)[]) ?? [];
  const typeOf = (kind: InputParameter['kind']): (new () => object) | undefined =>
    types[inputs.find((one) => one.kind === kind)?.index ?? -1];
  const body = typeOf('body');
  const query = typeOf('query');
  const isDocumented = Reflect.hasMetadata(JSON_BODY, method);
  const { docs, errors } = errorsOf(handler);
  const common = [body || isDocumented ? JSON_BODY_ERRORS : [], errors];
  return [
    ...(body && !isDocumented ? [JsonBody(body)] : []),
    ...(query ? [ApiQuery({ type: query })] : []),
    ...pathParameters(path),
    ...errorDecorators(
      [{ docs: null, errors: sharedErrors(prototype.constructor, path) }, ...ownErrors(method)],
      docs,
      common,
    ),
  ];
}

function inputsOf(prototype: object, name: string): readonly InputParameter[] {
  const strict = Reflect.getMetadata(INPUT, prototype, name) as InputParameter[] | undefined;
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, name) as
    | object
    | undefined;
  const ofNest = Object.keys(parameters ?? {}).filter((key) => key.startsWith(`${RouteParamtypes.BODY}:`));
  const bodies = ofNest.map((key) => ({ kind: 'body' as const, index: Number(key.split(':')[1]) }));
  return [...(strict ?? []), ...bodies];
}

/** The common errors of a status have the schema of the handler's own errors of that status. */
function errorDecorators(own: readonly OwnErrors[], docs: ErrorDocs, common: ErrorList): MethodDecorator[] {
  const special = own.find((one) => one.docs !== null);
  const specialErrors = flatErrors(special?.errors ?? []);
  const plain = flatErrors([...own.filter((one) => one !== special).map(({ errors }) => errors), common]);
  const isSpecial = ({ status }: AppError): boolean => specialErrors.some((error) => error.status === status);
  return [
    ...(special?.docs ? [special.docs.answers(specialErrors, plain.filter(isSpecial))] : []),
    docs.answers(plain.filter((error) => !isSpecial(error))),
  ];
}
