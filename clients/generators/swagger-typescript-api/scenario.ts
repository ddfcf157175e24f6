/** swagger-typescript-api, with its client for fetch(). */
import { Api, type HttpResponse, type RestConflictError, type RestForbiddenError } from './client/api';
import { BASE_URL, headersOf, rejectionOf, rowsOf } from './common';
import { type Failure, type ProjectApi, runSteps } from './steps';

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
    refusedRead: async () => failed(p.selectTodos()),
    forbiddenRead: async () => failed(p.selectSealed()),
    conflictingInsert: async (title) => failed<RestConflictError>(p.insertTodos({ title })),
  };
});

/** The client rejects with the response. The body of another status than the expected one has another type. */
async function failed<E = RestForbiddenError>(request: Promise<unknown>): Promise<Failure<E>> {
  return (await rejectionOf(request)) as HttpResponse<unknown, E>;
}
