/** The payload of a broadcast as the whole body: JSON, or bytes as `application/octet-stream`. */
import { CallHandler, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { from, lastValueFrom, Observable } from 'rxjs';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { MAX_FRAME_BYTES } from '../realtime-limits';

/** Memory is reserved for the body, and for its copy in a frame. */
const BYTES = { limit: MAX_FRAME_BYTES, multiple: 2 };

@Injectable()
export class PayloadBodyInterceptor extends JsonBodyInterceptor {
  override intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    if (!/^application\/octet-stream\b/i.test(request.headers['content-type'] ?? ''))
      return super.intercept(context, next);
    return from(
      this.bodies.use(request, BYTES, ({ bytes }) => {
        request.body = bytes;
        return lastValueFrom(next.handle(), { defaultValue: undefined });
      }),
    );
  }
}
