import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: './openapi.json',
  output: 'client',
  plugins: [
    '@hey-api/client-fetch',
    '@hey-api/typescript',
    { name: '@hey-api/sdk', validator: true },
    {
      name: 'zod',
      // PostgreSQL writes timestamps with an offset.
      dates: { offset: true },
      // Without it, files in forms are strings: https://github.com/hey-api/hey-api/issues/4265
      '~resolvers': {
        string({ $, nodes, schema, symbols: { z } }) {
          if (schema.format === 'binary') nodes.format = () => $(z).attr('instanceof').call('Blob');
          return undefined;
        },
      },
    },
  ],
});
