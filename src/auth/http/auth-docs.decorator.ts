/** Documents the errors of the auth operations in the OpenAPI document, and the common parts of their paths. */
import { applyDecorators, type CanActivate, type Type, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { AdmissionGuard } from '../../access/admission.guard';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { PathKeyGuard } from '../../access/path-key.guard';
import { ServiceRoleGuard } from '../../access/service-role.guard';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { documentHandlers, type Handler } from '../../http/docs/controller-docs';
import {
  invalidCredentials,
  missingApiKey,
  missingBearer,
  rateLimited,
  readOnlyCredentials,
  serviceRoleRequired,
} from '../../access/access.errors';
import type { AppError } from '../../common/errors/app-error';
import { type ErrorArea, ErrorDocs, type ErrorList } from '../../http/docs/error-docs';
import { SERVER_ERRORS } from '../../http/docs/standard-errors';
import { AuthErrorRenderer } from './auth-error.renderer';
import { ClientThrottlerGuard, LIMIT_HEADERS } from '../../identity/http/client-throttler.guard';

const renderer = new AuthErrorRenderer();

const AREA: ErrorArea = {
  name: 'AuthError',
  bodyOf: (error) => renderer.render(error),
  codeOf: () => null,
  schemaOf: (status) => ({
    type: 'object',
    additionalProperties: false,
    required: ['detail', 'status_code'],
    properties: {
      detail: { type: 'string', description: 'Human-readable reason' },
      status_code: { type: 'integer', enum: [status], description: 'The HTTP status' },
    },
  }),
};

/** The documentation of an area, and that of its routes with a limit of requests. */
export interface AreaDocs {
  readonly plain: ErrorDocs;
  readonly limited: ErrorDocs;
  /** Additional errors of routes with a bearer token. */
  readonly ofBearer?: ErrorList;
  /** Additional errors of all routes. */
  readonly always?: ErrorList;
}

const DOCS: AreaDocs = {
  plain: new ErrorDocs(AREA),
  limited: new ErrorDocs({ ...AREA, headers: LIMIT_HEADERS }),
};

const KEY_ERRORS: ErrorList = [invalidCredentials(), missingApiKey(), SERVER_ERRORS];
const BEARER_ERRORS: ErrorList = [KEY_ERRORS, missingBearer(), readOnlyCredentials()];

/** Guards and errors, by the credentials that a controller needs. */
const CREDENTIALS = {
  apikey: { guards: [ApiKeyGuard, AdmissionGuard, ClientThrottlerGuard], errors: KEY_ERRORS },
  bearer: { guards: [ApiKeyGuard, AdmissionGuard, BearerGuard], errors: BEARER_ERRORS },
  /** A bearer token; an apikey may be left out, since the path names the project. */
  token: { guards: [PathKeyGuard, AdmissionGuard, BearerGuard], errors: BEARER_ERRORS },
  service_role: {
    guards: [ApiKeyGuard, AdmissionGuard, BearerGuard, ServiceRoleGuard],
    errors: [BEARER_ERRORS, serviceRoleRequired()],
  },
} as const;

/** Routes that need the apikey only are limited by client address, unless they have @SkipThrottle(). */
const isLimited = (credential: keyof typeof CREDENTIALS, { method }: Handler): boolean =>
  credential === 'apikey' && !Reflect.hasMetadata('THROTTLER:SKIPdefault', method);

/** A controller of auth. @param guards run after the guards of the credentials */
export function AuthApi(
  credential: keyof typeof CREDENTIALS,
  ...guards: Type<CanActivate>[]
): ClassDecorator {
  return ApiOfArea(DOCS, credential, ...guards);
}

/** Like AuthApi(), for any part of the API of auth. */
export function ApiOfArea(
  { plain, limited, ofBearer = [], always = [] }: AreaDocs,
  credential: keyof typeof CREDENTIALS,
  ...guards: Type<CanActivate>[]
): ClassDecorator {
  const { guards: first, errors } = CREDENTIALS[credential];
  return applyDecorators(
    ApiTags('auth'),
    ApiSecurity(credential === 'apikey' ? 'apikey' : { apikey: [], bearer: [] }),
    UseGuards(...first, ...guards),
    UseInterceptors(JsonBodyInterceptor),
    documentHandlers((handler) =>
      isLimited(credential, handler)
        ? { docs: limited, errors: [tooManyRequests(), errors, always] }
        : { docs: plain, errors: [errors, credential === 'apikey' ? [] : ofBearer, always] },
    ),
  );
}

/** Seconds: the throttle counts a minute. */
export const tooManyRequests = (): AppError => rateLimited(60);
