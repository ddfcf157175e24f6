/** Puts successes into the storage's envelope (SPEC.md 2.8). Errors are the error filter's; streams write themselves. */
import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, Observable } from 'rxjs';
import { JsonText } from '../../common/text/json';

export interface Envelope<T> {
  readonly data: T;
  readonly error: null;
}

@Injectable()
export class StorageEnvelopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<Envelope<unknown> | string> {
    return next.handle().pipe(
      map((data: unknown) => {
        if (!(data instanceof JsonText)) return { data: data ?? null, error: null };
        context.switchToHttp().getResponse<Response>().type('json');
        return `{"data":${data.text},"error":null}`;
      }),
    );
  }
}
