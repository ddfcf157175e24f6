/**
 * The documents as they are kept in git, so that a change of the interface is seen in review. `npm run docs` writes them;
 * `npm run openapi:changes` names the changes that break clients.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { TestPlinth } from '../../support/plinth';
import { SAMPLE_SCHEMA } from '../../support/sample-schema';
import type { TestProject } from '../../support/test-project';

const FOLDER = join(__dirname, '../../snapshots/openapi');

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({
    name: 'Sample',
    settings: { exposed_schemas: ['public', 'api'] },
  });
  await project.sql(SAMPLE_SCHEMA);
});
afterAll(() => plinth.stop());

it.each(['platform', 'project'])('the snapshot of the document of the %s is what is served', async (name) => {
  const answer = await (name === 'platform'
    ? plinth.http.get('/openapi.yaml')
    : project.service.get(`/p/${project.slug}/openapi.yaml`));
  const served = answer.text.replaceAll(project.id, '00000000-0000-4000-8000-000000000000');
  const file = join(FOLDER, `${name}.yaml`);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(file, served);
  // Compared as values: the difference of two long texts takes Jest minutes.
  expect(load(readFileSync(file, 'utf8'))).toEqual(load(served));
});
