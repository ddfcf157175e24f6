/** The API that the generated endpoints are injected into. The store's extra argument is the bearer token. */
import {
  type BaseQueryFn,
  createApi,
  type FetchArgs,
  fetchBaseQuery,
  type FetchBaseQueryError,
} from '@reduxjs/toolkit/query';
import type { RestConflictError, RestForbiddenError, RestUnauthorizedError } from './client/api';
import { BASE_URL, headersOf } from './common';
import { CONFLICT, FORBIDDEN, narrowing, UNAUTHORIZED } from './errors';

const toUnauthorized = narrowing<RestUnauthorizedError>(UNAUTHORIZED);
const toForbidden = narrowing<RestForbiddenError>(FORBIDDEN);
const toConflict = narrowing<RestConflictError>(CONFLICT);

/**
 * The errors of table REST, which have one type for each status. The generator types no errors: those of an endpoint are what
 * the base query declares, so that a comparison of the status narrows the type of the body.
 */
export type RestFailure =
  | { readonly status: 401; readonly data: RestUnauthorizedError }
  | { readonly status: 403; readonly data: RestForbiddenError }
  | { readonly status: 409; readonly data: RestConflictError };

function toRestFailure({ status, data }: FetchBaseQueryError): RestFailure {
  switch (status) {
    case 401:
      return { status, data: toUnauthorized(data) };
    case 403:
      return { status, data: toForbidden(data) };
    case 409:
      return { status, data: toConflict(data) };
    default:
      throw new Error(`${status}: ${JSON.stringify(data)}`);
  }
}

const send = fetchBaseQuery({
  baseUrl: BASE_URL,
  // JSON as JSON, and files as text.
  responseHandler: 'content-type',
  prepareHeaders: (headers, { extra }) => {
    for (const [name, value] of Object.entries(headersOf(String(extra)))) headers.set(name, value);
  },
});

const baseQuery: BaseQueryFn<string | FetchArgs, unknown, RestFailure> = async (
  request,
  context,
  options,
) => {
  const { data, error } = await send(request, context, options);
  return error ? { error: toRestFailure(error) } : { data };
};

export const emptyApi = createApi({ baseQuery, endpoints: () => ({}) });
