/** @hey-api/openapi-ts with its sdk and zod plugins: the schemas of zod check each body and each answer. */
import { createClient } from './client/client';
import * as sdk from './client/sdk.gen';
import { zRestConflictError, zTodosInsert, zUpdateBucketDto } from './client/zod.gen';
import { BASE_URL, given, headersOf, rowsOf, unchanged } from './common';
import { type ProjectApi, runSteps } from './steps';

await runSteps((token): ProjectApi => {
  const client = createClient({ baseUrl: BASE_URL, headers: { ...headersOf(token) } });
  return {
    async signUp(body) {
      const { data, error } = await sdk.signUp({ client, body });
      return given(data, error);
    },
    async insertTodo(body) {
      const { data, error } = await sdk.insertTodos({ client, body: unchanged(zTodosInsert, body) });
      return given(data, error);
    },
    async insertTodos(body) {
      const { data, error } = await sdk.insertTodos({ client, body });
      return given(data, error);
    },
    async findTodos(query) {
      const { data, error } = await sdk.selectTodos({ client, query });
      return given(data, error);
    },
    async pageOfTodos(query) {
      const { data, error } = await sdk.selectTodos({ client, query });
      return given(data, error);
    },
    async finishTodo(id) {
      const { data, error } = await sdk.updateTodos({
        client,
        query: { id: `eq.${id}` },
        body: { done: true },
      });
      return rowsOf(given(data, error));
    },
    async savePreference(body) {
      const headers = { Prefer: 'resolution=merge-duplicates' };
      const { data, error } = await sdk.insertPreferences({ client, headers, body });
      return given(data, error);
    },
    async add(a) {
      const { data, error } = await sdk.callAdd({ client, body: { a } });
      return given(data, error);
    },
    async createBucket(name) {
      const { data, error } = await sdk.createBucket({ client, body: { name, is_public: true } });
      return given(data, error).data.slug;
    },
    async describeBucket(bucket_name, description) {
      const body = unchanged(zUpdateBucketDto, { description });
      const { data, error } = await sdk.updateBucket({ client, path: { bucket_name }, body });
      return given(data, error).data;
    },
    async upload(bucket_name, file) {
      const { data, error } = await sdk.uploadFile({ client, path: { bucket_name }, body: { file } });
      return given(data, error).data;
    },
    async listFiles(bucket_name) {
      const { data, error } = await sdk.listFiles({ client, path: { bucket_name }, query: { limit: 5 } });
      return given(data, error).data;
    },
    async sign(file_id) {
      const { data, error } = await sdk.createSignedUrl({
        client,
        path: { file_id },
        body: { expiry: '1h' },
      });
      return given(data, error).data.url;
    },
    async download(file_id) {
      const { data, error } = await sdk.downloadFile({ client, path: { file_id } });
      return given(data, error);
    },
    async deleteFile(file_id) {
      const { data, error } = await sdk.deleteFile({ client, path: { file_id } });
      return given(data, error);
    },
    async deleteTodo(id) {
      const { data, error } = await sdk.deleteTodos({ client, query: { id: `eq.${id}` } });
      return rowsOf(given(data, error));
    },
    async refusedRead() {
      const { error, response } = await sdk.selectTodos({ client });
      return { status: given(response).status, error: given(error) };
    },
    async forbiddenRead() {
      const { error, response } = await sdk.selectSealed({ client });
      return { status: given(response).status, error: given(error) };
    },
    async conflictingInsert(title) {
      const { error, response } = await sdk.insertTodos({ client, body: { title } });
      // `error` is a union of the bodies of all statuses: the schema of zod checks the body and narrows its type.
      return { status: given(response).status, error: zRestConflictError.parse(error) };
    },
  };
});
