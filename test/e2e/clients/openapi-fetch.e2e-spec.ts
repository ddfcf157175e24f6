/**
 * The unmodified openapi-typescript and openapi-fetch with both documents. `npm run clients` tests the other
 * generators.
 */
import { GeneratedClient, PLATFORM_STEPS, readSchema, STEPS } from '../../support/generated-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const LIMIT_MS = 120_000;
const OPENAPI_TYPESCRIPT = 'openapi-typescript/bin/cli.js';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await TestProject.create(plinth, { name: 'Rich', slug: 'rich' });
  await project.sql(await readSchema());
});
afterAll(() => plinth.stop());

async function generate(name: string, document: string): Promise<GeneratedClient> {
  const client = await GeneratedClient.create(name);
  await client.addGenerator('openapi-fetch');
  await client.write('openapi.json', document);
  await client.run(OPENAPI_TYPESCRIPT, ['openapi.json', '-o', 'schema.ts']);
  return client;
}

it(
  'work with the document of a project: the client compiles, and a scenario runs',
  async () => {
    const { text } = await project.service.get(`/p/${project.slug}/openapi.json`);
    const client = await generate('openapi-fetch', text);
    await client.addScenario('openapi-fetch', 'scenario', project);
    expect(await client.compile()).toBe('');
    expect(await client.runScenario('scenario', plinth, project)).toEqual(STEPS);
  },
  LIMIT_MS,
);

it(
  'work with the document of the platform',
  async () => {
    const client = await generate('openapi-fetch-platform', (await plinth.http.get('/openapi.json')).text);
    await client.addScenario('openapi-fetch', 'platform', project);
    expect(await client.compile()).toBe('');
    expect(await client.runScenario('platform', plinth, project)).toEqual(PLATFORM_STEPS);
  },
  LIMIT_MS,
);
