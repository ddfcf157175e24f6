/** orval with its client for react-query: queries and mutations without a component, as in loaders and tests. */
import { type FetchQueryOptions, QueryClient } from '@tanstack/react-query';
import * as api from './client/api';
import { headersOf } from './common';
import { mutate } from './mutate';
import { failed, ok } from './statuses';
import { type ProjectApi, runSteps } from './steps';

const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });

function query<T, E, D, K extends readonly unknown[]>(options: FetchQueryOptions<T, E, D, K>): Promise<D> {
  return client.fetchQuery(options);
}

await runSteps((token): ProjectApi => {
  const request = { headers: headersOf(token) };
  const options = { request };
  return {
    signUp: async (data) => ok(await mutate(client, api.getSignUpMutationOptions(options), { data }), 201),
    insertTodo: async (data) =>
      ok(await mutate(client, api.getInsertTodosMutationOptions(options), { data }), 201),
    insertTodos: async (data) =>
      ok(await mutate(client, api.getInsertTodosMutationOptions(options), { data }), 201),
    findTodos: async (params) => ok(await query(api.getSelectTodosQueryOptions(params, options)), 200),
    pageOfTodos: async (params) => ok(await query(api.getSelectTodosQueryOptions(params, options)), 200, 206),
    finishTodo: async (id) => {
      const variables = { params: { id: `eq.${id}` }, data: { done: true } };
      return ok(await mutate(client, api.getUpdateTodosMutationOptions(options), variables), 200);
    },
    savePreference: async (data) => {
      const headers = { ...headersOf(token), Prefer: 'resolution=merge-duplicates' };
      const upsert = api.getInsertPreferencesMutationOptions({ request: { headers } });
      return ok(await mutate(client, upsert, { data }), 200, 201);
    },
    add: async (a) => ok(await mutate(client, api.getCallAddMutationOptions(options), { data: { a } }), 200),
    createBucket: async (name) => {
      const data = { name, is_public: true };
      return ok(await mutate(client, api.getCreateBucketMutationOptions(options), { data }), 201).data.slug;
    },
    describeBucket: async (bucketName, description) => {
      const variables = { bucketName, data: { description } };
      return ok(await mutate(client, api.getUpdateBucketMutationOptions(options), variables), 200).data;
    },
    upload: async (bucketName, file) => {
      const variables = { bucketName, data: { file } };
      return ok(await mutate(client, api.getUploadFileMutationOptions(options), variables), 201).data;
    },
    listFiles: async (bucket) =>
      ok(await query(api.getListFilesQueryOptions(bucket, { limit: 5 }, options)), 200).data,
    sign: async (fileId) => {
      const variables = { fileId, data: { expiry: '1h' } } as const;
      return ok(await mutate(client, api.getCreateSignedUrlMutationOptions(options), variables), 200).data
        .url;
    },
    download: async (id) => ok(await query(api.getDownloadFileQueryOptions(id, undefined, options)), 200),
    deleteFile: (fileId) => mutate(client, api.getDeleteFileMutationOptions(options), { fileId }),
    deleteTodo: async (id) => {
      const variables = { params: { id: `eq.${id}` } };
      return ok(await mutate(client, api.getDeleteTodosMutationOptions(options), variables), 200);
    },
    refusedRead: async () => failed(await query(api.getSelectTodosQueryOptions(undefined, options)), 401),
    forbiddenRead: async () => failed(await query(api.getSelectSealedQueryOptions(undefined, options)), 403),
    async conflictingInsert(title) {
      const answer = await mutate(client, api.getInsertTodosMutationOptions(options), { data: { title } });
      if (answer.status !== 409) throw new Error(JSON.stringify(answer));
      return { status: answer.status, error: answer.data };
    },
  };
});
