/** ng-openapi-gen: Angular's HttpClient over fetch(), without a browser. */
import '@angular/compiler';
import { HttpContext, HttpErrorResponse } from '@angular/common/http';
import { Api } from './client/api';
import { provideApiConfiguration } from './client/api-configuration';
import * as fn from './client/functions';
import type { RestConflictError, RestForbiddenError, RestUnauthorizedError } from './client/models';
import { BASE_URL, headersOf, rejectionOf, rowsOf } from './common';
import { CONFLICT, FORBIDDEN, narrowing, UNAUTHORIZED } from './errors';
import { HEADERS, httpClient } from './http';
import { type Failure, type ProjectApi, runSteps } from './steps';

// The generator writes the types of errors, but no operation refers to them, and Angular types the body of its
// HttpErrorResponse as `any`: the code of an error tells its type.
const toUnauthorized = narrowing<RestUnauthorizedError>(UNAUTHORIZED);
const toForbidden = narrowing<RestForbiddenError>(FORBIDDEN);
const toConflict = narrowing<RestConflictError>(CONFLICT);

const api = new Api(provideApiConfiguration(BASE_URL).useValue, httpClient);

await runSteps((token): ProjectApi => {
  const context = new HttpContext().set(HEADERS, headersOf(token));
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
    refusedRead: () => failed(api.invoke(fn.selectTodos, {}, context), toUnauthorized),
    forbiddenRead: () => failed(api.invoke(fn.selectSealed, {}, context), toForbidden),
    conflictingInsert: (title) =>
      failed(api.invoke(fn.insertTodos, { body: { title } }, context), toConflict),
  };
});

async function failed<E>(request: Promise<unknown>, narrow: (error: unknown) => E): Promise<Failure<E>> {
  const reason = await rejectionOf(request);
  if (!(reason instanceof HttpErrorResponse)) throw reason;
  return { status: reason.status, error: narrow(reason.error) };
}
