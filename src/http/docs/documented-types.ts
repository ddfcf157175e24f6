/** Schemas of the OpenAPI document that several DTOs share. They are written in the dialect of OpenAPI 3.0, as Nest's are. */
import type { Type } from '@nestjs/common';
import { ApiSchema, type OpenAPIObject } from '@nestjs/swagger';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
export type SchemaObject = Exclude<Schemas[string], { $ref: string }>;

/** A whole number that a JavaScript number holds exactly: bytes, rows, seconds. */
export const INT64 = { type: 'integer', format: 'int64', maximum: Number.MAX_SAFE_INTEGER } as const;
/** A whole number as INT64, from zero. */
export const SIZE = { ...INT64, minimum: 0 } as const;
export const UNIX_SECONDS = { ...INT64, example: 1767225600 } as const;
export const UUID_EXAMPLE = '0b6f5e5c-3f0a-4c55-9a3b-2f1d8c7e6a90';

export const BINARY = { type: 'string', format: 'binary' } as const;

/** JSON that the caller chose. */
export const FREE_OBJECT = { type: 'object', additionalProperties: true } as const;

/**
 * A schema for null only. OpenAPI 3.0 has no such type, and generators turn `enum: [null]` into code that does not compile: an
 * object without members, or null.
 */
export const NULL = {
  type: 'object',
  nullable: true,
  maxProperties: 0,
  additionalProperties: false,
} as const satisfies SchemaObject;

/** A class without members for a schema that no DTO has. */
export function namedSchema(name: string, schema: SchemaObject): Type {
  const made = class {};
  Object.defineProperty(made, 'name', { value: name });
  ApiSchema({ name, ...schema })(made);
  return made;
}
