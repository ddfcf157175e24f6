/** openapi-typescript and openapi-fetch. */
import createClient from 'openapi-fetch';
import { BASE_URL, given, headersOf, rowsOf } from './common';
import { CONFLICT, narrowing } from './errors';
import type { components, paths } from './schema';
import { type ProjectApi, runSteps } from './steps';

/** `error` is a union of the bodies of all statuses, and `response.status` a number: the code narrows the type. */
const toConflict = narrowing<components['schemas']['RestConflictError']>(CONFLICT);

await runSteps((token): ProjectApi => {
  const api = createClient<paths>({ baseUrl: BASE_URL, headers: headersOf(token) });
  return {
    async signUp(body) {
      const { data, error } = await api.POST('/v1/auth/$PROJECT_ID/signup', { body });
      return given(data, error);
    },
    async insertTodo(body) {
      const { data, error } = await api.POST('/p/rich/rest/v1/todos', { body });
      return given(data, error);
    },
    async insertTodos(body) {
      const { data, error } = await api.POST('/p/rich/rest/v1/todos', { body });
      return given(data, error);
    },
    async findTodos(query) {
      const { data, error } = await api.GET('/p/rich/rest/v1/todos', { params: { query } });
      return given(data, error);
    },
    async pageOfTodos(query) {
      const { data, error } = await api.GET('/p/rich/rest/v1/todos', { params: { query } });
      return given(data, error);
    },
    async finishTodo(id) {
      const params = { query: { id: `eq.${id}` } };
      const { data, error } = await api.PATCH('/p/rich/rest/v1/todos', { params, body: { done: true } });
      return rowsOf(given(data, error));
    },
    async savePreference(body) {
      const params = { header: { Prefer: 'resolution=merge-duplicates' } };
      const { data, error } = await api.POST('/p/rich/rest/v1/preferences', { params, body });
      return given(data, error);
    },
    async add(a) {
      const { data, error } = await api.POST('/p/rich/rest/v1/rpc/add', { body: { a } });
      return given(data, error);
    },
    async createBucket(name) {
      const body = { name, is_public: true };
      const { data, error } = await api.POST('/p/rich/storage/buckets', { body });
      return given(data, error).data.slug;
    },
    async describeBucket(bucket_name, description) {
      const { data, error } = await api.PATCH('/p/rich/storage/buckets/{bucket_name}', {
        params: { path: { bucket_name } },
        body: { description },
      });
      return given(data, error).data;
    },
    async upload(bucket_name, file) {
      const form = new FormData();
      form.append('file', file);
      const { data, error } = await api.POST('/p/rich/storage/buckets/{bucket_name}/upload', {
        params: { path: { bucket_name } },
        body: { file: '' },
        bodySerializer: () => form,
      });
      return given(data, error).data;
    },
    async listFiles(bucket_name) {
      const params = { path: { bucket_name }, query: { limit: 5 } };
      const { data, error } = await api.GET('/p/rich/storage/buckets/{bucket_name}/files', { params });
      return given(data, error).data;
    },
    async sign(file_id) {
      const { data, error } = await api.POST('/p/rich/storage/files/{file_id}/signed-url', {
        params: { path: { file_id } },
        body: { expiry: '1h' },
      });
      return given(data, error).data.url;
    },
    async download(file_id) {
      const { data, error } = await api.GET('/p/rich/storage/files/{file_id}/download', {
        params: { path: { file_id } },
        parseAs: 'text',
      });
      return given(data, error);
    },
    async deleteFile(file_id) {
      const params = { path: { file_id } };
      const { data, error } = await api.DELETE('/p/rich/storage/files/{file_id}', { params });
      return given(data, error);
    },
    async deleteTodo(id) {
      const params = { query: { id: `eq.${id}` } };
      const { data, error } = await api.DELETE('/p/rich/rest/v1/todos', { params });
      return rowsOf(given(data, error));
    },
    async refusedRead() {
      const { error, response } = await api.GET('/p/rich/rest/v1/todos');
      return { status: response.status, error: given(error) };
    },
    async forbiddenRead() {
      const { error, response } = await api.GET('/p/rich/rest/v1/sealed');
      return { status: response.status, error: given(error) };
    },
    async conflictingInsert(title) {
      const { error, response } = await api.POST('/p/rich/rest/v1/todos', { body: { title } });
      return { status: response.status, error: toConflict(error) };
    },
  };
});

/** What the types refuse and accept; never called. */
export function compiled(api: ReturnType<typeof createClient<paths>>): void {
  // @ts-expect-error a title is required
  void api.POST('/p/rich/rest/v1/todos', { body: { done: true } });
  // @ts-expect-error there is no such label
  void api.POST('/p/rich/rest/v1/todos', { body: { title: 'C', priority: 'urgent' } });
  // @ts-expect-error without a filter
  void api.DELETE('/p/rich/rest/v1/todos', { params: { query: {} } });
  void api.POST('/p/rich/rest/v1/rpc/label', { body: { value: 'a', quoted: true } });
  void api.GET('/p/rich/rest/v1/rpc/find_todos', { params: { query: { words: 'milk' } } });
}
