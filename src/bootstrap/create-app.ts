/** Builds the application. main.ts and the tests call the same function. */
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { ValidationError } from 'class-validator';
import type { Request, Response } from 'express';
import { CallerCheck } from '../access/caller-check.service';
import { AppModule, AppOptions } from '../app.module';
import { DocumentService } from '../api-docs/document.service';
import { GoTrueErrorRenderer } from '../auth/http/gotrue/gotrue-error.renderer';
import { AuthErrorRenderer } from '../auth/http/auth-error.renderer';
import { AppError, invalidParameters } from '../common/errors/app-error';
import { ErrorRenderer } from '../http/errors/error-renderer';
import { BodyPipe } from '../http/input/free-json';
import { contextOf } from '../http/request-context';
import { closeLingering } from '../admission/lingering-close';
import { replaceInvalidEscapes } from '../http/syntax/percent-encoding';
import { headFault } from '../http/request-head';
import { JsonLogger } from '../infra/logging/json-logger';
import { ProjectUpkeep } from '../projects/project-upkeep.service';
import { RealtimeErrorRenderer } from '../realtime/http/realtime-error.renderer';
import { RestErrorRenderer } from '../rest/http/rest-error.renderer';
import { S3Cors } from '../storage/http/s3/s3-cors.service';
import { ScimErrorRenderer } from '../scim/scim.errors';
import { S3ErrorRenderer } from '../storage/http/s3/s3-error.renderer';
import { StorageErrorRenderer } from '../storage/http/storage-error.renderer';
import { StorageJsErrorRenderer } from '../storage/http/supabase/storage-js-error.renderer';
import { ProjectRegistry } from '../projects/project-registry.service';
import { addS3Project, s3BucketOf } from './project-of-apikey';
import { addProject, lacksProject, withIssuerFirst } from './project-of-apikey';
import { corsOptions } from './cors';
import type { DrainableServer } from './drainable-server';
import { ErrorFilter } from './error.filter';
import { HttpAdapter } from './http-adapter';
import { PlatformErrorRenderer } from './platform-error.renderer';

const S3_PATH = /^\/p\/[^/]*\/storage\/v1\/s3\//;

export async function createApp(options: AppOptions): Promise<NestExpressApplication<DrainableServer>> {
  const app = await NestFactory.create<NestExpressApplication<DrainableServer>>(
    AppModule.forRoot(options),
    new HttpAdapter(options.config.server),
    {
      // Bodies are parsed after the guards (JsonBodyInterceptor and the features' own readers).
      bodyParser: false,
      logger: new JsonLogger(options.config.logLevel),
      abortOnError: false,
    },
  );
  const areas = [
    app.get(S3ErrorRenderer),
    app.get(StorageJsErrorRenderer),
    app.get(StorageErrorRenderer),
    new AuthErrorRenderer(),
    new GoTrueErrorRenderer(),
    new RealtimeErrorRenderer(),
    new ScimErrorRenderer(),
    new RestErrorRenderer(),
  ];
  configureExpress(app, options, areas);
  app.useGlobalPipes(
    new BodyPipe({ whitelist: true, stopAtFirstError: true, exceptionFactory: toInvalidParameters }),
  );
  app.useGlobalFilters(new ErrorFilter(areas, new PlatformErrorRenderer(), app.get(CallerCheck)));
  app.get(DocumentService).bind(app);
  await app.get(ProjectUpkeep).start();
  return app;
}

function configureExpress(
  app: NestExpressApplication,
  { config }: AppOptions,
  areas: readonly ErrorRenderer[],
): void {
  const registry = app.get(ProjectRegistry);
  const cors = app.get(S3Cors);
  const prepareS3 = async (request: Request, response: Response, bucket: string | null): Promise<void> => {
    if (bucket !== null) await addS3Project(request, bucket, registry);
    if (request.method === 'OPTIONS') await app.get(S3ErrorRenderer).complete(request.path, response);
    if (request.headers.origin !== undefined) contextOf(request).cors = await cors.decide(request);
  };
  // One middleware for all of this, because each middleware costs every request a microsecond.
  app.use((request: Request, response: Response, next: (error?: AppError) => void) => {
    closeLingering(request, response);
    const fault = headFault(request);
    if (fault) return next(fault);
    request.url = replaceInvalidEscapes(withIssuerFirst(request.url));
    const s3Bucket = s3BucketOf(request, config.server.s3Host);
    const isOfS3 = s3Bucket !== null || S3_PATH.test(request.url);
    if (isOfS3 && (s3Bucket !== null || request.headers.origin !== undefined)) {
      void prepareS3(request, response, s3Bucket).then(() => next(), next);
      return;
    }
    if (lacksProject(request) && request.method !== 'OPTIONS') {
      void addProject(request, registry).then(() => next(), next);
      return;
    }
    // Preflights are answered before routing.
    const area = request.method === 'OPTIONS' ? areas.find((one) => one.matches(request.path)) : undefined;
    if (area?.complete) void area.complete(request.path, response).then(() => next());
    else next();
  });
  app.enableCors(corsOptions);
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', config.server.trustProxy);
  // Features parse query strings themselves: table REST has its own grammar.
  app.set('query parser', 'simple');
}

/** One line for all validation errors: `email must be an email; password must be a string`. */
function toInvalidParameters(errors: ValidationError[]): AppError {
  return invalidParameters(errors.flatMap(messagesOf).join('; '));
}

function messagesOf(error: ValidationError): string[] {
  return [...Object.values(error.constraints ?? {}), ...(error.children ?? []).flatMap(messagesOf)];
}
