/** The API that the endpoints of the platform's document are injected into. The store's extra argument are the headers. */
import { createApi, fetchBaseQuery } from '@reduxjs/toolkit/query';
import { BASE_URL } from './common';

export const emptyApi = createApi({
  baseQuery: fetchBaseQuery({
    baseUrl: BASE_URL,
    responseHandler: 'content-type',
    prepareHeaders: (headers, { extra }) => {
      for (const [name, value] of Object.entries(Object(extra))) headers.set(name, String(value));
    },
  }),
  endpoints: () => ({}),
});
