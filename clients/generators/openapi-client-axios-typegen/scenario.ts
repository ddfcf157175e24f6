/** openapi-client-axios-typegen: types for openapi-client-axios, which reads the document at run time. */
import { readFileSync } from 'node:fs';
import { isAxiosError } from 'axios';
import { type Document, OpenAPIClientAxios } from 'openapi-client-axios';
import type { Client, RestConflictError, RestForbiddenError, RestUnauthorizedError } from './client/api';
import { BASE_URL, given, headersOf, rejectionOf, rowsOf } from './common';
import { CONFLICT, FORBIDDEN, narrowing, UNAUTHORIZED } from './errors';
import { type Failure, type ProjectApi, runSteps } from './steps';

// Axios rejects, and TypeScript has no types for what a promise is rejected with: the code of an error tells its type.
const toUnauthorized = narrowing<RestUnauthorizedError>(UNAUTHORIZED);
const toForbidden = narrowing<RestForbiddenError>(FORBIDDEN);
const toConflict = narrowing<RestConflictError>(CONFLICT);

const definition = JSON.parse(readFileSync('openapi.json', 'utf8')) as Document;

await runSteps((token): ProjectApi => {
  const axiosConfigDefaults = { baseURL: BASE_URL, headers: headersOf(token) };
  const api = new OpenAPIClientAxios({ definition, axiosConfigDefaults }).initSync<Client>();
  return {
    signUp: async (body) => (await api.signUp(null, body)).data,
    insertTodo: async (body) => (await api.insertTodos(null, body)).data,
    insertTodos: async (body) => (await api.insertTodos(null, body)).data,
    findTodos: async (query) => (await api.selectTodos(query)).data,
    pageOfTodos: async (query) => (await api.selectTodos(query)).data,
    finishTodo: async (id) => rowsOf((await api.updateTodos({ id: `eq.${id}` }, { done: true })).data),
    savePreference: async (body) =>
      (await api.insertPreferences({ Prefer: 'resolution=merge-duplicates' }, body)).data,
    add: async (a) => given((await api.callAdd(null, { a })).data),
    createBucket: async (name) => (await api.createBucket(null, { name, is_public: true })).data.data.slug,
    describeBucket: async (bucket_name, description) =>
      (await api.updateBucket({ bucket_name }, { description })).data.data,
    async upload(bucket_name, file) {
      const form = new FormData();
      form.append('file', file);
      // The generated type of a form is that of its members, with files as strings.
      return (await api.uploadFile({ bucket_name }, form as never)).data.data;
    },
    listFiles: async (bucket_name) => (await api.listFiles({ bucket_name, limit: 5 })).data.data,
    sign: async (file_id) => (await api.createSignedUrl({ file_id }, { expiry: '1h' })).data.data.url,
    download: async (file_id) => (await api.downloadFile({ file_id })).data,
    deleteFile: async (file_id) => (await api.deleteFile({ file_id })).data,
    deleteTodo: async (id) => rowsOf((await api.deleteTodos({ id: `eq.${id}` })).data),
    refusedRead: () => failed(api.selectTodos(), toUnauthorized),
    forbiddenRead: () => failed(api.selectSealed(), toForbidden),
    conflictingInsert: (title) => failed(api.insertTodos(null, { title }), toConflict),
  };
});

async function failed<E>(request: Promise<unknown>, narrow: (error: unknown) => E): Promise<Failure<E>> {
  const reason = await rejectionOf(request);
  if (!isAxiosError<unknown>(reason) || !reason.response) throw reason;
  return { status: reason.response.status, error: narrow(reason.response.data) };
}
