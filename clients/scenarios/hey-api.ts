/** @hey-api/openapi-ts with its sdk and zod plugins. */
import { createClient } from './client/client';
import * as sdk from './client/sdk.gen';
import type { RestConflictError } from './client/types.gen';
import { zTodos, zTodosInsert } from './client/zod.gen';
import { BASE_URL, given, headersOf, rowsOf } from './common';
import { type ProjectApi, runSteps } from './steps';

await runSteps((token): ProjectApi => {
  const client = createClient({ baseUrl: BASE_URL, headers: { ...headersOf(token) } });
  return {
    async signUp(body) {
      const { data, error } = await sdk.signUp({ client, body });
      const { user, session } = given(data, error);
      return { userId: user.id, token: session?.access_token };
    },
    async insertTodo(body) {
      // The schema of zod fills nothing in: the database does.
      const { data, error } = await sdk.insertTodos({ client, body: zTodosInsert.parse(body) });
      const rows = given(data, error);
      for (const row of rows) zTodos.parse(row);
      return rows;
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
      const { data, error } = await sdk.createBucket({ client, body: { name } });
      return given(data, error).data.slug;
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
      return { status: given(response).status, message: given(error).message };
    },
    async forbiddenRead() {
      const { error, response } = await sdk.selectSealed({ client });
      return { status: given(response).status, code: given(error).code };
    },
    async conflictingInsert(title) {
      const { error, response } = await sdk.insertTodos({ client, body: { title } });
      const conflict = given(error);
      if (!isConflict(conflict)) throw new Error('not a conflict');
      return { status: given(response).status, code: conflict.code, constraint: conflict.detail.constraint };
    },
  };
});

function isConflict(error: { code: string }): error is RestConflictError {
  return error.code === '23505';
}
