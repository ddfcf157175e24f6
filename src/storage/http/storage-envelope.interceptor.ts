/** Puts successes into the storage's envelope (SPEC.md 2.8). Errors are the error filter's; streams write themselves. */
import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import { map, Observable } from 'rxjs';

export interface Envelope<T> {
  readonly data: T;
  readonly error: null;
}

@Injectable()
export class StorageEnvelopeInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<Envelope<unknown>> {
    return next.handle().pipe(map((data: unknown) => ({ data: data ?? null, error: null })));
  }
}
