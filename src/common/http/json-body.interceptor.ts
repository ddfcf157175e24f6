/** Parses a JSON body after the guards and before the pipes: a 401 comes before a 400, and costs no parsing. */
import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { Observable } from 'rxjs';
import { AppError } from '../errors/app-error';
import { httpError } from '../errors/http-errors';
import { storageFault } from '../text/storable';
import { readBody } from './read-body';

/** Bytes: bodies of accounts, buckets and settings are small. */
const LIMIT = 1024 * 1024;

@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const body = await readJson(request);
    // The pipes let null pass as if it were a DTO.
    if (body === null) throw httpError(400, 'The body must be a JSON object');
    request.body = body;
    return next.handle();
  }
}

/** `{}` when there is no body. @throws AppError 400 for malformed JSON, 413, 415 for another media type */
export async function readJson(request: Request, limit = LIMIT): Promise<unknown> {
  const body = await readBody(request, limit);
  if (body.length === 0) return {};
  const type = request.headers['content-type'];
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    throw httpError(415, 'The body must be application/json');
  }
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    const fault = storageFault('The body', value);
    if (fault === null) return value;
    throw httpError(400, fault);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw httpError(400, 'The body is not valid JSON', error);
  }
}
