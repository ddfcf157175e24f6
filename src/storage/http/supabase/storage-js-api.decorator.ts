/** Applied to the routes for storage-js: guard, body parsing and OpenAPI documentation. */
import { applyDecorators, type Type, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { invalidCredentials, missingApiKey, rateLimited } from '../../../access/access.errors';
import { PUBLIC_ROUTE } from '../../../access/public-route.decorator';
import { databaseUnreachable } from '../../../common/errors/app-error';
import { JsonBodyInterceptor } from '../../../http/bodies/json-body.interceptor';
import { documentHandlers } from '../../../http/docs/controller-docs';
import { ErrorDocs, ErrorList } from '../../../http/docs/error-docs';
import { Answer } from '../../../http/docs/operation.decorators';
import { projectNotFound } from '../../../projects/projects.errors';
import { forbidden, invalidParameters, storageUnavailable } from '../../storage.errors';
import { RATE_HEADERS } from '../storage-api.decorator';
import { storageJsErrorBody } from './storage-js-error.renderer';
import { StorageJsGuard } from './storage-js.guard';

/** The prefix of all routes; `/storage/v1` is rewritten to it (bootstrap/project-of-apikey.ts). */
export const STORAGE_JS = 'p/:project_slug/storage/v1';

const DOCS = new ErrorDocs({
  name: 'StorageJsError',
  headers: RATE_HEADERS,
  bodyOf: storageJsErrorBody,
  codeOf: (error) => storageJsErrorBody(error).error,
  schemaOf: (status) => ({
    type: 'object',
    additionalProperties: false,
    required: ['statusCode', 'error', 'message'],
    properties: {
      statusCode: { type: 'string', enum: [String(status)], description: 'The HTTP status' },
      error: { type: 'string', description: 'The kind of error' },
      message: { type: 'string', description: 'Human-readable reason' },
    },
  }),
});

const PUBLIC_ERRORS: ErrorList = [
  invalidParameters('The URL is not percent-encoded UTF-8'),
  projectNotFound(),
  rateLimited(42),
  storageUnavailable(null),
  databaseUnreachable(),
];

const ERRORS: ErrorList = [PUBLIC_ERRORS, invalidCredentials(), missingApiKey(), forbidden()];

/** A successful response, with the headers of every response of storage. */
export const Success = (status: number, description: string, type: Type | readonly [Type]): MethodDecorator =>
  Answer(status, description, type, RATE_HEADERS);

/** Tag, parameters and common errors of every route. */
export const StorageJsDocs = (): ClassDecorator =>
  applyDecorators(
    ApiTags('storage-js'),
    documentHandlers(({ method }) => ({
      docs: DOCS,
      errors: Reflect.hasMetadata(PUBLIC_ROUTE, method) ? PUBLIC_ERRORS : ERRORS,
    })),
  );

/** A route, or all routes of a controller, that need credentials. */
export const NeedsKey = (): ClassDecorator & MethodDecorator =>
  applyDecorators(ApiSecurity({ apikey: [], bearer: [] }), UseGuards(StorageJsGuard));

/** A controller whose routes all need credentials, and whose JSON body is a parameter. */
export const StorageJsApi = (): ClassDecorator =>
  applyDecorators(UseInterceptors(JsonBodyInterceptor), StorageJsDocs(), NeedsKey());
