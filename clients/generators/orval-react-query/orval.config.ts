export default {
  api: {
    input: './openapi.json',
    output: {
      target: 'client/api.ts',
      schemas: 'client/model',
      client: 'react-query',
      httpClient: 'fetch',
      mode: 'split',
      override: { mutator: { path: './fetcher.ts', name: 'fetcher' } },
    },
  },
};
