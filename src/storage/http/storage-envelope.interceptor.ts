/**
 * Writes every successful JSON response of storage in its envelope (SPEC.md 2.8). The error filter writes failures, and
 * ContentResponder writes the bytes of files.
 *
 * It writes to Node's response itself: Nest would pass the envelope to JSON.stringify(), which cannot take JsonRows as they
 * are, and Express's send() costs the busiest routes more than the write.
 */
import { CallHandler, ExecutionContext, Injectable, NestInterceptor, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { map, Observable } from 'rxjs';
import { JsonRows } from '../rows/json-rows';

@Injectable()
export class StorageEnvelopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<void> {
    const response = context.switchToHttp().getResponse<ServerResponse>();
    return next.handle().pipe(map((data: unknown) => write(response, bodyOf(data))));
  }
}

/**
 * Keeps Nest from sending the handler's result a second time: Nest leaves the response alone when a handler has a @Res()
 * parameter, so this adds one behind the handler's own.
 */
export function sentByInterceptor(
  target: object,
  name: string | symbol,
  descriptor: PropertyDescriptor,
): void {
  const handler: unknown = descriptor.value;
  if (typeof handler === 'function') Res()(target, name, handler.length);
}

const envelope = (data: unknown): string => JSON.stringify({ data, error: null });

/** The text before and after the rows of a list. */
const [HEAD = '', TAIL = ''] = envelope([]).split(/(?<=\[)(?=\])/);
const [LIST_HEAD, LIST_TAIL] = [Buffer.from(HEAD), Buffer.from(TAIL)];

function bodyOf(data: unknown): string | Buffer {
  if (data instanceof JsonRows) return Buffer.concat([LIST_HEAD, ...data.pieces, LIST_TAIL]);
  return envelope(data ?? null);
}

function write(response: ServerResponse, body: string | Buffer): void {
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  };
  response.writeHead(response.statusCode, headers).end(body);
}
