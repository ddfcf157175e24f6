/** Tests every route of the application with every type of credential. docs/reference/access.md is this matrix. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shareOf } from '../../support/extent';
import { HttpAnswer, HttpClient } from '../../support/http-client';
import {
  Attempt,
  attemptsOf,
  CALLER_KINDS,
  expectedOf,
  toMarkdown,
  toReasons,
} from '../../support/access-matrix';
import { type OpenApiDocument, operationsOf } from '../../support/openapi';
import { TestPlinth } from '../../support/plinth';
import { rolesToMarkdown } from '../../support/roles-table';
import { fillPath, guardedRoutesOf } from '../../support/routes';
import { TestProject } from '../../support/test-project';
import type { AccessRule } from '../../../src/access/access-rule';
import type { RouteRule } from '../../../src/access/route-rules.service';
import { ROUTE_TABLE } from '../../../src/staff/roles/route-table';

let plinth: TestPlinth;
let project: TestProject;
let routes: RouteRule[];
let attempts: Attempt[];

beforeAll(async () => {
  plinth = await TestPlinth.start({
    env: { METRICS_TOKEN: 'metrics-token-0123456789', AUTH_REQUESTS_PER_MINUTE: '100000' },
  });
  project = await plinth.createProject({ plan: 'enterprise' });
  routes = guardedRoutesOf(plinth.app);
  attempts = await attemptsOf(plinth, project);
});
afterAll(() => plinth.stop());

const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

/** Sends a request with an invalid JSON body, an invalid filter and unknown names. */
function send({ method, path }: RouteRule, { headers, query = '' }: Attempt): Promise<HttpAnswer> {
  const address = fillPath(path, { project_slug: project.slug, project_id: project.id });
  const body = BODILESS.has(method) ? {} : { body: '{"broken' };
  // The parameters exist in no route.
  const client = new HttpClient(plinth.baseUrl, headers).unchecked();
  return client.send(method, `${address}?limit=x&id=nonsense${query}`, body);
}

/** GoTrue answers 401 without a token, and 403 to a token that it does not accept. */
const GOTRUE = /^(\/p\/:project_slug)?\/auth\/v1\//;

/**
 * storage-js and realtime-js send only one of the two headers, which must then be a key (docs/reference/storage-js.md).
 */
const STORAGE_JS = /^\/p\/:project_slug\/storage\/v1\/(?!s3)/;
const REALTIME = /^\/p\/:project_slug\/realtime\/v1\//;
const KEY_ALONE = new Set(['no bearer', 'the service-role key as bearer only']);

