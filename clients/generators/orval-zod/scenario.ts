/** orval with its schemas of zod: fetch() sends the requests, and the schemas check and type what is sent and answered. */
import * as z from './client/api';
import { headersOf, unchanged } from './common';
import { failed, ok, type Schema, sender } from './send';
import { type ProjectApi, runSteps } from './steps';

const TODOS = '/p/rich/rest/v1/todos';
const BUCKETS = '/p/rich/storage/buckets';
const FILES = '/p/rich/storage/files';

await runSteps((token): ProjectApi => {
  const send = sender(headersOf(token));
  return {
    signUp: async (body) =>
      ok(
        await send('POST', '/v1/auth/$PROJECT_ID/signup', unchanged(z.signUpBody, body)),
        z.signUp201Response,
      ),
    insertTodo: async (body) =>
      ok(await send('POST', TODOS, unchanged(z.insertTodosBody, body)), z.insertTodos201Response),
    insertTodos: async (body) =>
      ok(await send('POST', TODOS, unchanged(z.insertTodosBody, body)), z.insertTodos201Response),
    findTodos: async (query) =>
      ok(await send('GET', TODOS + search(z.selectTodosQueryParams, query)), z.selectTodos200Response),
    pageOfTodos: async (query) =>
      ok(await send('GET', TODOS + search(z.selectTodosQueryParams, query)), z.selectTodos200Response),
    finishTodo: async (id) => {
      const path = TODOS + search(z.updateTodosQueryParams, { id: `eq.${id}` });
      return ok(
        await send('PATCH', path, unchanged(z.updateTodosBody, { done: true })),
        z.updateTodos200Response,
      );
    },
    savePreference: async (body) => {
      const { Prefer } = z.insertPreferencesHeader.parse({ Prefer: 'resolution=merge-duplicates' });
      const sent = unchanged(z.insertPreferencesBody, body);
      const answer = await send('POST', '/p/rich/rest/v1/preferences', sent, Prefer);
      return ok(answer, z.insertPreferences201Response);
    },
    add: async (a) =>
      ok(
        await send('POST', '/p/rich/rest/v1/rpc/add', unchanged(z.callAddBody, { a })),
        z.callAdd200Response,
      ),
    createBucket: async (name) => {
      const body = unchanged(z.createBucketBody, { name, is_public: true });
      return ok(await send('POST', BUCKETS, body), z.createBucket201Response).data.slug;
    },
    describeBucket: async (bucket, description) => {
      const body = unchanged(z.updateBucketBody, { description });
      return ok(await send('PATCH', `${BUCKETS}/${bucket}`, body), z.updateBucket200Response).data;
    },
    upload: async (bucket, file) => {
      const form = new FormData();
      form.append('file', unchanged(z.uploadFileBody, { file }).file);
      return ok(await send('POST', `${BUCKETS}/${bucket}/upload`, form), z.uploadFile201Response).data;
    },
    listFiles: async (bucket) => {
      const path = `${BUCKETS}/${bucket}/files${search(z.listFilesQueryParams, { limit: 5 })}`;
      return ok(await send('GET', path), z.listFiles200Response).data;
    },
    sign: async (id) => {
      const body = unchanged(z.createSignedUrlBody, { expiry: '1h' });
      return ok(await send('POST', `${FILES}/${id}/signed-url`, body), z.createSignedUrl200Response).data.url;
    },
    async download(id) {
      const { data } = await send('GET', `${FILES}/${id}/download`);
      if (!(data instanceof Blob)) throw new Error(JSON.stringify(data));
      return data;
    },
    deleteFile: async (id) => ok(await send('DELETE', `${FILES}/${id}`), z.deleteFile200Response),
    deleteTodo: async (id) => {
      const path = TODOS + search(z.deleteTodosQueryParams, { id: `eq.${id}` });
      return ok(await send('DELETE', path), z.deleteTodos200Response);
    },
    refusedRead: async () => failed(await send('GET', TODOS), z.selectTodos401Response),
    forbiddenRead: async () => failed(await send('GET', '/p/rich/rest/v1/sealed'), z.selectSealed403Response),
    conflictingInsert: async (title) =>
      failed(await send('POST', TODOS, { title }), z.insertTodos409Response),
  };
});

function search(schema: Schema<object>, query: Record<string, string | number>): string {
  const texts = Object.entries(unchanged(schema, query)).map(([name, value]) => [name, String(value)]);
  return `?${new URLSearchParams(texts).toString()}`;
}
