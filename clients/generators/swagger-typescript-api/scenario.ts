/** swagger-typescript-api, with its client for fetch(). */
import { Api, type RestConflictError } from './client/api';
import { BASE_URL, headersOf, rowsOf } from './common';
import { CONFLICT, narrowing } from './errors';
import { type ProjectApi, runSteps } from './steps';

/**
 * `error` is a union of the bodies of all statuses, and `status` a number: the code narrows the type. Without
 * `--disable-throw-on-error` the client rejects, and then errors have no type at all.
 */
const toConflict = narrowing<RestConflictError>(CONFLICT);

await runSteps((token): ProjectApi => {
  const { v1, p } = new Api({ baseUrl: BASE_URL, baseApiParams: { headers: headersOf(token) } });
  return {
    signUp: async (body) => (await v1.signUp(body)).data,
    insertTodo: async (body) => (await p.insertTodos(body)).data,
    insertTodos: async (body) => (await p.insertTodos(body)).data,
    findTodos: async (query) => (await p.selectTodos(query)).data,
    pageOfTodos: async (query) => (await p.selectTodos(query)).data,
    finishTodo: async (id) => rowsOf((await p.updateTodos({ id: `eq.${id}` }, { done: true })).data),
    async savePreference(body) {
      const headers = { ...headersOf(token), Prefer: 'resolution=merge-duplicates' };
      return (await p.insertPreferences(body, undefined, { headers })).data;
    },
    add: async (a) => (await p.callAdd({ a })).data,
    createBucket: async (name) => (await p.createBucket({ name, is_public: true })).data.data.slug,
    describeBucket: async (bucket, description) => (await p.updateBucket(bucket, { description })).data.data,
    upload: async (bucket, file) => (await p.uploadFile(bucket, { file })).data.data,
    listFiles: async (bucket) => (await p.listFiles(bucket, { limit: 5 })).data.data,
    sign: async (id) => (await p.createSignedUrl(id, { expiry: '1h' })).data.data.url,
    download: async (id) => (await p.downloadFile(id, undefined, { format: 'blob' })).data,
    deleteFile: (id) => p.deleteFile(id),
    deleteTodo: async (id) => rowsOf((await p.deleteTodos({ id: `eq.${id}` })).data),
    refusedRead: async () => p.selectTodos(),
    forbiddenRead: async () => p.selectSealed(),
    async conflictingInsert(title) {
      const { status, error } = await p.insertTodos({ title });
      return { status, error: toConflict(error) };
    },
  };
});
