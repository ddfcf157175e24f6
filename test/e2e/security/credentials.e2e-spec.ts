/** Every route answers 401 to a forged, expired, truncated or unsigned credential, and to one of another project. */
import { randomUUID } from 'node:crypto';
import { sign } from 'jsonwebtoken';
import { shareOf } from '../../support/extent';
import { HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { fillPath, guardedRoutesOf, Route } from '../../support/routes';
import { signText } from '../../support/sign-text';
import { TestProject } from '../../support/test-project';
import type { AccessRule } from '../../../src/access/access-rule';

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

/** Signs claims that jsonwebtoken would refuse to sign. */
const signAnything = (claims: unknown): string =>
  signText(project.jwtSecret, '{"alg":"HS256"}', JSON.stringify(claims));

/** Forgeries of `token` that must be refused. */
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
    'issued in the future': signAnything({ ...claims, iat: past + 7_200 }),
    'an iat that is not a time': signAnything({ ...claims, iat: 'now' }),
    'null instead of claims': signAnything(null),
    'a list instead of claims': signAnything([claims]),
    'a role with a NUL': signAnything({ ...claims, role: 'anon\u0000' }),
    'a role with half a surrogate pair': signAnything({ ...claims, role: 'anon\ud800' }),
    'an empty role': signAnything({ ...claims, role: '' }),
    "another project's": foreignToken,
    'far too long': `${header}.${payload}.${'a'.repeat(9_000)}`,
  };
}

/** METRICS_TOKEN is not set here, so /metrics is open. */
const OPEN: readonly AccessRule[] = ['public', 'metrics_token'];

const routesExcept = (...rules: AccessRule[]): Route[] =>
  guardedRoutesOf(plinth.app).filter(({ rule }) => !OPEN.includes(rule) && !rules.includes(rule));

const GOTRUE = /^\/p\/:project_slug\/auth\/v1\//;
/** S3 answers 403 to all credentials that it does not accept. */
const S3 = /^\/p\/:project_slug\/storage\/v1\/s3/;
/** Supabase's clients of storage and Realtime may send a key alone as both credentials. */
const ONE_KEY = /^\/p\/:project_slug\/(storage|realtime)\/v1\//;

async function statuses(routes: readonly Route[], client: (route: Route) => HttpClient): Promise<string[]> {
  const parameters = { project_slug: project.slug, project_id: project.id };
  const answers = await Promise.all(
    routes.map(async (route) => {
      const body = ['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(route.method) ? {} : { body: '{"broken' };
      const { status } = await client(route).send(route.method, fillPath(route.path, parameters), body);
      // GoTrue answers 403 to a token that it does not accept.
      const isRefused =
        status === 401 || (status === 403 && (GOTRUE.test(route.path) || S3.test(route.path)));
      return isRefused ? [] : [`${route.method} ${route.path}: ${status}`];
    }),
  );
  return answers.flat();
}

/** Each route is tested with every eighth of the 23 forgeries. */
const FORGERIES_APART = 8;
const STAFF_RULES = ['staff', 'staff_member', 'staff_session'] as const;

describe('every route', () => {
  it('is listed, with routes of all areas', () => {
    const paths = guardedRoutesOf(plinth.app).map((route) => route.path);
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

  it('answers 401 without credentials, before it reads the body', async () => {
    const routes = routesExcept();
    expect(await statuses(routes, () => plinth.http)).toEqual([]);
  });

  it('answers 401 for every forged apikey', async () => {
    const routes = routesExcept(...STAFF_RULES);
    for (const [turn, [kind, key]] of Object.entries(forgeries(project.anonKey, foreign.anonKey)).entries()) {
      const wrong = await statuses(shareOf(routes, turn, FORGERIES_APART), () =>
        project.client(key, userToken),
      );
      expect({ kind, wrong }).toEqual({ kind, wrong: [] });
    }
  }, 120_000);

  it('answers 401 for every forged bearer token', async () => {
    const routes = routesExcept(...STAFF_RULES, 'apikey');
    const foreignToken = (await foreign.signUp()).accessToken;
    for (const [turn, [kind, token]] of Object.entries(forgeries(userToken, foreignToken)).entries()) {
      const wrong = await statuses(shareOf(routes, turn, FORGERIES_APART), () =>
        project.client(project.anonKey, token),
      );
      expect({ kind, wrong }).toEqual({ kind, wrong: [] });
    }
    const others = routes.filter(({ path }) => !ONE_KEY.test(path));
    expect(await statuses(others, () => project.client(project.anonKey, null))).toEqual([]);
  }, 120_000);

  it('answers 401 for a wrong administrator key', async () => {
    const routes = guardedRoutesOf(plinth.app).filter(({ rule }) => STAFF_RULES.some((one) => one === rule));
    const keys = ['wrong', project.serviceKey, `${project.serviceKey} `];
    for (const [turn, key] of keys.entries()) {
      const tried = shareOf(routes, turn, keys.length);
      expect(await statuses(tried, () => plinth.http.with({ authorization: `Bearer ${key}` }))).toEqual([]);
    }
  });

  it("answers 401 for a user's token sent as apikey", async () => {
    const routes = routesExcept(...STAFF_RULES);
    expect(await statuses(routes, () => project.client(userToken, userToken))).toEqual([]);
  });
});