const BODIES: [RegExp, object][] = [
  [GOTRUE, { code: expect.any(Number), error_code: expect.any(String), msg: expect.any(String) }],
  [/^\/v1\/auth\//, { detail: expect.any(String), status_code: expect.any(Number) }],
  [/\/scim\/v2\//, { schemas: [expect.any(String)], status: '401', detail: expect.any(String) }],
  [REALTIME, { code: expect.any(String), message: expect.any(String) }],
  [STORAGE_JS, { statusCode: expect.any(String), error: expect.any(String), message: expect.any(String) }],
  [
    /^\/p\/:project_slug\/storage/,
    {
      data: null,
      error: { message: expect.any(String), code: expect.any(String), status: expect.any(Number) },
    },
  ],
  [/\/rest\/v1/, { detail: { message: expect.any(String), sqlstate: expect.stringMatching(/^PL40[13]$/) } }],
  [/./, { error: { message: expect.any(String), code: expect.any(String), status: expect.any(Number) } }],
];

/** These routes refuse the URL's signature whatever the headers are. */
const isOfSignature = ({ path, rule }: RouteRule): boolean =>
  rule === 'public' && /\/(signed$|(object\/(upload\/)?|render\/image\/)sign\/)/.test(path);

/** Null if the response was as expected, otherwise the response. */
function faultOf(route: RouteRule, attempt: Attempt, answer: HttpAnswer): string | null {
  const isAlone = [STORAGE_JS, REALTIME].some((area) => area.test(route.path)) && KEY_ALONE.has(attempt.what);
  const expected = isAlone ? 'yes' : expectedOf(route, attempt);
  const isRefused = [401, 403].includes(answer.status) && !isOfSignature(route);
  const told = `${route.method} ${route.path} [${route.rule}] with ${attempt.what}: ${answer.status} ${answer.text}, not ${expected}`;
  if (expected === 'yes') return isRefused ? told : null;
  const accepted = GOTRUE.test(route.path) && expected === '401' ? ['401', '403'] : [expected];
  if (!accepted.includes(String(answer.status))) return told;
  // The errors of S3 are XML.
  if (route.rule === 's3_key' && answer.text.startsWith('<?xml')) return null;
  const [, body] = BODIES.find(([area]) => area.test(route.path)) as [RegExp, object];
  if (route.method === 'HEAD') return answer.text === '' ? null : told;
  expect(answer.body).toMatchObject(body);
  return null;
}

/** Number of concurrent requests, few enough that none waits long for a database connection. */
const PARALLEL = 10;

async function faultsWith(attempt: Attempt, tried: readonly RouteRule[]): Promise<string[]> {
  const faults: (string | null)[] = [];
  for (let n = 0; n < tried.length; n += PARALLEL) {
    const some = tried
      .slice(n, n + PARALLEL)
      .map(async (route) => faultOf(route, attempt, await send(route, attempt)));
    faults.push(...(await Promise.all(some)));
  }
  return faults.filter((fault) => fault !== null);
}

it.each(CALLER_KINDS)(
  'every route answers %s according to its access rule',
  async (kind) => {
    const ofKind = attempts.filter((one) => one.kind === kind);
    // No credential is tried on each route, and every other kind on every second one.
    const tried = kind === 'nothing' ? routes : shareOf(routes, CALLER_KINDS.indexOf(kind), 2);
    // Each route gets one attempt of this type.
    for (const [turn, attempt] of ofKind.entries())
      expect(await faultsWith(attempt, shareOf(tried, turn, ofKind.length))).toEqual([]);
  },
  240_000,
);

const PAGE = join(__dirname, '../../../docs/reference/access.md');
const GENERATED = /(<!-- generated: (\w+) -->\n)[^]*?(<!-- end -->)/g;

it('docs/reference/access.md lists the routes that the application has; `npm run docs` generates it', () => {
  const parts: Record<string, string> = {
    matrix: toMarkdown(routes),
    reasons: toReasons(routes),
    roles: rolesToMarkdown(),
  };
  const page = readFileSync(PAGE, 'utf8');
  const current = page.replace(GENERATED, (_all, begin: string, name: string, end: string) => {
    return `${begin}\n${parts[name]}\n\n${end}`;
  });
  if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, current);
  else expect(page).toBe(current);
  for (const part of Object.values(parts)) expect(current).toContain(part);
});

const STAFF_SESSION = { 'staff-session': [] };
const PERSON = [{ 'personal-access-token': [] }, STAFF_SESSION];

/** Security requirements of the OpenAPI document, by rule. */
const REQUIREMENTS: Readonly<Record<AccessRule, object[]>> = {
  public: [],
  apikey: [{ apikey: [] }],
  bearer: [{ apikey: [], bearer: [] }],
  user: [{ apikey: [], bearer: [] }],
  session: [{ apikey: [], bearer: [] }],
  service_role: [{ apikey: [], bearer: [] }],
  staff: [{ 'platform-admin-key': [] }, ...PERSON],
  staff_member: PERSON,
  staff_session: [STAFF_SESSION],
  metrics_token: [{ 'metrics-token': [] }, { 'platform-admin-key': [] }],
  s3_key: [],
  scim_token: [],
};

it('the OpenAPI document requires the same credentials as the guards', async () => {
  const { body } = await plinth.http.get('/openapi.json');
  const rules = new Map(
    routes.map((route) => [`${route.method} ${route.path.replace(/[:*](\w+)/g, '{$1}')}`, route.rule]),
  );
  const operations = operationsOf(body as OpenApiDocument);
  expect(operations.length).toBeGreaterThan(50);
  for (const { name, operation } of operations) {
    const rule = rules.get(name);
    expect([name, operation.security ?? []]).toEqual([name, rule && REQUIREMENTS[rule]]);
  }
});

it('the OpenAPI document names the roles and the scope of each operation of the administration', async () => {
  const { body } = await plinth.http.get('/openapi.json');
  const described = operationsOf(body as OpenApiDocument).flatMap(({ name, operation }) => {
    const [, access] = /(?:^|\n\n)Access: (.*)$/.exec(operation.description as string) ?? [];
    return access === undefined ? [] : [{ route: name.replace(/\{(\w+)\}/g, ':$1'), access }];
  });
  expect(described.map(({ route }) => route).sort()).toEqual(Object.keys(ROUTE_TABLE).sort());
  for (const { route, access } of described) {
    const { roles, scope } = ROUTE_TABLE[route]!;
    const named = [...access.matchAll(/`(\w+)`/g)].map(([, name]) => name as string);
    const rule = routes.find(({ method, path }) => `${method} ${path}` === route)?.rule;
    expect({
      route,
      named,
      everyone: access.startsWith('every staff member'),
      byKey: !/_KEY is refused/.test(access),
    }).toEqual({
      route,
      named: [...(roles ?? []), ...(scope === null ? [] : [scope])],
      everyone: roles === null,
      byKey: rule === 'staff',
    });
  }
});
