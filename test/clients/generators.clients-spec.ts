/**
 * Runs every generator of clients/ on a project with every kind of object and name, on the platform, and on a large
 * project. The folder of a generator has its options and its scenario.
 */
import { GeneratedClient, PLATFORM_STEPS, readSchema, STEPS } from '../support/generated-client';
import { LARGE_SCHEMA } from '../support/large-schema';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

const LIMIT_MS = 600_000;

/** TypeScript 7, because TypeScript 5, which compiles the other clients, takes minutes for some large clients. */
const NATIVE_TYPESCRIPT = 'typescript-7';

type Document = 'project' | 'platform' | 'large';

interface Generator {
  /** Also the name of its folder. */
  readonly name: string;
  /** A file below clients/node_modules. */
  readonly program: string;
  /** The document is `openapi.json` in the working directory, the client goes to `client/`. */
  readonly args: readonly string[];
  /** Other arguments for the platform, or for a project of hundreds of tables. */
  readonly argsOf?: Readonly<Partial<Record<Document, readonly string[]>>>;
  /** The file to which the output of the program is written. */
  readonly output?: string;
  readonly compilerOptions?: object;
}

const ORVAL = { program: 'orval/dist/bin/orval.js', args: ['--config', './orval.config.ts'] };

const GENERATORS: readonly Generator[] = [
  {
    name: 'openapi-fetch',
    program: 'openapi-typescript/bin/cli.js',
    args: ['openapi.json', '-o', 'schema.ts'],
  },
  {
    name: 'hey-api',
    program: '@hey-api/openapi-ts/bin/run.js',
    args: ['-f', 'openapi-ts.config.ts', '--no-log-file'],
    argsOf: { large: ['-f', 'openapi-ts.large.config.ts', '--no-log-file'] },
  },
  {
    name: 'swagger-typescript-api',
    program: 'swagger-typescript-api/dist/cli.mjs',
    args: ['generate', '-p', 'openapi.json', '-o', 'client', '-n', 'api.ts', '--disable-throw-on-error'],
  },
  { name: 'oazapfts', program: 'oazapfts/dist/cli.js', args: ['openapi.json', 'client/api.ts'] },
  { name: 'orval-fetch', ...ORVAL },
  { name: 'orval-react-query', ...ORVAL },
  { name: 'orval-zod', ...ORVAL, argsOf: { large: ['--config', './orval.large.config.ts'] } },
  {
    name: 'openapi-client-axios-typegen',
    program: 'openapi-client-axios-typegen/typegen',
    args: ['openapi.json', '--typeAliases'],
    output: 'client/api.ts',
  },
  {
    name: 'rtk-query',
    program: '@rtk-query/codegen-openapi/lib/bin/cli.mjs',
    args: ['rtk.config.json'],
    argsOf: { platform: ['rtk.platform.config.json'] },
  },
  {
    name: 'kubb',
    program: '@kubb/cli/bin/kubb.cjs',
    args: ['generate', '--config', 'kubb.config.mjs'],
    compilerOptions: { allowImportingTsExtensions: true },
  },
  {
    name: 'ng-openapi-gen',
    program: 'ng-openapi-gen/lib/index.js',
    args: ['-i', 'openapi.json', '-o', 'client', '--silent', 'true'],
    compilerOptions: { experimentalDecorators: true },
  },
];

let plinth: TestPlinth;
let project: TestProject;
let documents: Readonly<Record<Document, string>>;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await TestProject.create(plinth, { name: 'Rich', slug: 'rich' });
  await project.sql(await readSchema());
  const large = await plinth.createProject();
  await large.sql(LARGE_SCHEMA);
  documents = {
    project: (await project.service.get(`/p/${project.slug}/openapi.json`)).text,
    platform: (await plinth.http.get('/openapi.json')).text,
    large: (await large.service.get(`/p/${large.slug}/openapi.json`)).text,
  };
}, LIMIT_MS);
afterAll(() => plinth.stop());

async function generate(generator: Generator, document: Document): Promise<GeneratedClient> {
  const client = await GeneratedClient.create(`${generator.name}-${document}`);
  await client.addGenerator(generator.name);
  await client.write('openapi.json', documents[document]);
  const { program, args, argsOf } = generator;
  const printed = await client.run(program, argsOf?.[document] ?? args);
  if (generator.output !== undefined) await client.write(generator.output, printed);
  return client;
}

describe.each(GENERATORS)('$name', (generator) => {
  it(
    'generates a client of a project that compiles, and runs the scenario',
    async () => {
      const client = await generate(generator, 'project');
      await client.addScenario(generator.name, 'scenario', project);
      expect(await client.compile(generator.compilerOptions)).toBe('');
      expect(await client.runScenario('scenario', plinth, project)).toEqual(STEPS);
    },
    LIMIT_MS,
  );

  it(
    'generates a client of the platform that compiles, and runs the scenario',
    async () => {
      const client = await generate(generator, 'platform');
      await client.addScenario(generator.name, 'platform', project);
      expect(await client.compile(generator.compilerOptions)).toBe('');
      expect(await client.runScenario('platform', plinth, project)).toEqual(PLATFORM_STEPS);
    },
    LIMIT_MS,
  );

  it(
    'generates a client of 300 tables that compiles',
    async () => {
      const client = await generate(generator, 'large');
      expect(await client.compile(generator.compilerOptions, NATIVE_TYPESCRIPT)).toBe('');
    },
    LIMIT_MS,
  );
});
