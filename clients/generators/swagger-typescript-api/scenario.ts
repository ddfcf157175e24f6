/** swagger-typescript-api, with its client for fetch(). */
import {
  Api,
  type HttpResponse,
  type RestConflictError,
  type RestForbiddenError,
  type RestUnauthorizedError,
} from './client/api';
import { BASE_URL, headersOf, rowsOf } from './common';
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
    refusedRead: async () => failed(await p.selectTodos(), 401),
    forbiddenRead: async () => failed(await p.selectSealed(), 403),
    conflictingInsert: async (title) => failed(await p.insertTodos({ title }), 409),
  };
});

/** The errors of table REST, which have one type for each status. */
interface RestFailures {
  readonly 401: RestUnauthorizedError;
  readonly 403: RestForbiddenError;
  readonly 409: RestConflictError;
}

/**
 * The body of one status. `error` is a union of the bodies of all statuses of the operation, and `status` a number, so that
 * the compiler cannot narrow the one by the other: the comparison here does. The result is `never` where the operation does
 * not have that error. Without `--disable-throw-on-error` the client rejects, and then errors have no type at all.
 */
function failed<E, Status extends keyof RestFailures>(
  { status, error }: HttpResponse<unknown, E>,
  expected: Status,
): Failure<Extract<E, RestFailures[Status]>> {
  if (status !== expected) throw new Error(JSON.stringify(error));
  return { status, error: error as Extract<E, RestFailures[Status]> };
}
