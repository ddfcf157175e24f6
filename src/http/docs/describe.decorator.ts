/** What an operation does, for the OpenAPI document. Its operationId is the name of the method. */
import { ApiOperation } from '@nestjs/swagger';

/** @param text the summary in the first line, and the description in the following lines */
export function Describe(text: string): MethodDecorator {
  const [summary, ...description] = text.split('\n').map((line) => line.trim());
  return ApiOperation({ summary, description: description.join('\n').trim() });
}
