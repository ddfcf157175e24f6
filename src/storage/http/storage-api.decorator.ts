/** Shared by all storage controllers: guards, the envelope, and documentation for the OpenAPI document. */
import { applyDecorators, Type, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiExtraModels, ApiParam, ApiResponse, ApiSecurity, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { QUOTA_WARNING } from '../quotas/quota-warnings';
import { StorageErrorDto } from './dto/records';
import { StorageAccessGuard } from './storage-access.guard';
import { interceptResult } from './storage-envelope.interceptor';

const FAILURES: Readonly<Record<number, string>> = {
  400: 'Invalid parameters',
  401: 'Invalid or missing authentication',
  403: 'Permission denied',
  404: 'Project, bucket or file not found',
  408: 'The upload or body arrived too slowly',
  409: 'Bucket or file already exists',
  412: 'If-Match or If-Unmodified-Since does not hold',
  413: 'File, or body, exceeds the size limit, or a quota',
  415: 'Type of file, or body, not allowed',
  416: 'The range is not in the file',
  429: 'More requests than the plan allows in a minute',
  500: 'Storage provider unavailable',
  503: 'No database connection, or no memory for the body, in time: try again after Retry-After',
};

const RATE_HEADERS = {
  'X-RateLimit-Limit': { description: 'Requests a minute', schema: { type: 'integer' as const } },
  'X-RateLimit-Remaining': {
    description: 'Requests left in this minute',
    schema: { type: 'integer' as const },
  },
  'X-RateLimit-Reset': {
    description: 'When the minute ends, in Unix seconds',
    schema: { type: 'integer' as const },
  },
};

export const QUOTA_HEADER = {
  [QUOTA_WARNING]: {
    description: 'Quotas that run low, with the percent that is reached: project=80, bucket=95',
    schema: { type: 'string' as const },
  },
};

/** Tag, path parameter, and the errors that every storage route can return. */
export const StorageDocs = (): ClassDecorator & MethodDecorator =>
  applyDecorators(
    ApiTags('storage'),
    ApiParam({ name: 'project_slug', type: String }),
    ApiExtraModels(StorageErrorDto),
    Failures(400, 401, 408, 429, 500, 503),
  );

/** A route, or all routes of a controller, that need apikey and bearer. */
export const NeedsCaller = (): ClassDecorator & MethodDecorator =>
  applyDecorators(ApiSecurity({ apikey: [], bearer: [] }), UseGuards(StorageAccessGuard));

/** A controller whose routes all need apikey and bearer. */
export const StorageAccess = (): ClassDecorator & MethodDecorator =>
  applyDecorators(StorageDocs(), NeedsCaller());

/** The same, for routes whose JSON body is a parameter. */
export const StorageApi = (): ClassDecorator & MethodDecorator =>
  applyDecorators(UseInterceptors(JsonBodyInterceptor), StorageAccess());

/** Documents errors by status. */
export const Failures = (...statuses: number[]): ClassDecorator & MethodDecorator =>
  applyDecorators(
    ...statuses.map((status) =>
      ApiResponse({
        status,
        description: FAILURES[status] ?? 'Error',
        type: StorageErrorDto,
        headers: RATE_HEADERS,
      }),
    ),
  );

/** A success that a route returns, sent and documented in its envelope. @param type of `data`; in an array: a list of it */
export const Success = (
  status: number,
  description: string,
  type: Type | [Type | StringConstructor] | null,
  headers: Record<string, { description: string; schema: { type: 'integer' | 'string' } }> = {},
): MethodDecorator => {
  const [model] = [type].flat();
  const models = model && model !== String ? [model] : [];
  return applyDecorators(
    interceptResult,
    ApiExtraModels(...models),
    ApiResponse({
      status,
      description,
      headers: { ...RATE_HEADERS, ...headers },
      schema: {
        type: 'object',
        required: ['data', 'error'],
        properties: { data: dataSchema(type), error: NULL },
      },
    }),
  );
};

/** OpenAPI 3.0 has no type of null alone. */
const NULL = { type: 'object' as const, nullable: true, enum: [null] };

function dataSchema(type: Type | [Type | StringConstructor] | null): object {
  if (type === null) return NULL;
  if (!Array.isArray(type)) return { $ref: getSchemaPath(type) };
  const [item] = type;
  return { type: 'array', items: item === String ? { type: 'string' } : { $ref: getSchemaPath(item) } };
}
