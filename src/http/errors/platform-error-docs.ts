/** The error body of everything that is not auth, storage or table REST, and its OpenAPI documentation. */
import type { AppError } from '../../common/errors/app-error';
import type { SchemaObject } from '../docs/documented-types';
import { ErrorDocs } from '../docs/error-docs';

export interface PlatformErrorBody {
  readonly error: { readonly message: string; readonly code: string; readonly status: number };
}

export const platformErrorBody = ({ message, code, status, extra }: AppError): PlatformErrorBody => ({
  error: { message, code, status, ...extra },
});

/** A code of Plinth, or the SQLSTATE of the platform's own database. */
const ANY_CODE: SchemaObject = {
  type: 'string',
  pattern: '^([a-z_]+|[0-9A-Z]{5})$',
  description: 'An error code, or the SQLSTATE of a database error',
};

/** @param more members in addition to message, code and status */
export function platformErrorSchema(
  status: number,
  code: SchemaObject,
  more: { readonly properties: Record<string, SchemaObject>; readonly required?: readonly string[] } = {
    properties: {},
  },
): SchemaObject {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        additionalProperties: false,
        required: ['message', 'code', 'status', ...(more.required ?? [])],
        properties: {
          message: { type: 'string', description: 'Human-readable reason' },
          code,
          status: { type: 'integer', enum: [status], description: 'The HTTP status' },
          ...more.properties,
        },
      },
    },
  };
}

export const PLATFORM_DOCS = new ErrorDocs({
  name: 'PlatformError',
  bodyOf: platformErrorBody,
  codeOf: ({ code }) => code,
  schemaOf: (status, codes) =>
    platformErrorSchema(status, status < 500 ? { type: 'string', enum: codes as string[] } : ANY_CODE),
});
