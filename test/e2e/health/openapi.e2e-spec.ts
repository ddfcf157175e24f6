/** The OpenAPI document and its page: complete, consistent, and self-contained. */
import { DEFAULT_SETTINGS } from '../../../src/projects/project-settings';
import {
  faultsOf,
  type NamedOperation,
  type OpenApiDocument,
  operationsOf,
  untypedContent,
} from '../../support/openapi';
import {
  exampleFaults,
  misplacedErrors,
  openErrors,
  repeatedErrors,
  tagFaults,
  undescribed,
  wholeNumbers,
  withBoundedMembers,
  withDefault,
  withEnumOfNull,
} from '../../support/documented/rules';
import { TestPlinth } from '../../support/plinth';
import { routesOf } from '../../support/routes';

/** Routes omitted from the document, each with the reason. */
const LEFT_OUT: readonly RegExp[] = [
  /^\/p\/:project_slug\/auth\/v1\/callback(\/|$)/, // the forms of providers and of a page; GET is described
  /^\/p\/:project_slug\/rest\/v1(\/|$)/, // in each project's own document, with its tables
  /^\/rest\/v1(\/\*path)?$/, // that document, and unknown paths
  /^\/p\/:project_slug\/openapi\.(json|yaml)$/, // that document
  /^\/p\/:project_slug\/types\.ts$/, // a file for people
  /^\/openapi\.(json|yaml)$/, // itself
  /^\/p\/:project_slug\/storage(\/\*path)?$/, // unknown paths, for their error body
  /^\/p\/:project_slug\/storage\/v1\/s3(\/|$)/, // its operations differ by their query: docs/reference/storage-s3.md
  /^\/(console(\/|$)|docs(\/|$)|tour$|$)/, // pages for people
  /^\/v1\/auth\/:project_id\/(reset|verify|invite)$/, // pages that mails link to
  /^\/(p\/:project_slug\/auth\/v1\/sso|admin\/v1\/session)\/saml\/acs$/, // the form of an identity provider
  /^\/(p\/:project_slug\/)?scim\/v2\//, // SCIM, which directories know: docs/reference/scim.md
  /^\/p\/:project_slug\/auth\/v1\/verify(\/confirm)?$/, // the same
];

let plinth: TestPlinth;
let document: OpenApiDocument;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  document = (await plinth.http.get('/openapi.json')).body;
});
afterAll(() => plinth.stop());

const operations = (): NamedOperation[] => operationsOf(document);

/** The calls of table REST are generic here; the tests of api-docs check them in a project's document. */
function withoutTables(): OpenApiDocument {
  const paths = Object.entries(document.paths).filter(([path]) => !path.includes('/rest/v1/'));
  return { ...document, paths: Object.fromEntries(paths) };
}

