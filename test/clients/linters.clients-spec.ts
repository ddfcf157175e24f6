/** The linters of OpenAPI documents, with their recommended rules: no errors and no warnings. */
import { GeneratedClient, readSchema } from '../support/generated-client';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

const LIMIT_MS = 300_000;

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await TestProject.create(plinth, { name: 'Rich', slug: 'rich' });
  await project.sql(await readSchema());
});
afterAll(() => plinth.stop());

describe.each([
  ['project', '3.1'],
  ['project', '3.0'],
  ['platform', '3.1'],
  ['platform', '3.0'],
] as const)('the document of the %s, %s', (name, version) => {
  let client: GeneratedClient;
  let document: object;

  beforeAll(async () => {
    client = await GeneratedClient.create(`linted-${name}-${version}`);
    const path = name === 'project' ? `/p/${project.slug}/openapi.json` : '/openapi.json';
    const { text } = await project.service.get(`${path}?version=${version}`);
    document = JSON.parse(text) as typeof document;
    await client.write('openapi.json', text);
    await client.write('spectral.json', '{ "extends": ["spectral:oas"] }');
  });

  it(
    'passes Redocly without findings',
    async () => {
      const { stdout } = await client.outcome('@redocly/cli/bin/cli.js', [
        'lint',
        'openapi.json',
        '--extends=recommended',
        '--format=json',
      ]);
      const { problems } = JSON.parse(stdout) as {
        problems: { ruleId: string; location: { pointer: string }[] }[];
      };
      // The endpoints of single sign-on and OAuth only redirect, which the rule does not allow for.
      const isRedirect = ({ ruleId, location }: (typeof problems)[number]): boolean =>
        ruleId === 'operation-2xx-response' &&
        /~1(session~1(oidc|saml)(~1callback)?|auth~1v1~1(oauth~1)?authorize)\/get\//.test(
          location[0]?.pointer ?? '',
        );
      const reported = problems.filter((one) => !isRedirect(one));
      expect(reported.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer ?? ''}`)).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'passes Spectral without findings',
    async () => {
      const args = ['lint', 'openapi.json', '-r', 'spectral.json', '-f', 'json', '-q'];
      const { stdout } = await client.outcome('@stoplight/spectral-cli/dist/index.js', args);
      const reports = JSON.parse(stdout) as { code: string; path: string[] }[];
      // Spectral decodes percent-encoded paths and makes a member `__proto__` the prototype, and then reports
      // locations that do not exist in the document. It also mistakes an object in an example for a schema if
      // the object has the members `type` and `default`, as a column has.
      const isReal = ({ code, path }: (typeof reports)[number]): boolean =>
        exists(document, path) &&
        (code !== 'oas3-valid-schema-example' || !path.slice(0, -1).includes('example'));
      expect(reports.filter(isReal).map(({ code, path }) => `${code} ${path.join(' ')}`)).toEqual([]);
    },
    LIMIT_MS,
  );
});

function exists(node: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return false;
  return exists((node as Record<string, unknown>)[name], rest);
}
