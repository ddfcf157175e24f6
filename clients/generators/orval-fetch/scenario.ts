/** orval with its client for fetch(): every response is a union by its status. */
import * as api from './client/api';
import { headersOf } from './common';
import { failed, ok } from './statuses';
import { type ProjectApi, runSteps } from './steps';

await runSteps((token): ProjectApi => {
  const options = { headers: headersOf(token) };
  return {
    signUp: async (body) => ok(await api.signUp(body, options), 201),
    insertTodo: async (body) => ok(await api.insertTodos(body, undefined, options), 201),
    insertTodos: async (body) => ok(await api.insertTodos(body, undefined, options), 201),
    findTodos: async (query) => ok(await api.selectTodos(query, options), 200),
    pageOfTodos: async (query) => ok(await api.selectTodos(query, options), 200, 206),
    finishTodo: async (id) => ok(await api.updateTodos({ done: true }, { id: `eq.${id}` }, options), 200),
    savePreference: async (body) => {
      const headers = { ...headersOf(token), Prefer: 'resolution=merge-duplicates' };
      return ok(await api.insertPreferences(body, undefined, { headers }), 200, 201);
    },
    add: async (a) => ok(await api.callAdd({ a }, options), 200),
    createBucket: async (name) =>
      ok(await api.createBucket({ name, is_public: true }, options), 201).data.slug,
    describeBucket: async (bucket, description) =>
      ok(await api.updateBucket(bucket, { description }, options), 200).data,
    upload: async (bucket, file) => ok(await api.uploadFile(bucket, { file }, undefined, options), 201).data,
    listFiles: async (bucket) => ok(await api.listFiles(bucket, { limit: 5 }, options), 200).data,
    sign: async (id) => ok(await api.createSignedUrl(id, { expiry: '1h' }, options), 200).data.url,
    download: async (id) => ok(await api.downloadFile(id, undefined, options), 200),
    deleteFile: (id) => api.deleteFile(id, options),
    deleteTodo: async (id) => ok(await api.deleteTodos({ id: `eq.${id}` }, options), 200),
    refusedRead: async () => failed(await api.selectTodos(undefined, options), 401),
    forbiddenRead: async () => failed(await api.selectSealed(undefined, options), 403),
    async conflictingInsert(title) {
      const answer = await api.insertTodos({ title }, undefined, options);
      if (answer.status !== 409) throw new Error(JSON.stringify(answer));
      return { status: answer.status, error: answer.data };
    },
  };
});
