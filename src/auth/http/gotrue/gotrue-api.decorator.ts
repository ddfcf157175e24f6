/** Controllers of GoTrue's paths: guards and documentation. bootstrap/project-of-apikey.ts leads `/auth/v1` to them. */
import { type CanActivate, Controller, type Type } from '@nestjs/common';
import { type ErrorArea, ErrorDocs, type ErrorList } from '../../../http/docs/error-docs';
import type { SchemaObject } from '../../../http/docs/documented-types';
import { TEXT } from '../../../http/docs/documented-headers';
import { LIMIT_HEADERS } from '../../../identity/http/client-throttler.guard';
import { ApiOfArea, type AreaDocs } from '../auth-docs.decorator';
import { GoTrueErrorRenderer } from './gotrue-error.renderer';
import { projectNotFound } from '../../../projects/projects.errors';
import { OAuthError } from '../../oauth/oauth.errors';
import { badJwt, sessionGone, toGoTrue } from './gotrue-errors';

export const GOTRUE_BASE = 'p/:project_slug/auth/v1';

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
  always: [projectNotFound()],
};

/** @param path below the base */
export const GoTrueController = (path = ''): ClassDecorator =>
  Controller(path === '' ? GOTRUE_BASE : `${GOTRUE_BASE}/${path}`);

/** @param guards run after the guards of the credentials */
export const GoTrueApi = (
  credential: 'apikey' | 'bearer' | 'service_role' | 'token',
  ...guards: Type<CanActivate>[]
): ClassDecorator => ApiOfArea(DOCS, credential, ...guards);

/** Documents the errors of a controller that has no guard. */
export const GOTRUE_DOCS = DOCS;

/** The documentation of routes whose clients know the errors of OAuth (RFC 6749, 5.2). */
export const OAUTH_DOCS = new ErrorDocs({
  name: 'OAuthError',
  headers: AREA.headers,
  bodyOf: (error) => renderer.render(toGoTrue(error)),
  codeOf: (error) => (error instanceof OAuthError ? error.code : null),
  schemaOf: (status) =>
    status === 400 || status === 401
      ? {
          type: 'object',
          additionalProperties: false,
          required: ['error', 'error_description'],
          properties: { error: { type: 'string' }, error_description: { type: 'string' } },
        }
      : AREA.schemaOf(status, []),
});
