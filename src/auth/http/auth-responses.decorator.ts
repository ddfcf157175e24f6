/** Documents the errors of an endpoint in the OpenAPI document (SPEC.md 7.2). */
import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { AuthErrorDto } from './dto/auth-answers.dto';

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'Invalid input',
  401: 'Invalid or missing token',
  403: 'Insufficient permissions',
  404: 'Not found',
  429: 'Rate limited; Retry-After has the seconds to wait',
  500: 'Internal server error',
};

export function ApiAuthErrors(...statuses: number[]): MethodDecorator & ClassDecorator {
  return applyDecorators(
    ...statuses.map((status) =>
      ApiResponse({ status, description: MEANINGS[status] ?? 'Error', type: AuthErrorDto }),
    ),
  );
}
