/** @rtk-query/codegen-openapi: endpoints of RTK Query, dispatched to a store. */
import { configureStore, type SerializedError } from '@reduxjs/toolkit';
import { api, type UploadFileApiArg } from './client/api';
import { rowsOf } from './common';
import type { RestFailure } from './empty-api';
import { type ProjectApi, runSteps } from './steps';

await runSteps((token): ProjectApi => {
  const store = configureStore({
    reducer: { [api.reducerPath]: api.reducer },
    middleware: (defaults) => defaults({ thunk: { extraArgument: token } }).concat(api.middleware),
  });
  const { endpoints } = api;
  const { dispatch } = store;
  return {
    signUp: (signUpDto) => dispatch(endpoints.signUp.initiate({ signUpDto })).unwrap(),
    insertTodo: (body) => dispatch(endpoints.insertTodos.initiate({ body })).unwrap(),
    insertTodos: (body) => dispatch(endpoints.insertTodos.initiate({ body })).unwrap(),
    findTodos: (query) => dispatch(endpoints.selectTodos.initiate(query)).unwrap(),
    pageOfTodos: (query) => dispatch(endpoints.selectTodos.initiate(query)).unwrap(),
    finishTodo: async (id) =>
      rowsOf(
        await dispatch(
          endpoints.updateTodos.initiate({ id: `eq.${id}`, todosUpdate: { done: true } }),
        ).unwrap(),
      ),
    savePreference: (body) =>
      dispatch(
        endpoints.insertPreferences.initiate({ prefer: 'resolution=merge-duplicates', body }),
      ).unwrap(),
    add: (a) => dispatch(endpoints.callAdd.initiate({ body: { a } })).unwrap(),
    createBucket: async (name) =>
      (
        await dispatch(
          endpoints.createBucket.initiate({ createBucketDto: { name, is_public: true } }),
        ).unwrap()
      ).data.slug,
    describeBucket: async (bucketName, description) =>
      (
        await dispatch(
          endpoints.updateBucket.initiate({ bucketName, updateBucketDto: { description } }),
        ).unwrap()
      ).data,
    async upload(bucketName, file) {
      const form = new FormData();
      form.append('file', file);
      // The generator types a form as its members: https://github.com/reduxjs/redux-toolkit/issues/3063
      const body = form as unknown as UploadFileApiArg['body'];
      return (await dispatch(endpoints.uploadFile.initiate({ bucketName, body })).unwrap()).data;
    },
    listFiles: async (bucketName) =>
      (await dispatch(endpoints.listFiles.initiate({ bucketName, limit: 5 })).unwrap()).data,
    sign: async (fileId) =>
      (
        await dispatch(
          endpoints.createSignedUrl.initiate({ fileId, createSignedUrlDto: { expiry: '1h' } }),
        ).unwrap()
      ).data.url,
    download: (fileId) => dispatch(endpoints.downloadFile.initiate({ fileId })).unwrap(),
    deleteFile: (fileId) => dispatch(endpoints.deleteFile.initiate({ fileId })).unwrap(),
    deleteTodo: async (id) =>
      rowsOf(await dispatch(endpoints.deleteTodos.initiate({ id: `eq.${id}` })).unwrap()),
    refusedRead: async () => {
      const failure = failureOf(await dispatch(endpoints.selectTodos.initiate({})));
      return { status: failure.status, error: failure.data };
    },
    forbiddenRead: async () => {
      const failure = failureOf(await dispatch(endpoints.selectSealed.initiate({})));
      return { status: failure.status, error: failure.data };
    },
    async conflictingInsert(title) {
      const failure = failureOf(await dispatch(endpoints.insertTodos.initiate({ body: { title } })));
      if (failure.status !== 409) throw new Error(failure.data.message);
      return { status: failure.status, error: failure.data };
    },
  };
});

/** A union by status: a comparison of the status narrows the type of the body. */
function failureOf({ error }: { error?: RestFailure | SerializedError }): RestFailure {
  if (!error || !('status' in error)) throw new Error(`no failure: ${JSON.stringify(error)}`);
  return error;
}
