/** Applied to the routes of storage: guard, body parsing, envelope and OpenAPI documentation. */
import { applyDecorators, HttpCode, Type, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiSecurity, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { invalidCredentials, missingApiKey, missingBearer, rateLimited } from '../../access/access.errors';
import { PUBLIC_ROUTE } from '../../access/public-route.decorator';
import { AppError, databaseUnreachable } from '../../common/errors/app-error';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { COUNT, type DocumentedHeaders, TEXT } from '../../http/docs/documented-headers';
import { NULL } from '../../http/docs/documented-types';
import { documentHandlers } from '../../http/docs/controller-docs';
import { ErrorDocs, type ErrorList } from '../../http/docs/error-docs';
import { exampleOf } from '../../http/docs/example.decorator';
import { answerToFault } from '../../http/errors/fault-answers';
import { secondFactorNeeded } from '../../database/rls/repeating-pipeline';
import { projectNotFound } from '../../projects/projects.errors';
import { QUOTA_WARNING } from '../quotas/quota-warnings';
import { forbidden, invalidParameters, STORAGE_ERROR_CODES, storageUnavailable } from '../storage.errors';
import { StorageAccessGuard } from './storage-access.guard';
import { interceptResult } from './storage-envelope.interceptor';
import { codeOf, storageErrorBody } from './storage-error.renderer';

export const RATE_HEADERS: DocumentedHeaders = {
  'X-RateLimit-Limit': {
    description: 'Requests allowed per minute for the project; 0 if unknown',
    schema: COUNT,
  },
  'X-RateLimit-Remaining': { description: 'Requests left in the current minute', schema: COUNT },
  'X-RateLimit-Reset': { description: 'When the current minute ends, in Unix seconds', schema: COUNT },
};

export const QUOTA_HEADER: DocumentedHeaders = {
  [QUOTA_WARNING]: {
    description:
      'Quotas that are nearly used up, with the percentage used: `project=80, bucket=95`; absent below that',
    schema: TEXT,
  },
};

const DOCS = new ErrorDocs({
  name: 'StorageError',
  headers: RATE_HEADERS,
  bodyOf: storageErrorBody,
  codeOf: (error) => storageErrorBody(error).error.code,
  codesOf: (status) => [
    ...new Set([
      ...Object.keys(STORAGE_ERROR_CODES).filter((code) => STORAGE_ERROR_CODES[code] === status),
      codeOf(status),
    ]),
  ],
  schemaOf: (status, codes) => ({
    type: 'object',
    additionalProperties: false,
    required: ['data', 'error'],
    properties: {
      data: NULL,
      error: {
        type: 'object',
        additionalProperties: false,
        required: ['message', 'code', 'status'],
        properties: {
          message: { type: 'string', description: 'Human-readable reason' },
          code: { type: 'string', enum: codes as string[] },
          status: { type: 'integer', enum: [status], description: 'The HTTP status' },
        },
      },
    },
  }),
});

/** The project's own policies and triggers may refuse any statement. */
const REFUSED_BY_PROJECT: ErrorList = [
  invalidParameters('The value is too long'),
  forbidden(),
  new AppError(409, '23505', 'A trigger of the project reports a conflict'),
];

/** Errors of every route of storage. The seconds are those of a rate per minute. */
const STORAGE_ERRORS: ErrorList = [
  REFUSED_BY_PROJECT,
  projectNotFound(),
  rateLimited(42),
  storageUnavailable(null),
  databaseUnreachable(),
];

/** Errors of routes that need apikey and bearer. */
const ACCESS_ERRORS: ErrorList = [
  STORAGE_ERRORS,
  invalidCredentials(),
  missingApiKey(),
  missingBearer(),
  invalidParameters('The URL is not percent-encoded UTF-8'),
  answerToFault(secondFactorNeeded()),
];

/** Adds the tag, path parameters and errors of every storage route. */
export const StorageDocs = (): ClassDecorator =>
  applyDecorators(
    ApiTags('storage'),
    documentHandlers(({ method }) => ({
      docs: DOCS,
      errors: Reflect.hasMetadata(PUBLIC_ROUTE, method) ? STORAGE_ERRORS : ACCESS_ERRORS,
    })),
  );

/** A route, or all routes of a controller, that need apikey and bearer. */
export const NeedsCaller = (): ClassDecorator & MethodDecorator =>
  applyDecorators(ApiSecurity({ apikey: [], bearer: [] }), UseGuards(StorageAccessGuard));

/** A controller whose routes all need apikey and bearer. */
export const StorageAccess = (): ClassDecorator => applyDecorators(StorageDocs(), NeedsCaller());

/** Like StorageAccess(), for routes with a JSON body as a parameter. */
export const StorageApi = (): ClassDecorator =>
  applyDecorators(UseInterceptors(JsonBodyInterceptor), StorageAccess());

/** The `data` of a success: a DTO, a list of it, a list of texts, or null. */
type DataType = Type | [Type | StringConstructor] | null;

/** A success that a route returns, sent and documented in its envelope. */
export const Success = (
  status: number,
  description: string,
  type: DataType,
  headers: DocumentedHeaders = {},
): MethodDecorator => {
  const [model] = [type].flat();
  const models = model && model !== String ? [model] : [];
  return applyDecorators(
    interceptResult,
    HttpCode(status),
    ApiExtraModels(...models),
    ApiResponse({
      status,
      description,
      headers: { ...RATE_HEADERS, ...headers },
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['data', 'error'],
            properties: { data: dataSchema(type), error: NULL },
          },
          example: { data: exampleData(type), error: null },
        },
      },
    }),
  );
};

function dataSchema(type: DataType): object {
  if (type === null) return NULL;
  if (!Array.isArray(type)) return { $ref: getSchemaPath(type) };
  const [item] = type;
  return { type: 'array', items: item === String ? { type: 'string' } : { $ref: getSchemaPath(item) } };
}

function exampleData(type: DataType): unknown {
  if (type === null) return null;
  if (!Array.isArray(type)) return exampleOf(type);
  const [item] = type;
  return [item === String ? 'reports/' : exampleOf(item as Type)];
}
