export default {
  api: {
    input: './openapi.json',
    output: {
      target: 'client/api.ts',
      client: 'zod',
      mode: 'split',
      override: {
        zod: {
          generateEachHttpStatus: true,
          // PostgreSQL writes timestamps with an offset.
          dateTimeOptions: { offset: true },
        },
      },
    },
  },
};
