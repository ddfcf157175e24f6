/** Parses a JSON body after the guards and before the pipes: a 401 comes before a 400, and costs no parsing. */
import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { Observable } from 'rxjs';
import { AppError } from '../errors/app-error';
import { httpError } from '../errors/http-errors';
import { readBody } from './read-body';

/** Levels of lists and objects: what validates and prints JSON recurses, and would run out of stack. */
const MAX_DEPTH = 64;

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
    return storable(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw httpError(400, 'The body is not valid JSON', error);
  }
}

/** A value and the name of the member that holds it, itself or in lists. */
type Named = readonly [name: string, value: unknown];

/**
 * The value itself, if it can be validated and stored. Level by level rather than recursive, for the same reason.
 * @throws AppError 400
 */
function storable(value: unknown): unknown {
  let level: Named[] = [['The body', value]];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw httpError(400, `The body is nested more than ${MAX_DEPTH} levels deep`);
    const fault = level.find(([name, content]) => isUnstorable(name) || isUnstorable(content));
    if (fault) throw httpError(400, `${fault[0].toWellFormed()} holds a NUL or half a surrogate pair`);
    level = level.flatMap(membersOf);
  }
  return value;
}

/** PostgreSQL's text holds no NUL, and UTF-8 no half of a surrogate pair: it would be stored as another character. */
function isUnstorable(value: unknown): boolean {
  return typeof value === 'string' && (value.includes('\0') || !value.isWellFormed());
}

function membersOf([name, value]: Named): Named[] {
  if (Array.isArray(value)) return value.map((item) => [name, item]);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
