/** kubb, with its plugins for types, axios and zod: the schemas of zod check each body and each answer. */
import { isAxiosError } from 'axios';
import * as api from './client';
import { BASE_URL, headersOf, rejectionOf, rowsOf, unchanged } from './common';
import { type Failure, type ProjectApi, runSteps } from './steps';

await runSteps((token): ProjectApi => {
  const config = { baseURL: BASE_URL, headers: headersOf(token) };
  return {
    signUp: (body) => api.signUp(body, config),
    insertTodo: (body) => api.insertTodos(unchanged(api.todosInsertSchema, body), {}, {}, config),
    insertTodos: (body) => api.insertTodos(body, {}, {}, config),
    findTodos: (query) => api.selectTodos(query, {}, config),
    pageOfTodos: (query) => api.selectTodos(query, {}, config),
    finishTodo: async (id) => rowsOf(await api.updateTodos({ done: true }, { id: `eq.${id}` }, {}, config)),
    savePreference: (body) =>
      api.insertPreferences(body, {}, { Prefer: 'resolution=merge-duplicates' }, config),
    add: (a) => api.callAdd({ a }, {}, config),
    createBucket: async (name) => (await api.createBucket({ name, is_public: true }, config)).data.slug,
    describeBucket: async (bucket, description) =>
      (await api.updateBucket(bucket, unchanged(api.updateBucketDtoSchema, { description }), config)).data,
    upload: async (bucket, file) => (await api.uploadFile(bucket, { file }, {}, config)).data,
    listFiles: async (bucket) => (await api.listFiles(bucket, { limit: 5 }, config)).data,
    sign: async (id) => (await api.createSignedUrl(id, { expiry: '1h' }, config)).data.url,
    download: (id) => api.downloadFile(id, {}, {}, { ...config, responseType: 'blob' }),
    deleteFile: (id) => api.deleteFile(id, config),
    deleteTodo: async (id) => rowsOf(await api.deleteTodos({ id: `eq.${id}` }, {}, config)),
    refusedRead: () => failed(api.selectTodos({}, {}, config), 401, api.selectTodos401Schema),
    forbiddenRead: () => failed(api.selectSealed({}, {}, config), 403, api.selectSealed403Schema),
    conflictingInsert: (title) =>
      failed(api.insertTodos({ title }, {}, {}, config), 409, api.insertTodos409Schema),
  };
});

/**
 * Axios rejects, and TypeScript has no types for what a promise is rejected with. The schema of the expected status, which
 * the generator writes too, checks the body and gives it its type.
 */
async function failed<E>(
  request: Promise<unknown>,
  status: number,
  schema: { parse(value: unknown): E },
): Promise<Failure<E>> {
  const reason = await rejectionOf(request);
  if (!isAxiosError(reason) || reason.response?.status !== status) throw reason;
  return { status, error: schema.parse(reason.response.data) };
}
