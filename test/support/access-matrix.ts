/** Which credentials each access rule admits, and the requests that try them. The rows of docs/reference/access.md come from here. */
import { decode, type JwtPayload, sign } from 'jsonwebtoken';
import type { AccessRule } from '../../src/access/access-rule';
import type { RouteRule } from '../../src/access/route-rules.service';
import { ADMIN_KEY, type TestPlinth } from './plinth';
import type { TestProject } from './test-project';

/** The status of a refusal, or `yes` if the guards accept the request. */
export type Outcome = '401' | '403' | 'yes';

const RULES = [
  'apikey',
  'bearer',
  'user',
  'session',
  'service_role',
  'staff',
  'staff_member',
  'staff_session',
  'metrics_token',
  's3_key',
  'scim_token',
] as const;

/** One line per type of caller, with one outcome per rule of RULES. */
const OUTCOMES = {
  nothing: '401 401 401 401 401 401 401 401 401 403 401',
  'anon key as apikey only': 'yes 401 401 401 401 401 401 401 401 403 401',
  'anon key': 'yes yes 401 401 403 401 401 401 401 403 401',
  "user's token": 'yes yes yes yes 403 401 401 401 401 403 401',
  "own backend's token": 'yes yes yes 401 403 401 401 401 401 403 401',
  'invalid token': 'yes 401 401 401 401 401 401 401 401 403 401',
  'service-role key': 'yes yes 401 401 yes 401 401 401 401 403 401',
  "service-role key, user's token": 'yes yes yes yes yes 401 401 401 401 403 401',
  'invalid key, or key of another project': '401 401 401 401 401 401 401 401 401 403 401',
  'platform admin key': '401 401 401 401 401 yes 403 403 yes 403 401',
} as const;

export type CallerKind = keyof typeof OUTCOMES;

export const CALLER_KINDS = Object.keys(OUTCOMES) as CallerKind[];

export function outcomeOf(rule: AccessRule, kind: CallerKind): Outcome {
  if (rule === 'public') return 'yes';
  return OUTCOMES[kind].split(' ')[RULES.indexOf(rule)] as Outcome;
}

export interface Attempt {
  readonly kind: CallerKind;
  readonly what: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Query string that is appended to the URL. */
  readonly query?: string;
  /** True for keys of another project. A URL that names no project belongs to the project of the key. */
  readonly foreign?: boolean;
}

const headersOf = (apikey: string | null, bearer: string | null): Record<string, string> => ({
  ...(apikey === null ? {} : { apikey }),
  ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
});

const unsigned = (claims: object): string =>
  [{ alg: 'none', typ: 'JWT' }, claims]
    .map((part) => `${Buffer.from(JSON.stringify(part)).toString('base64url')}.`)
    .join('');

/** All combinations of credentials that the matrix distinguishes. */
export async function attemptsOf(plinth: TestPlinth, project: TestProject): Promise<Attempt[]> {
  const { anonKey, serviceKey } = project;
  const user = (await project.signUp()).accessToken;
  const attempt = (
    kind: CallerKind,
    what: string,
    apikey: string | null,
    bearer: string | null,
  ): Attempt => ({
    kind,
    what,
    headers: headersOf(apikey, bearer),
  });
  const claims = decode(user) as JwtPayload;
  const invalid = await invalidTokens(plinth, project);
  return [
    attempt('nothing', 'no header', null, null),
    attempt('nothing', "a user's token without the apikey", null, user),
    attempt('nothing', 'the service-role key as bearer only', null, serviceKey),
    { kind: 'nothing', what: 'the apikey in the query string', headers: {}, query: `&apikey=${serviceKey}` },
    { kind: 'nothing', what: 'the apikey in a cookie', headers: { cookie: `apikey=${serviceKey}` } },
    attempt('anon key as apikey only', 'no bearer', anonKey, null),
    {
      ...attempt('invalid token', 'Basic instead of Bearer', anonKey, null),
      headers: { apikey: anonKey, authorization: `Basic ${user}` },
    },
    attempt('anon key', 'the anon key twice', anonKey, anonKey),
    attempt("user's token", 'an access token', anonKey, user),
    attempt(
      "own backend's token",
      'a token without a session',
      anonKey,
      project.token({ sub: claims.sub, role: 'authenticated' }),
    ),
    attempt('service-role key', 'the service-role key twice', serviceKey, serviceKey),
    attempt('service-role key', 'the service-role key as apikey', serviceKey, anonKey),
    attempt('service-role key', 'the service-role key as bearer', anonKey, serviceKey),
    attempt("service-role key, user's token", 'an access token next to it', serviceKey, user),
    attempt('platform admin key', 'the admin key', null, ADMIN_KEY),
    ...Object.entries(invalid).flatMap(([what, token]) => [
      attempt('invalid token', what, anonKey, token),
      attempt('invalid token', `${what}, next to the service-role key`, serviceKey, token),
      attempt('invalid key, or key of another project', `${what} as apikey`, token, user),
    ]),
    attempt('invalid key, or key of another project', "a user's token as apikey", user, user),
    attempt('invalid key, or key of another project', 'the platform admin key as apikey', ADMIN_KEY, null),
    // With the service-role key, the role of the token would be ignored.
    attempt('invalid token', 'the role postgres', anonKey, project.token({ ...claims, role: 'postgres' })),
    attempt(
      'invalid token',
      'the role postgres and no session',
      anonKey,
      project.token({ sub: claims.sub, role: 'postgres' }),
    ),
    ...(await foreignAttempts(plinth, project, user)),
  ];
}

