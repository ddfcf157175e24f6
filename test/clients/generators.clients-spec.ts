/** Every generator of clients/: its client of a project with every kind of object and name, and of the platform. */
import { GeneratedClient, readSchema, STEPS } from '../support/generated-client';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

const LIMIT_MS = 600_000;

interface Generator {
  readonly name: string;
  /** A file below clients/node_modules. */
  readonly program: string;
  /** The document is `openapi.json` in the working directory, the client goes to `client/`. */
  readonly args: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** The file for what the program prints. */
  readonly output?: string;
  readonly compilerOptions?: object;
  /** Complaints of the compiler about a fault of the generator that is written down in clients/README.md. */
  readonly knownFault?: RegExp | undefined;
  /** Its scenario in clients/scenarios; absent if the client is only compiled. */
  readonly scenario?: string | undefined;
}

const GENERATORS: readonly Generator[] = [
  {
    name: 'hey-api',
    program: '@hey-api/openapi-ts/bin/run.js',
    args: ['-f', 'openapi-ts.config.ts', '--no-log-file'],
    files: {
      // PostgreSQL writes timestamps with an offset, which the schemas of zod accept by an option only.
      'openapi-ts.config.ts': `export default {
        input: './openapi.json',
        output: 'client',
        plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk', { name: 'zod', dates: { offset: true } }],
      };`,
    },
    scenario: 'hey-api',
  },
  {
    name: 'swagger-typescript-api',
    program: 'swagger-typescript-api/dist/cli.mjs',
    args: ['generate', '-p', 'openapi.json', '-o', 'client', '-n', 'api.ts'],
    scenario: 'swagger-typescript-api',
  },
  {
    name: 'oazapfts',
    program: 'oazapfts/dist/cli.js',
    args: ['openapi.json', 'client/api.ts'],
    files: { 'client/.gitkeep': '' },
    scenario: 'oazapfts',
  },
  orval('fetch', 'orval'),
  orval('react-query'),
  orval('zod'),
  {
    name: 'openapi-client-axios-typegen',
    program: 'openapi-client-axios-typegen/typegen',
    args: ['openapi.json'],
    output: 'client/api.ts',
  },
  {
    name: 'rtk-query',
    program: '@rtk-query/codegen-openapi/lib/bin/cli.mjs',
    args: ['rtk.config.json'],
    files: {
      'rtk.config.json': JSON.stringify({
        schemaFile: './openapi.json',
        apiFile: './empty-api.ts',
        apiImport: 'emptyApi',
        outputFile: './client/api.ts',
        exportName: 'api',
      }),
      'client/.gitkeep': '',
      'empty-api.ts': `
        import { createApi, fetchBaseQuery } from '@reduxjs/toolkit/query';
        import { BASE_URL } from './common';
        export const emptyApi = createApi({ baseQuery: fetchBaseQuery({ baseUrl: BASE_URL }), endpoints: () => ({}) });
      `,
      'common.ts': `export const BASE_URL = '';`,
    },
  },
  {
    name: 'kubb',
    program: '@kubb/cli/bin/kubb.cjs',
    args: ['generate', '--config', 'kubb.config.mjs'],
    files: {
      'kubb.config.mjs': `
        import { defineConfig } from '@kubb/core';
        import { pluginClient } from '@kubb/plugin-client';
        import { pluginOas } from '@kubb/plugin-oas';
        import { pluginTs } from '@kubb/plugin-ts';
        import { pluginZod } from '@kubb/plugin-zod';
        export default defineConfig({
          root: '.',
          input: { path: './openapi.json' },
          output: { path: './client', format: false, lint: false },
          plugins: [pluginOas({ validate: false }), pluginTs(), pluginClient({ client: 'fetch' }), pluginZod()],
        });
      `,
    },
    compilerOptions: { allowImportingTsExtensions: true },
    // The compiler checks no types of a program with faults of syntax; the platform's document has none.
    knownFault: /^client\/zod\/(?:select|update|delete)ClassSchema\.ts\(/,
  },
  {
    name: 'ng-openapi-gen',
    program: 'ng-openapi-gen/lib/index.js',
    args: ['-i', 'openapi.json', '-o', 'client', '--silent', 'true'],
    compilerOptions: { experimentalDecorators: true },
  },
];

function orval(client: string, scenario?: string): Generator {
  const api = {
    input: './openapi.json',
    output: {
      target: 'client/api.ts',
      ...(client === 'zod' ? {} : { schemas: 'client/model' }),
      client,
      mode: 'split',
      ...(client === 'react-query' ? { httpClient: 'fetch' } : {}),
      ...(scenario === undefined ? {} : { override: { mutator: { path: './fetcher.ts', name: 'fetcher' } } }),
    },
  };
  return {
    name: `orval-${client}`,
    program: 'orval/dist/bin/orval.js',
    args: ['--config', './orval.config.ts'],
    files: {
      'orval.config.ts': `export default ${JSON.stringify({ api })};`,
      'fetcher.ts': `
        import { BASE_URL } from './common';
        export async function fetcher<T>(path: string, init: RequestInit): Promise<T> {
          const response = await fetch(BASE_URL + path, init);
          const isJson = (response.headers.get('content-type') ?? '').includes('json');
          const data: unknown = isJson ? await response.json() : await response.blob();
          return { status: response.status, data, headers: response.headers } as T;
        }
      `,
      'common.ts': `export const BASE_URL = '';`,
    },
    scenario,
    knownFault: client === 'zod' ? /^client\/api\.ts\(\d+,\d+\): error TS1005/ : undefined,
  };
}

let plinth: TestPlinth;
let project: TestProject;
let documents: Record<'project' | 'platform' | 'large', string>;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await TestProject.create(plinth, { name: 'Rich', slug: 'rich' });
  await project.sql(await readSchema());
  const large = await plinth.createProject();
  await large.sql(`do $$ begin
    for i in 1..300 loop
      execute format('create table table_%s (id int primary key, parent int references table_%s, name text not null)',
        i, greatest(i - 1, 1));
    end loop;
  end $$`);
  documents = {
    project: (await project.service.get(`/p/${project.slug}/openapi.json`)).text,
    platform: (await plinth.http.get('/openapi.json')).text,
    large: (await large.service.get(`/p/${large.slug}/openapi.json`)).text,
  };
});
afterAll(() => plinth.stop());

