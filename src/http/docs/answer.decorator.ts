/** Bodies and successful answers of the OpenAPI document, each with the example of its DTO. */
import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { DocumentedHeaders } from './documented-headers';
import { exampleOf } from './example.decorator';

/** A JSON body. @param more `required: false` for a body that may be left out */
export function JsonBody(
  type: Type,
  more: { readonly required?: boolean; readonly description?: string } = {},
): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(type),
    ApiBody({
      required: true,
      ...more,
      schema: { $ref: getSchemaPath(type) },
      examples: { example: { summary: 'Example', value: exampleOf(type) } },
    }),
  );
}

/** A successful JSON answer. @param type in an array: a list of it */
export function Answer(
  status: number,
  description: string,
  type: Type | readonly [Type],
  headers: DocumentedHeaders = {},
): MethodDecorator {
  const isList = Array.isArray(type);
  const [item] = [type].flat() as [Type];
  const example = exampleOf(item);
  return ApiResponse({
    status,
    description,
    type: item,
    isArray: isList,
    headers,
    example: isList ? [example] : example,
  });
}
