/** A forged, expired, foreign, truncated or unsigned credential is 401 on every route that the application has. */
import { createHmac, randomUUID } from 'node:crypto';
import { sign } from 'jsonwebtoken';
import { HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { fillPath, Route, routesOf } from '../../support/routes';
import { TestProject } from '../../support/test-project';

/** Routes that need no credential. A new one must be added here by hand, with a reason. */
const PUBLIC: readonly RegExp[] = [
  /^\/health\/(live|ready)$/, // probes
  /^\/openapi\.json$/, // the interface is no secret
  /^\/(docs(\/|-|$)|tour$|$)/, // the same, for people
  /^\/p\/:project_slug\/storage\/files\/:file_id\/preview$/, // public buckets only
  /^\/p\/:project_slug\/storage\/files\/:file_id\/signed$/, // the address is the credential
  /^\/v1\/auth\/:project_id\/(reset|verify)$/, // pages that mails link to; they spend nothing
];

/** Routes that need the apikey and no bearer (SPEC.md 4.2). */
const KEY_ONLY =
  /^\/v1\/auth\/:project_id\/(signup|login|reset-password|update-password|refresh|verify-email|resend-verification|accept-invite|settings)$/;

const isAdmin = ({ path }: Route): boolean => path.startsWith('/admin/') || path === '/metrics';
const isPublic = ({ path }: Route): boolean => PUBLIC.some((pattern) => pattern.test(path));

let plinth: TestPlinth;
let project: TestProject;
let foreign: TestProject;
let userToken: string;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  foreign = await plinth.createProject();
  userToken = (await project.signUp()).accessToken;
});
afterAll(() => plinth.stop());

function parts(token: string): [string, string, string] {
  return token.split('.') as [string, string, string];
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** For claims that jsonwebtoken would not sign. */
function signAnything(claims: unknown): string {
  const text = `${encode({ alg: 'HS256' })}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${text}.${createHmac('sha256', project.jwtSecret).update(text).digest('base64url')}`;
}

/** Everything that must not pass for `token`. */
function forgeries(token: string, foreignToken: string): Record<string, string> {
  const [header, payload, signature] = parts(token);
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  const kid = (JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid?: string }).kid;
  const past = Math.floor(Date.now() / 1000) - 3_600;
  return {
    'no JWT at all': 'garbage',
    'an empty signature': `${header}.${payload}.`,
    'a truncated token': token.slice(0, -5),
    'a truncated payload': `${header}.${payload.slice(0, -4)}.${signature}`,
    'alg none': `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`,
    'alg none with the kid': `${encode({ alg: 'none', typ: 'JWT', kid })}.${payload}.${signature}`,
    'another secret': sign(claims, 'x'.repeat(43), { algorithm: 'HS256', keyid: kid }),
    'another secret and no kid': sign(claims, 'x'.repeat(43), { algorithm: 'HS256' }),
    'another algorithm': sign(claims, project.jwtSecret, { algorithm: 'HS512', keyid: kid }),
    'an unknown kid': sign(claims, project.jwtSecret, { algorithm: 'HS256', keyid: randomUUID() }),
    'a hostile kid': sign(claims, project.jwtSecret, { algorithm: 'HS256', keyid: "' or true --" }),
    'claims altered under the old signature': `${header}.${encode({ ...claims, role: 'service_role' })}.${signature}`,
    expired: sign({ ...claims, exp: past }, project.jwtSecret, { algorithm: 'HS256', keyid: kid }),
    'not yet valid': sign({ ...claims, nbf: past + 7_200 }, project.jwtSecret, {
      algorithm: 'HS256',
      keyid: kid,
    }),
    'issued ahead of time': signAnything({ ...claims, iat: past + 7_200 }),
    'issued at no time': signAnything({ ...claims, iat: 'now' }),
    'null for claims': signAnything(null),
    'a list for claims': signAnything([claims]),
    'a role with a NUL': signAnything({ ...claims, role: 'anon\u0000' }),
    'a role with half a surrogate pair': signAnything({ ...claims, role: 'anon\ud800' }),
    'no role but an empty one': signAnything({ ...claims, role: '' }),
    "another project's": foreignToken,
    'far too long': `${header}.${payload}.${'a'.repeat(9_000)}`,
  };
}

async function statuses(routes: Route[], client: (route: Route) => HttpClient): Promise<string[]> {
  const parameters = { project_slug: project.slug, project_id: project.id };
  const wrong: string[] = [];
  for (const route of routes) {
    const body = ['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(route.method) ? {} : { body: '{"broken' };
    const answer = await client(route).send(route.method, fillPath(route.path, parameters), body);
    if (answer.status !== 401) wrong.push(`${route.method} ${route.path}: ${answer.status}`);
  }
  return wrong;
}

describe('every route', () => {
  it('is known: the application has routes of all areas', () => {
    const paths = routesOf(plinth.app).map((route) => route.path);
    for (const area of [
      /^\/v1\/auth\//,
      /^\/rest\/v1\//,
      /^\/p\/:project_slug\/rest\//,
      /\/storage\//,
      /^\/admin\//,
    ]) {
      expect(paths.some((path) => area.test(path))).toBe(true);
    }
  });

  it('answers 401 without any credential, before the body is looked at', async () => {
    const routes = routesOf(plinth.app).filter((route) => !isPublic(route));
    expect(await statuses(routes, () => plinth.http)).toEqual([]);
  });

  it('answers 401 for every forged apikey', async () => {
    const routes = routesOf(plinth.app).filter((route) => !isPublic(route) && !isAdmin(route));
    for (const [kind, key] of Object.entries(forgeries(project.anonKey, foreign.anonKey))) {
      const wrong = await statuses(routes, () => project.client(key, userToken));
      expect({ kind, wrong }).toEqual({ kind, wrong: [] });
    }
  }, 120_000);

  it('answers 401 for every forged bearer token', async () => {
    const routes = routesOf(plinth.app).filter(
      (route) => !isPublic(route) && !isAdmin(route) && !KEY_ONLY.test(route.path),
    );
    const foreignToken = (await foreign.signUp()).accessToken;
    for (const [kind, token] of Object.entries(forgeries(userToken, foreignToken))) {
      const wrong = await statuses(routes, () => project.client(project.anonKey, token));
      expect({ kind, wrong }).toEqual({ kind, wrong: [] });
    }
    expect(await statuses(routes, () => project.client(project.anonKey, null))).toEqual([]);
  }, 120_000);

  it("answers 401 for an administrator's key that is not the platform's", async () => {
    const routes = routesOf(plinth.app).filter(isAdmin);
    for (const key of ['wrong', project.serviceKey, `${project.serviceKey} `]) {
      expect(await statuses(routes, () => plinth.http.with({ authorization: `Bearer ${key}` }))).toEqual([]);
    }
  });

  it("answers 401 for a user's token in the place of the apikey", async () => {
    const routes = routesOf(plinth.app).filter((route) => !isPublic(route) && !isAdmin(route));
    expect(await statuses(routes, () => project.client(userToken, userToken))).toEqual([]);
  });
});