async function generate(generator: Generator, document: keyof typeof documents): Promise<GeneratedClient> {
  const client = await GeneratedClient.create(`${generator.name}-${document}`);
  for (const [file, text] of Object.entries(generator.files ?? {})) await client.write(file, text);
  await client.write('openapi.json', documents[document]);
  const printed = await client.run(generator.program, generator.args);
  if (generator.output !== undefined) await client.write(generator.output, printed);
  return client;
}

/** The compiler's complaints, without known ones and without indented explanations. */
async function faultsOf(client: GeneratedClient, generator: Generator): Promise<string[]> {
  const lines = (await client.compile(generator.compilerOptions)).split('\n');
  return lines.filter((line) => /^\S/.test(line) && !generator.knownFault?.test(line));
}

describe.each(GENERATORS)('$name', (generator) => {
  it(
    'makes a client of a project that compiles, and runs the scenario',
    async () => {
      const client = await generate(generator, 'project');
      if (generator.scenario !== undefined) await client.addScenario(generator.scenario, project);
      expect(await faultsOf(client, generator)).toEqual([]);
      if (generator.scenario !== undefined) expect(await client.runScenario(plinth, project)).toEqual(STEPS);
    },
    LIMIT_MS,
  );

  it.each(['platform', 'large'] as const)(
    'makes a client of the %s document that compiles',
    async (document) => {
      const client = await generate(generator, document);
      expect(await faultsOf(client, generator)).toEqual([]);
    },
    LIMIT_MS,
  );
});
