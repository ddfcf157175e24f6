/** Routes that receive forms of browsers: `@FormRoute()`, with the form as `@FormBody()`. */
import {
  applyDecorators,
  CallHandler,
  createParamDecorator,
  ExecutionContext,
  HttpCode,
  Injectable,
  NestInterceptor,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import type { Request } from 'express';
import { from, lastValueFrom, Observable } from 'rxjs';
import { type AppError, httpError } from '../../common/errors/app-error';
import { type BodyKind, BodyReader } from '../../http/bodies/body-reader';
import { PublicRoute } from '../../access/public-route.decorator';
import { ClientThrottlerGuard } from './client-throttler.guard';

export const mediaTypeNotForm = (): AppError => httpError(415, 'The body must be that of a form');

/** Room for a token and a password. */
const FORM: BodyKind = { limit: 16 * 1024, multiple: 16 };

@Injectable()
class FormInterceptor implements NestInterceptor {
  protected readonly kind: BodyKind = FORM;

  constructor(private readonly bodies: BodyReader) {}

  /** @throws AppError 413, 415 for a body that is not such a form */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    return from(
      this.bodies.use(request, this.kind, ({ bytes }) => {
        if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? ''))
          throw mediaTypeNotForm();
        request.body = new URLSearchParams(bytes.toString('utf8'));
        return lastValueFrom(next.handle(), { defaultValue: undefined });
      }),
    );
  }
}

/** Room for a document of SAML, in base64 and with escaped characters. */
@Injectable()
class LargeFormInterceptor extends FormInterceptor {
  protected override readonly kind: BodyKind = { limit: 768 * 1024, multiple: 16 };
}

export const FormBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext): URLSearchParams =>
    context.switchToHttp().getRequest<Request<object, unknown, URLSearchParams>>().body,
);

/** A route that the form of a page is sent to. */
export const FormRoute = (
  path: string,
  reason = 'the form of the page sends it; the mailed token in it is the credential',
  isLarge = false,
): MethodDecorator =>
  applyDecorators(
    Post(path),
    HttpCode(200),
    UseGuards(ClientThrottlerGuard),
    UseInterceptors(isLarge ? LargeFormInterceptor : FormInterceptor),
    PublicRoute(reason),
  );
