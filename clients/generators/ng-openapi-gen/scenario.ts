/** ng-openapi-gen: Angular's HttpClient over fetch(), without a browser. */
import '@angular/compiler';
import {
  HttpClient,
  HttpContext,
  HttpContextToken,
  HttpErrorResponse,
  provideHttpClient,
  withFetch,
  withInterceptors,
  withNoXsrfProtection,
} from '@angular/common/http';
import {
  createEnvironmentInjector,
  type EnvironmentInjector,
  platformCore,
  provideZonelessChangeDetection,
  ɵINJECTOR_SCOPE as INJECTOR_SCOPE,
} from '@angular/core';
import { Api } from './client/api';
import { provideApiConfiguration } from './client/api-configuration';
import * as fn from './client/functions';
import type { RestConflictError, RestForbiddenError, RestUnauthorizedError } from './client/models';
import { BASE_URL, headersOf, rejectionOf, rowsOf } from './common';
import { type Failure, type ProjectApi, runSteps } from './steps';

const TOKEN = new HttpContextToken(() => '');

// The injector of an application without components, so that no DOM is needed.
const injector = createEnvironmentInjector(
  [
    { provide: INJECTOR_SCOPE, useValue: 'root' },
    provideZonelessChangeDetection(),
    provideHttpClient(
      withFetch(),
      withNoXsrfProtection(),
      withInterceptors([
        (request, next) => next(request.clone({ setHeaders: headersOf(request.context.get(TOKEN)) })),
      ]),
    ),
  ],
  platformCore().injector as EnvironmentInjector,
);
const api = new Api(provideApiConfiguration(BASE_URL).useValue, injector.get(HttpClient));

await runSteps((token): ProjectApi => {
  const context = new HttpContext().set(TOKEN, token);
  return {
    signUp: (body) => api.invoke(fn.signUp, { body }, context),
    insertTodo: (body) => api.invoke(fn.insertTodos, { body }, context),
    insertTodos: (body) => api.invoke(fn.insertTodos, { body }, context),
    findTodos: (query) => api.invoke(fn.selectTodos, query, context),
    pageOfTodos: (query) => api.invoke(fn.selectTodos, query, context),
    finishTodo: async (id) =>
      rowsOf(await api.invoke(fn.updateTodos, { id: `eq.${id}`, body: { done: true } }, context)),
    savePreference: (body) =>
      api.invoke(fn.insertPreferences, { Prefer: 'resolution=merge-duplicates', body }, context),
    add: (a) => api.invoke(fn.callAdd, { body: { a } }, context),
    createBucket: async (name) =>
      (await api.invoke(fn.createBucket, { body: { name, is_public: true } }, context)).data.slug,
    describeBucket: async (bucket_name, description) =>
      (await api.invoke(fn.updateBucket, { bucket_name, body: { description } }, context)).data,
    upload: async (bucket_name, file) =>
      (await api.invoke(fn.uploadFile, { bucket_name, body: { file } }, context)).data,
    listFiles: async (bucket_name) =>
      (await api.invoke(fn.listFiles, { bucket_name, limit: 5 }, context)).data,
    sign: async (file_id) =>
      (await api.invoke(fn.createSignedUrl, { file_id, body: { expiry: '1h' } }, context)).data.url,
    download: (file_id) => api.invoke(fn.downloadFile, { file_id }, context),
    deleteFile: (file_id) => api.invoke(fn.deleteFile, { file_id }, context),
    deleteTodo: async (id) => rowsOf(await api.invoke(fn.deleteTodos, { id: `eq.${id}` }, context)),
    refusedRead: () => failed(api.invoke(fn.selectTodos, {}, context), 401),
    forbiddenRead: () => failed(api.invoke(fn.selectSealed, {}, context), 403),
    conflictingInsert: (title) => failed(api.invoke(fn.insertTodos, { body: { title } }, context), 409),
  };
});

/** The errors of table REST, which have one type for each status. */
interface RestFailures {
  readonly 401: RestUnauthorizedError;
  readonly 403: RestForbiddenError;
  readonly 409: RestConflictError;
}

/**
 * The generator writes the types of errors, but no operation refers to them, and Angular types the body of its
 * HttpErrorResponse as `any`: the status chooses the type here.
 */
async function failed<Status extends keyof RestFailures>(
  request: Promise<unknown>,
  status: Status,
): Promise<Failure<RestFailures[Status]>> {
  const reason = await rejectionOf(request);
  if (!(reason instanceof HttpErrorResponse) || reason.status !== status) throw reason;
  return { status, error: reason.error as RestFailures[Status] };
}
