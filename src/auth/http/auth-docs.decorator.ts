/** Documents the errors of the auth operations in the OpenAPI document (SPEC.md 7.2), and what their paths have in common. */
import { ApiParam } from '@nestjs/swagger';
import {
  invalidCredentials,
  missingApiKey,
  missingBearer,
  rateLimited,
  readOnlyCredentials,
  serviceRoleRequired,
} from '../../access/access.errors';
import type { AppError } from '../../common/errors/app-error';
import { COUNT, type DocumentedHeaders } from '../../http/docs/documented-headers';
import { UUID_EXAMPLE } from '../../http/docs/documented-types';
import { type ErrorArea, ErrorDocs, type ErrorList } from '../../http/docs/error-docs';
import { SERVER_ERRORS } from '../../http/docs/standard-errors';
import { AuthErrorRenderer } from './auth-error.renderer';

const renderer = new AuthErrorRenderer();

/** Headers of operations that count against the limit of requests of a client address, once the apikey was accepted. */
export const LIMIT_HEADERS: DocumentedHeaders = {
  'X-RateLimit-Limit': {
    description: 'Requests allowed per minute for the client address',
    schema: COUNT,
  },
  'X-RateLimit-Remaining': { description: 'Requests left in the current minute', schema: COUNT },
  'X-RateLimit-Reset': { description: 'Seconds until the current minute ends', schema: COUNT },
};

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

const DOCS = new ErrorDocs(AREA);
const LIMITED_DOCS = new ErrorDocs({ ...AREA, headers: LIMIT_HEADERS });

/** The same, for operations that count against the limit. */
export const LimitedAuthErrors = (...errors: ErrorList): MethodDecorator =>
  LIMITED_DOCS.answers(tooManyRequests(), ...errors);

export const AuthErrors = (...errors: ErrorList): MethodDecorator => DOCS.answers(...errors);

/** Errors of operations that need the apikey, of those that need a bearer too, and of those that need the service-role key. */
export const KEY_ERRORS: ErrorList = [invalidCredentials(), missingApiKey(), SERVER_ERRORS];
export const BEARER_ERRORS: ErrorList = [KEY_ERRORS, missingBearer(), readOnlyCredentials()];
export const SERVICE_ERRORS: ErrorList = [BEARER_ERRORS, serviceRoleRequired()];

/** Seconds: the throttle counts a minute. */
export const tooManyRequests = (): AppError => rateLimited(60);

export const ProjectIdParam = (): ClassDecorator & MethodDecorator =>
  ApiParam({
    name: 'project_id',
    type: String,
    description: 'The id of the project, as returned when it was created',
    example: 'k3v9x0a1b2c3d4e5f6g7',
  });

export const IdParam = (name: string, description: string): MethodDecorator & ClassDecorator =>
  ApiParam({
    name,
    type: String,
    description,
    schema: { type: 'string', format: 'uuid', example: UUID_EXAMPLE },
  });
