/**
 * For hundreds of tables. The generator compares each name with a copy of all names of its file, which takes time that grows
 * with the square of their number. So the types and functions of a table get files of their own.
 */
import { defineConfig } from '@hey-api/openapi-ts';
import config from './openapi-ts.config';

export default defineConfig({
  ...(await config),
  // Without the file that exports everything again.
  output: { path: 'client', entryFile: false },
  parser: {
    hooks: {
      symbols: {
        getFilePath({ meta }) {
          const [section, address = ''] = (meta?.path ?? []).map(String);
          const table = section === 'paths' ? /\/rest\/v1\/(\w+)$/.exec(address)?.[1] : undefined;
          return table && `tables/${table}.${String(meta?.tool)}`;
        },
      },
    },
  },
});
