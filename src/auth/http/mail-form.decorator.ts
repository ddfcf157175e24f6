/** Parameter decorator: the form of a hosted page. The route must use MailFormInterceptor. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

export const MailFormBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext): URLSearchParams =>
    context.switchToHttp().getRequest<Request<object, unknown, URLSearchParams>>().body,
);