describe('GET /openapi.json', () => {
  it('is an OpenAPI 3 document with the address of this install', () => {
    expect(document.openapi).toMatch(/^3\.\d\.\d$/);
    expect(document.servers).toEqual([{ url: 'http://plinth.test' }]);
    expect(Object.keys(document.components.securitySchemes)).toEqual(
      expect.arrayContaining([
        'apikey',
        'bearer',
        'platform-admin-key',
        'personal-access-token',
        'staff-session',
      ]),
    );
  });

  it('has every route of the application except routes omitted on purpose', () => {
    const documented = new Set(operations().map(({ name }) => name));
    const missing = routesOf(plinth.app)
      .filter(({ path }) => !LEFT_OUT.some((pattern) => pattern.test(path)))
      .map(({ method, path }) => `${method} ${path.replace(/[:*](\w+)/g, '{$1}')}`)
      .filter((name) => !documented.has(name))
      // One route takes all methods, of which clients call these.
      .filter((name) => !/^((HEAD|OPTIONS) \/rest|(PUT|PATCH|DELETE) \/rest\/v1\/rpc)\//.test(name));
    expect(missing).toEqual([]);
  });

  it('is valid, has no dangling reference, and has unique operation names', () => {
    expect(faultsOf(document)).toEqual([]);
  });

  it('types every request and response body', () => {
    // Rows of any table, and results of any function, have no type.
    expect(untypedContent(document).filter((name) => !/ \/rest\/v1\//.test(name))).toEqual([]);
    const empty = Object.entries(document.components.schemas).filter(
      ([, { type, properties, maxProperties }]) =>
        type === 'object' && maxProperties !== 0 && Object.keys(properties ?? {}).length === 0,
    );
    expect(empty.map(([name]) => name)).toEqual([]);
  });

  it('has the calls of table REST for any table and function, but no call that changes all rows', () => {
    const named = operations().filter(({ path }) => path.startsWith('/rest/v1/'));
    expect(named.map(({ name }) => name)).toEqual([
      'GET /rest/v1/{table}',
      'POST /rest/v1/{table}',
      'PUT /rest/v1/{table}',
      'PATCH /rest/v1/{table}',
      'DELETE /rest/v1/{table}',
      'GET /rest/v1/rpc/{routine}',
      'POST /rest/v1/rpc/{routine}',
    ]);
    for (const { operation } of named.filter(({ name }) => /^(PATCH|DELETE)/.test(name))) {
      const filters = operation.parameters.find(({ name }: { name?: string }) => name === 'filters');
      expect(filters).toMatchObject({ required: true, explode: true, schema: { minProperties: 1 } });
    }
  });

  it('describes every tag', () => {
    const described = document.tags?.map(({ name }: { name: string }) => name);
    const used = new Set(operations().flatMap(({ operation }) => operation.tags));
    expect([...used].filter((tag) => described?.includes(tag) !== true)).toEqual([]);
  });

  it('types every setting of a project, in requests and responses', () => {
    const { ProjectSettingsInput, ProjectSettings } = document.components.schemas;
    const settings = Object.keys(DEFAULT_SETTINGS).sort();
    expect(Object.keys(ProjectSettingsInput.properties).sort()).toEqual(settings);
    expect(Object.keys(ProjectSettings.properties).sort()).toEqual(settings);
    expect(ProjectSettings.required.toSorted()).toEqual(settings);
  });

  it('documents errors with the error body of their area', () => {
    const areas: [RegExp, string][] = [
      [/^\w+ \/v1\/auth\//, 'AuthError'],
      [/^POST \/p\/\{project_slug\}\/auth\/v1\/oauth\/token$/, 'OAuthError'],
      [/^\w+ \/p\/\{project_slug\}\/auth\/v1\/(?!health$)/, 'GoTrueError'],
      [/^\w+ \/p\/\{project_slug\}\/storage\/v1\//, 'StorageJsError'],
      [/^\w+ \/p\/\{project_slug\}\/storage\//, 'StorageError'],
      [/^\w+ \/admin\/v1\/projects\/\{id\}\/sql/, '(Platform|Sql)Error'],
      [/^\w+ \/admin\/v1\/projects\/\{id\}\/migrations/, '(Platform|Migration)Error'],
      [/^\w+ \/admin\//, 'PlatformError'],
    ];
    for (const { name, operation } of operations()) {
      const body = areas.find(([pattern]) => pattern.test(name))?.[1];
      const errors = Object.entries(operation.responses).filter(([status]) => status >= '400');
      if (!body) continue;
      expect(errors.length).toBeGreaterThan(0);
      for (const [status, response] of errors) {
        const { content } = response as { content?: Record<string, { schema: { $ref: string } }> };
        const $ref = content?.['application/json']?.schema.$ref;
        expect([name, $ref]).toEqual([
          name,
          expect.stringMatching(new RegExp(`^#/components/schemas/${body}${status}$`)),
        ]);
      }
    }
  });

  it('has no default in any member, which generators would make required and clients would send', () => {
    expect(withDefault(document)).toEqual([]);
  });

  it('has no enum of only null, no bounds in maps, and no number type for integers', () => {
    expect(withEnumOfNull(document)).toEqual([]);
    expect(withBoundedMembers(document)).toEqual([]);
    expect(wholeNumbers(withoutTables())).toEqual([]);
  });

  it('describes every operation, parameter, answer and header', () => {
    expect(undescribed(withoutTables())).toEqual([]);
  });

  it('does not repeat the summary of an operation as its description', () => {
    const same = operations().filter(({ operation }) => operation.description === operation.summary);
    expect(same.map(({ name }) => name)).toEqual([]);
  });

  it('has an example for every body and response, which its schema accepts', () => {
    expect(exampleFaults(withoutTables())).toEqual([]);
  });

  it('closes the schema of every error', () => {
    expect(openErrors(withoutTables())).toEqual([]);
  });

  it('shows for each error its own status and code', () => {
    expect(misplacedErrors(document)).toEqual([]);
    expect(repeatedErrors(document)).toEqual([]);
    expect(tagFaults(document)).toEqual([]);
    const { createBucket, downloadFile } = Object.fromEntries(
      operations().map(({ operation }) => [operation.operationId, operation]),
    );
    const codeOf = (operation: NamedOperation['operation'], status: number): string =>
      operation.responses[status].content['application/json'].example.error.code;
    expect([codeOf(createBucket, 409), codeOf(downloadFile, 404), codeOf(downloadFile, 412)]).toEqual([
      'bucket_already_exists',
      'file_not_found',
      'precondition_failed',
    ]);
  });

  it('declares Retry-After wherever a client has to wait', () => {
    const silent = operationsOf(withoutTables()).flatMap(({ name, operation }) =>
      ['429', '503']
        .filter((status) => status in operation.responses)
        .filter((status) => !('Retry-After' in (operation.responses[status].headers ?? {})))
        .map((status) => `${name} ${status}`),
    );
    expect(silent).toEqual([]);
  });

  it('documents the response for an unknown project', () => {
    const silent = operations()
      .filter(({ name }) => name.includes('{project_slug}'))
      // These answer the same for every project, without a look-up.
      .filter(({ name }) => !/\/auth\/v1\/(health|authorize|\.well-known\/[a-z.-]+)$/.test(name))
      .filter(({ operation }) => !('404' in operation.responses));
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('names operations with identifiers valid in every language', () => {
    const ids = operations().map(({ operation }) => operation.operationId as string);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]+$/.test(id))).toEqual([]);
  });

  it('has a summary, a tag and responses for every operation', () => {
    const poor = operations().filter(
      ({ operation: { summary, tags = [], responses } }) =>
        !summary || tags.length !== 1 || !Object.keys(responses).some((status) => /^2|^3/.test(status)),
    );
    expect(poor.map(({ name }) => name)).toEqual([]);
  });

  it('has the required credentials of every operation', () => {
    const open = operations().filter(({ operation: { security = [] } }) => security.length === 0);
    const expected =
      /^GET \/(health\/(live|ready)|p\/\{project_slug\}\/storage\/files\/\{file_id\}\/(preview|signed)|p\/\{project_slug\}\/auth\/v1\/(health|authorize|oauth\/authorize|callback|sso\/saml\/metadata|\.well-known\/[a-z.-]+)|p\/\{project_slug\}\/storage\/v1\/(object|render\/image)\/(sign|public)\/\{bucket_name\}\/\{path\}|admin\/v1\/(setup|session\/(methods|(oidc|saml)(\/callback)?|saml\/metadata)))$|^POST \/admin\/v1\/(session|session\/(oidc|ldap|passkey|passkey\/options)|setup|invitations\/accept)$|^POST \/p\/\{project_slug\}\/auth\/v1\/oauth\/(token|clients\/register)$|^PUT \/p\/\{project_slug\}\/storage\/v1\/object\/upload\/sign\/|^HEAD \/p\/|^OPTIONS \/p\/\{project_slug\}\/storage\/v1\/upload\/resumable$/;
    expect(open.map(({ name }) => name).filter((name) => !expected.test(name))).toEqual([]);
  });
});

describe('GET /docs', () => {
  it('is a page that loads files from this server only, enforced by its policy', async () => {
    const page = await plinth.http.get('/docs');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file as string);
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      expect(file).not.toMatch(/^(https?:)?\/\//);
      const answer = await plinth.http.get(`/${file}`);
      expect([file, answer.status]).toEqual([file, 200]);
    }
    expect(page.text).not.toMatch(/<script>|onload=/);
  });

  it('does not serve other files of the package', async () => {
    for (const name of ['package.json', '..%2fpackage.json', 'swagger-ui-bundle.js.map', 'constructor']) {
      expect((await plinth.http.get(`/docs/${name}`)).status).toBe(404);
    }
  });
});
