import { defineConfig } from '@kubb/core';
import { pluginClient } from '@kubb/plugin-client';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';
import { pluginZod } from '@kubb/plugin-zod';

export default defineConfig({
  root: '.',
  input: { path: './openapi.json' },
  output: { path: './client', format: false, lint: false },
  plugins: [
    pluginOas({ validate: false }),
    pluginTs(),
    // PostgreSQL writes timestamps with an offset.
    pluginZod({ version: '4', dateType: 'stringOffset' }),
    // Axios, because kubb's client for fetch() reads every answer as JSON.
    pluginClient({
      client: 'axios',
      parser: 'zod',
      // The schemas of zod want a File, and axios returns a Blob, or a text outside of browsers.
      override: [{ type: 'operationId', pattern: /^(download|preview)/, options: { parser: 'client' } }],
    }),
  ],
});
