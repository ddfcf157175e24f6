/** The API that the generated endpoints are injected into. The store's extra argument is the bearer token. */
import { type BaseQueryFn, createApi, type FetchArgs, fetchBaseQuery } from '@reduxjs/toolkit/query';
import type { RestConflictError, RestForbiddenError, RestUnauthorizedError } from './client/api';
import { BASE_URL, headersOf } from './common';

/**
 * The errors of table REST, which have one type for each status. The generator types no errors: those of an endpoint are what
 * the base query declares, so that a comparison of the status narrows the type of the body.
 */
export type RestFailure =
  | { readonly status: 401; readonly data: RestUnauthorizedError }
  | { readonly status: 403; readonly data: RestForbiddenError }
  | { readonly status: 409; readonly data: RestConflictError };

const baseQuery = fetchBaseQuery({
  baseUrl: BASE_URL,
  // JSON as JSON, and files as text.
  responseHandler: 'content-type',
  prepareHeaders: (headers, { extra }) => {
    for (const [name, value] of Object.entries(headersOf(extra as string))) headers.set(name, value);
  },
});

export const emptyApi = createApi({
  baseQuery: baseQuery as BaseQueryFn<string | FetchArgs, unknown, RestFailure>,
  endpoints: () => ({}),
});
