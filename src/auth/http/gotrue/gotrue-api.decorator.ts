/** Controllers of GoTrue's paths: guards, documentation, and the same routes where the apikey names the project. */
import { applyDecorators, type CanActivate, Controller, type Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import { ApiExcludeController } from '@nestjs/swagger';
import { type ErrorArea, ErrorDocs, type ErrorList } from '../../../http/docs/error-docs';
import type { SchemaObject } from '../../../http/docs/documented-types';
import { TEXT } from '../../../http/docs/documented-headers';
import { LIMIT_HEADERS } from '../../../identity/http/client-throttler.guard';
import { ApiOfArea, type AreaDocs } from '../auth-docs.decorator';
import { GoTrueErrorRenderer } from './gotrue-error.renderer';
import { badJwt, sessionGone, toGoTrue } from './gotrue-errors';

export const GOTRUE_BASE = 'p/:project_slug/auth/v1';
const ROOT_BASE = 'auth/v1';

const renderer = new GoTrueErrorRenderer();

const AREA: ErrorArea = {
  name: 'GoTrueError',
  headers: { 'X-SB-Error-Code': { description: 'The error code of the body', schema: TEXT } },
  translate: (error) => toGoTrue(error),
  bodyOf: (error) => renderer.render(error),
  codeOf: ({ code }) => code,
  schemaOf: (status) => ({
    type: 'object',
    additionalProperties: false,
    required: ['code', 'error_code', 'msg'],
    properties: {
      code: { type: 'integer', enum: [status], description: 'The HTTP status' },
      error_code: { type: 'string' },
      msg: { type: 'string', description: 'Human-readable reason' },
      ...(status === 422 ? { weak_password: WEAK_PASSWORD } : {}),
    },
  }),
};

const WEAK_PASSWORD: SchemaObject = {
  type: 'object',
  additionalProperties: false,
  required: ['reasons'],
  properties: { reasons: { type: 'array', items: { type: 'string' } } },
};

const OF_BEARER: ErrorList = [badJwt(), sessionGone()];

const DOCS: AreaDocs = {
  plain: new ErrorDocs(AREA),
  limited: new ErrorDocs({ ...AREA, headers: { ...AREA.headers, ...LIMIT_HEADERS } }),
  ofBearer: OF_BEARER,
};

/** @param path below the base */
export const GoTrueController = (path = ''): ClassDecorator =>
  Controller(path === '' ? GOTRUE_BASE : `${GOTRUE_BASE}/${path}`);

/** @param guards run after those of the credentials */
export const GoTrueApi = (
  credential: 'apikey' | 'bearer' | 'service_role',
  ...guards: Type<CanActivate>[]
): ClassDecorator => ApiOfArea(DOCS, credential, ...guards);

/** Documents the errors of a controller that has no guard. */
export const GOTRUE_DOCS = DOCS;

/** The same controller at `/auth/v1`. The document leaves it out: generators would write each function twice. */
export function atRoot<T extends Type>(controller: T): T {
  const copy = class extends controller {};
  Object.defineProperty(copy, 'name', { value: `${controller.name}AtRoot` });
  const path = Reflect.getMetadata(PATH_METADATA, controller) as string;
  applyDecorators(ApiExcludeController(), Controller(path.replace(GOTRUE_BASE, ROOT_BASE)))(copy);
  return copy;
}
