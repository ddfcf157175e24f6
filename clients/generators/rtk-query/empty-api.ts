/** The API that the generated endpoints are injected into. The store's extra argument is the bearer token. */
import { createApi, fetchBaseQuery } from '@reduxjs/toolkit/query';
import { BASE_URL, headersOf } from './common';

export const emptyApi = createApi({
  baseQuery: fetchBaseQuery({
    baseUrl: BASE_URL,
    // JSON as JSON, and files as text.
    responseHandler: 'content-type',
    prepareHeaders: (headers, { extra }) => {
      for (const [name, value] of Object.entries(headersOf(extra as string))) headers.set(name, value);
    },
  }),
  endpoints: () => ({}),
});
