/** swagger-typescript-api, with its client for fetch(). */
import { Api, type HttpResponse, type RestConflictError } from './client/api';
import { BASE_URL, headersOf, rowsOf } from './common';
import { type ProjectApi, runSteps } from './steps';

await runSteps((token): ProjectApi => {
  const { v1, p } = new Api({ baseUrl: BASE_URL, baseApiParams: { headers: headersOf(token) } });
  return {
    async signUp(body) {
      const { user, session } = (await v1.signUp(body)).data;
      return { userId: user.id, token: session?.access_token };
    },
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
    createBucket: async (name) => (await p.createBucket({ name })).data.data.slug,
    upload: async (bucket, file) => (await p.uploadFile(bucket, { file })).data.data,
    listFiles: async (bucket) => (await p.listFiles(bucket, { limit: 5 })).data.data,
    sign: async (id) => (await p.createSignedUrl(id, { expiry: '1h' })).data.data.url,
    download: async (id) => (await p.downloadFile(id, undefined, { format: 'blob' })).data,
    deleteFile: (id) => p.deleteFile(id),
    deleteTodo: async (id) => rowsOf((await p.deleteTodos({ id: `eq.${id}` })).data),
    async refusedRead() {
      const { status, error } = await failureOf<{ message: string }>(p.selectTodos());
      return { status, message: error.message };
    },
    async forbiddenRead() {
      const { status, error } = await failureOf<{ code: string }>(p.selectSealed());
      return { status, code: error.code };
    },
    async conflictingInsert(title) {
      const { status, error } = await failureOf<RestConflictError>(p.insertTodos({ title }));
      return { status, code: error.code, constraint: error.detail.constraint };
    },
  };
});

/** The client rejects with the response, whose `error` has the type of the body. */
async function failureOf<E>(request: Promise<unknown>): Promise<HttpResponse<unknown, E>> {
  return request.then(
    () => Promise.reject(new Error('the request succeeded')),
    (response: HttpResponse<unknown, E>) => response,
  );
}
