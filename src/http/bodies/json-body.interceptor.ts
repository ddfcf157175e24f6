/**
 * Parses a JSON body after the guards and before the pipes, so that a 401 comes before a 400 and costs no parsing. Responses of
 * such routes depend on the caller, whom caches do not recognise by the credentials: no cache may store them.
 */
import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, Observable } from 'rxjs';
import { BodyReader } from './body-reader';
import { bodyNotAnObject } from './body.errors';

@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  constructor(protected readonly bodies: BodyReader) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    response.setHeader('Cache-Control', 'no-store');
    return from(
      this.bodies.useJson(request, (body) => {
        // Nest's pipes would pass null on as a DTO.
        if (body === null) throw bodyNotAnObject();
        request.body = body;
        return lastValueFrom(next.handle(), { defaultValue: undefined });
      }),
    );
  }
}
