/** The OpenAPI document and its page: complete, consistent, and self-contained. */
import { TestPlinth } from '../../support/plinth';
import { routesOf } from '../../support/routes';

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: string[];
  readonly security?: Record<string, string[]>[];
  readonly parameters?: { name: string; in: string; required?: boolean }[];
  readonly requestBody?: object;
  readonly responses: Record<string, unknown>;
}

interface Document {
  readonly openapi: string;
  readonly servers: { url: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
}

/** Routes that the document leaves out, each with its reason. */
const LEFT_OUT: readonly RegExp[] = [
  /^\/(p\/:project_slug\/)?rest\/v1(\/|$)/, // in each project's own document, with its tables
  /^\/p\/:project_slug\/openapi\.json$/, // that document
  /^\/openapi\.json$/, // itself
  /^\/p\/:project_slug\/storage(\/\*path)?$/, // unknown paths, for their error body
  /^\/docs(\/|$)/, // pages for people
  /^\/v1\/auth\/:project_id\/(reset|verify|invite)$/, // pages that mails link to
];

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];

let plinth: TestPlinth;
let document: Document;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  document = (await plinth.http.get('/openapi.json')).body;
});
afterAll(() => plinth.stop());

function operations(): { name: string; path: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
  );
}

/** Every object in a tree. */
function* nodes(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const member of Object.values(value)) yield* nodes(member);
}

describe('GET /openapi.json', () => {
  it('is an OpenAPI 3 document with the address of this install', () => {
    expect(document.openapi).toMatch(/^3\.\d\.\d$/);
    expect(document.servers).toEqual([{ url: 'http://plinth.test' }]);
    expect(Object.keys(document.components.securitySchemes)).toEqual(
      expect.arrayContaining(['apikey', 'bearer', 'platform-admin-key']),
    );
  });

  it('has every route of the application but those left out on purpose', () => {
    const documented = new Set(operations().map(({ name }) => name));
    const missing = routesOf(plinth.app)
      .filter(({ path }) => !LEFT_OUT.some((pattern) => pattern.test(path)))
      .map(({ method, path }) => `${method} ${path.replace(/[:*](\w+)/g, '{$1}')}`)
      .filter((name) => !documented.has(name));
    expect(missing).toEqual([]);
  });

  it('names every operation once, so that generated clients have stable methods', () => {
    const ids = operations().map(({ operation }) => operation.operationId ?? '');
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]+$/.test(id))).toEqual([]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('says of every operation what it does, where it belongs, and what it answers', () => {
    const poor = operations().filter(
      ({ operation: { summary, tags = [], responses } }) =>
        !summary || tags.length !== 1 || !Object.keys(responses).some((status) => /^2|^3/.test(status)),
    );
    expect(poor.map(({ name }) => name)).toEqual([]);
  });

  it('declares every parameter of a path, and no other', () => {
    for (const { name, path, operation } of operations()) {
      const declared = (operation.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name);
      expect({ name, parameters: declared.sort() }).toEqual({
        name,
        parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter).sort(),
      });
    }
  });

  it('refers to nothing that is not there', () => {
    const dangling = [...nodes(document)]
      .map(({ $ref }) => $ref)
      .filter((ref): ref is string => typeof ref === 'string')
      .filter((ref) => {
        const steps = ref.replace(/^#\//, '').split('/');
        return (
          steps.reduce<unknown>(
            (node, step) => (node as Record<string, unknown> | undefined)?.[step],
            document,
          ) === undefined
        );
      });
    expect(dangling).toEqual([]);
    const schemes = Object.keys(document.components.securitySchemes);
    for (const { name, operation } of operations()) {
      const used = (operation.security ?? []).flatMap((one) => Object.keys(one));
      expect({ name, unknown: used.filter((scheme) => !schemes.includes(scheme)) }).toEqual({
        name,
        unknown: [],
      });
    }
  });

  it('says of every operation which credentials it needs', () => {
    const open = operations().filter(({ operation: { security = [] } }) => security.length === 0);
    const expected =
      /^GET \/(health\/(live|ready)|p\/\{project_slug\}\/storage\/files\/\{file_id\}\/(preview|signed))$|^HEAD \/p\//;
    expect(open.map(({ name }) => name).filter((name) => !expected.test(name))).toEqual([]);
  });
});

describe('GET /docs', () => {
  it('is a page whose files all come from this server, under a policy that lets nothing else in', async () => {
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

  it('serves no other file of the package', async () => {
    for (const name of ['package.json', '..%2fpackage.json', 'swagger-ui-bundle.js.map', 'constructor']) {
      expect((await plinth.http.get(`/docs/${name}`)).status).toBe(404);
    }
  });
});
