/** Hands a controller what a page's form sent. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { httpError } from '../../common/errors/http-errors';
import { readBody } from '../../common/http/read-body';

/** Bytes: a token and a password. */
const LIMIT = 16 * 1024;

/** @throws AppError 413, 415 for what no form of ours sends */
export const MailFormBody = createParamDecorator(
  async (_data: unknown, context: ExecutionContext): Promise<URLSearchParams> => {
    const request = context.switchToHttp().getRequest<Request>();
    const body = await readBody(request, LIMIT);
    if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')) {
      throw httpError(415, 'The body must be that of a form');
    }
    return new URLSearchParams(body.toString('utf8'));
  },
);
