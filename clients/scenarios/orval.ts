/** orval with its client for fetch(): every response is a union by its status. */
import * as api from './client/api';
import { headersOf } from './common';
import { type ProjectApi, runSteps } from './steps';

await runSteps((token): ProjectApi => {
  const options = { headers: headersOf(token) };
  return {
    async signUp(body) {
      const { user, session } = ok(await api.signUp(body, options), 201);
      return { userId: user.id, token: session?.access_token };
    },
    insertTodo: async (body) => ok(await api.insertTodos(body, undefined, options), 201),
    insertTodos: async (body) => ok(await api.insertTodos(body, undefined, options), 201),
    findTodos: async (query) => ok(await api.selectTodos(query, options), 200),
    pageOfTodos: async (query) => {
      const answer = await api.selectTodos(query, options);
      if (answer.status !== 200 && answer.status !== 206) throw new Error(JSON.stringify(answer));
      return answer.data;
    },
    finishTodo: async (id) => ok(await api.updateTodos({ done: true }, { id: `eq.${id}` }, options), 200),
    savePreference: async (body) => {
      const headers = { ...headersOf(token), Prefer: 'resolution=merge-duplicates' };
      const answer = await api.insertPreferences(body, undefined, { headers });
      if (answer.status !== 200 && answer.status !== 201) throw new Error(JSON.stringify(answer));
      return answer.data;
    },
    add: async (a) => ok(await api.callAdd({ a }, options), 200),
    createBucket: async (name) => ok(await api.createBucket({ name }, options), 201).data.slug,
    upload: async (bucket, file) => ok(await api.uploadFile(bucket, { file }, undefined, options), 201).data,
    listFiles: async (bucket) => ok(await api.listFiles(bucket, { limit: 5 }, options), 200).data,
    sign: async (id) => ok(await api.createSignedUrl(id, { expiry: '1h' }, options), 200).data.url,
    download: async (id) => ok(await api.downloadFile(id, undefined, options), 200),
    deleteFile: (id) => api.deleteFile(id, options),
    deleteTodo: async (id) => ok(await api.deleteTodos({ id: `eq.${id}` }, options), 200),
    async refusedRead() {
      const answer = await api.selectTodos(undefined, options);
      if (answer.status !== 401) throw new Error(JSON.stringify(answer));
      return { status: answer.status, message: answer.data.message };
    },
    async forbiddenRead() {
      const answer = await api.selectSealed(undefined, options);
      if (answer.status !== 403) throw new Error(JSON.stringify(answer));
      return { status: answer.status, code: answer.data.code };
    },
    async conflictingInsert(title) {
      const answer = await api.insertTodos({ title }, undefined, options);
      if (answer.status !== 409) throw new Error(JSON.stringify(answer));
      const { code, detail } = answer.data;
      return { status: answer.status, code, constraint: detail.constraint };
    },
  };
});

type Answer = { status: number; data?: unknown };
type Body<A extends Answer, Status extends number> =
  Extract<A, { status: Status }> extends { data: infer Data } ? Data : never;

/** The body of the expected status. */
function ok<A extends Answer, Status extends number>(answer: A, status: Status): Body<A, Status> {
  if (answer.status !== status) throw new Error(JSON.stringify(answer));
  return answer.data as Body<A, Status>;
}
