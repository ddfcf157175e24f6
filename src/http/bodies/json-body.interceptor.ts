/** Parses a JSON body after the guards and before the pipes, so that a 401 comes before a 400 and costs no parsing. */
import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { from, lastValueFrom, Observable } from 'rxjs';
import { BodyReader } from './body-reader';
import { bodyNotAnObject } from './body.errors';

@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  constructor(private readonly bodies: BodyReader) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
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