async function invalidTokens(plinth: TestPlinth, project: TestProject): Promise<Record<string, string>> {
  const [ended, banned, deleted] = [await project.signUp(), await project.signUp(), await project.signUp()];
  const users = `${project.auth}/admin/users`;
  const done = [
    await ended.http.post(`${project.auth}/logout`),
    await project.service.patch(`${users}/${banned.id}`, { banned_until: '2999-01-01T00:00:00Z' }),
    await project.service.delete(`${users}/${deleted.id}`),
  ];
  if (done.some(({ status }) => status !== 200))
    throw new Error(`answered ${done.map(({ text }) => text).join()}`);
  const claims = { sub: ended.id, role: 'authenticated', project_id: project.id };
  const expired = Math.floor(plinth.clock.now() / 1000) - 3_600;
  return {
    garbage: 'garbage',
    'an ended session': ended.accessToken,
    "a banned user's": banned.accessToken,
    "a deleted user's": deleted.accessToken,
    expired: project.token({ ...claims, exp: expired }),
    unsigned: unsigned(claims),
    'of another secret': sign(claims, 'x'.repeat(43), { algorithm: 'HS256' }),
    'of another algorithm': sign(claims, project.jwtSecret, { algorithm: 'HS512' }),
    "another project's key": (await plinth.createProject()).serviceKey,
  };
}

async function foreignAttempts(plinth: TestPlinth, project: TestProject, user: string): Promise<Attempt[]> {
  const other = await plinth.createProject();
  const otherUser = (await other.signUp()).accessToken;
  const pair = (what: string, kind: CallerKind, apikey: string, bearer: string): Attempt => ({
    kind,
    what,
    headers: headersOf(apikey, bearer),
    foreign: true,
  });
  return [
    pair("another project's anon key", 'anon key', other.anonKey, other.anonKey),
    pair("another project's user", "user's token", other.anonKey, otherUser),
    pair("another project's service-role key", 'service-role key', other.serviceKey, other.serviceKey),
    {
      kind: 'invalid key, or key of another project',
      what: "another project's apikey with a token of this one",
      headers: headersOf(other.serviceKey, user),
    },
    {
      kind: 'invalid token',
      what: "another project's user with this one's apikey",
      headers: headersOf(project.anonKey, otherUser),
    },
  ];
}

/** The expected outcome of an attempt on a route. */
export function expectedOf(route: RouteRule, { kind, foreign, what }: Attempt): Outcome {
  const namesProject = /:project_(id|slug)/.test(route.path);
  // If nothing else names a project, the key of another project selects that project.
  if (route.rule === 'apikey' && !namesProject && what.startsWith("another project's")) return 'yes';
  return outcomeOf(route.rule, foreign && namesProject ? 'invalid key, or key of another project' : kind);
}

const RULE_NAMES: Record<AccessRule, string> = {
  public: 'none',
  apikey: 'apikey',
  bearer: 'bearer',
  user: 'user',
  session: 'session',
  service_role: 'service role',
  staff: 'staff',
  staff_member: 'staff member',
  staff_session: 'staff session',
  metrics_token: 'metrics token',
  s3_key: 'S3 signature',
  scim_token: 'SCIM token',
};

/** GET, POST, PATCH, PUT, DELETE, OPTIONS. */
const EVERY_METHOD = 6;

/** The matrix as a Markdown table: one line per URL and rule, in the order of the URLs. */
export function toMarkdown(routes: readonly RouteRule[]): string {
  const lines = new Map<string, { methods: string[]; route: RouteRule }>();
  // HEAD has the same rule as GET.
  for (const route of routes.filter(({ method }) => method !== 'HEAD')) {
    const key = `${route.path} ${route.rule}`;
    const line = lines.get(key) ?? { methods: [], route };
    lines.set(key, { ...line, methods: [...line.methods, route.method] });
  }
  const rows = [...lines.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { methods, route }]) => [
      `\`${methods.length === EVERY_METHOD ? 'ALL' : methods.join(', ')} ${route.path}\``,
      RULE_NAMES[route.rule],
      ...CALLER_KINDS.map((kind) => outcomeOf(route.rule, kind)),
    ]);
  const head = ['Route', 'Rule', ...CALLER_KINDS];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The public routes as a Markdown table, with the reasons from the code. */
export function toReasons(routes: readonly RouteRule[]): string {
  const rows = routes
    .filter(({ method, reason }) => reason !== null && method !== 'HEAD')
    .map(({ method, path, reason }) => `| \`${method} ${path}\` | ${reason} |`);
  return ['| Public route | Reason |', '|---|---|', ...rows.sort()].join('\n');
}
