/** Bodies and successful answers of the OpenAPI document, each with the example of its DTO. */
import { applyDecorators, HttpCode, SetMetadata, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { DocumentedHeaders } from './documented-headers';
import { exampleOf } from './example.decorator';

/** Set on handlers whose JSON body is documented. */
export const JSON_BODY = Symbol('JSON body');

/** A JSON body, for handlers that read it themselves, or whose body is optional. @param more `required: false` for a body that may be left out */
export function JsonBody(
  type: Type,
  more: { readonly required?: boolean; readonly description?: string } = {},
): MethodDecorator {
  return applyDecorators(
    SetMetadata(JSON_BODY, true),
    ApiExtraModels(type),
    ApiBody({
      required: true,
      ...more,
      schema: { $ref: getSchemaPath(type) },
      examples: { example: { summary: 'Example', value: exampleOf(type) } },
    }),
  );
}

/**
 * A successful answer: its status, and its JSON body. Of several, the first is the usual answer.
 * @param type in an array: a list of it; none: an answer without a body
 */
export function Answer(
  status: number,
  description: string,
  type?: Type | readonly [Type],
  headers: DocumentedHeaders = {},
): MethodDecorator {
  const [item] = [type].flat() as [Type | undefined];
  const isList = Array.isArray(type);
  const body = item && { type: item, isArray: isList, example: isList ? [exampleOf(item)] : exampleOf(item) };
  return applyDecorators(
    HttpCode(status),
    ApiResponse({ status, description, ...(Object.keys(headers).length > 0 ? { headers } : {}), ...body }),
  );
}
