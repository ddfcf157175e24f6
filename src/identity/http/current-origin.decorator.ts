/** Parameter decorators: the RequestOrigin of the request, and its Sender. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { projectOf } from '../../access/current-caller.decorator';
import { parseAcceptLanguage } from '../../http/syntax/accept-language';
import type { RequestOrigin, Sender } from '../request-origin';

const MAX_USER_AGENT = 400;

/** `req.ip` is the peer's address, or the one from trusted proxies under TRUST_PROXY; a client's own header has no effect. */
export const originOf = (request: Request): RequestOrigin => ({
  ip: request.ip ?? '',
  userAgent: request.get('user-agent')?.slice(0, MAX_USER_AGENT) ?? null,
  languages: parseAcceptLanguage(request.get('accept-language')),
});

export const CurrentOrigin = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  originOf(context.switchToHttp().getRequest<Request>()),
);

/** The route must use ApiKeyGuard. */
export const CurrentSender = createParamDecorator((_data: unknown, context: ExecutionContext): Sender => {
  const request = context.switchToHttp().getRequest<Request>();
  return { project: projectOf(request), origin: originOf(request) };
});
