/** Hands a controller what a page's form sent; needs MailFormInterceptor. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

export const MailFormBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext): URLSearchParams =>
    context.switchToHttp().getRequest<Request>().body as URLSearchParams,
);
