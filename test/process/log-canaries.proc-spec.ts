/**
 * Puts secrets into every part of a request. None may appear in Plinth's output at its most verbose level, in the
 * platform's audit log, in PostgreSQL's log, or in a response, unless the response repeats the request by design.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { shareOf } from '../support/extent';
import { type HttpAnswer, HttpClient } from '../support/http-client';
import { MailServer, tokenIn } from '../support/mail-server';
import { type Attempt, type Place, PLACES } from '../support/misplaced-secrets';
import { PlinthProcess, PROCESS_ADMIN_KEY } from '../support/plinth-process';
import { upload } from '../support/uploads';
import { startPostgres } from './support/first-start';

const MASTER_KEY = 'canary-master-key-0123456789-0123456789';
const METRICS_TOKEN = 'canary-metrics-token-0123456789';
const SMTP_PASSWORD = 'canary-smtp-password';
const S3_SECRET = 'canary-s3-secret-access-key';
const PASSWORD = 'canary password of ada';
const NEW_PASSWORD = 'canary-second-password';
const TOGETHER = 20;

let directory: string;
let postgres: EmbeddedPostgres;
let smtp: MailServer;
let plinth: PlinthProcess;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-canaries-'));
  postgres = await startPostgres({ dataDir: join(directory, 'pg') });
  smtp = await MailServer.start({ onAuth: ({ username }, _session, done) => done(null, { user: username }) });
  const database = new URL(postgres.url);
  database.pathname = '/plinth';
  plinth = await PlinthProcess.start({
    dataDir: directory,
    env: {
      LOG_LEVEL: 'debug',
      DATABASE_URL: database.href,
      SMTP_URL: `smtp://ada:${SMTP_PASSWORD}@127.0.0.1:${smtp.port}`,
      BACKUP_URL: `s3://id:${S3_SECRET}@bucket`,
      AUTH_REQUESTS_PER_MINUTE: '1000000',
      MASTER_KEY,
      METRICS_TOKEN,
    },
  });
}, 120_000);
afterAll(async () => {
  await plinth.end('SIGTERM');
  await smtp.stop();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

interface Project {
  readonly id: string;
  readonly slug: string;
  readonly anon: string;
  readonly service: string;
}

interface Scene {
  readonly project: Project;
  readonly fileId: string;
  /** All secrets, by name. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Uses every secret as intended. */
async function setScene(): Promise<Scene> {
  const { body } = await plinth.admin.post('/admin/v1/projects', { name: 'Canaries', plan: 'enterprise' });
  const project: Project = {
    id: body.id,
    slug: body.slug,
    anon: body.anon_key,
    service: body.service_role_key,
  };
  const admin = `/admin/v1/projects/${project.id}`;
  const { jwt_secret } = (await plinth.admin.get(`${admin}/keys`)).body;
  const { owner_password } = (await plinth.admin.get(`${admin}/database`)).body;
  await plinth.admin.post(`${admin}/sql`, {
    query: `create table notes (id int primary key, text text); create policy all_rows on notes using (true);
      create function fail(state text, words text) returns void language plpgsql as $$
        begin raise exception using errcode = state, message = words, detail = words, hint = words; end $$;
      create role staff password 'canary-owner-role-password'`,
  });
  const account = await useAccount(project);
  const service = clientOf(project.service, project.service);
  await service.post(`/p/${project.slug}/storage/buckets`, { name: 'box' });
  const { id: fileId } = (await upload(service, `/p/${project.slug}/storage`, 'box', 'content')).body.data;
  const signed = await service.post(`/p/${project.slug}/storage/files/${fileId}/signed-url`, {
    expiry: '1h',
  });
  const signature = new URL(signed.body.data.url).searchParams.get('signature') as string;
  const secrets = new Map(
    Object.entries({
      ...account,
      'service-role key': project.service,
      'anon key': project.anon,
      'JWT secret': jwt_secret as string,
      'password of the owner role': owner_password as string,
      'password in SQL': 'canary-owner-role-password',
      signature,
      'admin key': PROCESS_ADMIN_KEY,
      'password in DATABASE_URL': decodeURIComponent(new URL(postgres.url).password),
      MASTER_KEY,
      METRICS_TOKEN,
      SMTP_PASSWORD,
      S3_SECRET,
    }),
  );
  return { project, fileId, secrets };
}

async function useAccount(project: Project): Promise<Record<string, string>> {
  const auth = clientOf(project.anon, null, `/v1/auth/${project.id}`);
  const email = 'ada@example.com';
  const first = (await auth.post('/signup', { email, password: PASSWORD })).body.session;
  const second = (await auth.post('/refresh', { refresh_token: first.refresh_token })).body.session;
  await auth.post('/reset-password', { email });
  const token = tokenIn(await smtp.mailTo(email));
  const user = auth.with({ authorization: `Bearer ${second.access_token}` });
  const { id, secret } = (await user.post('/factors', {})).body;
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  expect((await user.post(`/factors/${id}/verify`, { code })).status).toBe(200);
  expect((await auth.post('/update-password', { token, password: NEW_PASSWORD })).status).toBe(200);
  return {
    password: PASSWORD,
    'new password': NEW_PASSWORD,
    'access token': first.access_token,
    'refresh token': first.refresh_token,
    'next refresh token': second.refresh_token,
    'reset token': token,
    'secret of the second factor': secret,
  };
}

function clientOf(apikey: string, bearer: string | null, path = ''): HttpClient {
  const headers = { apikey, ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }) };
  return new HttpClient(plinth.baseUrl + path, headers);
}

/** One URL of each area, and some that do not exist. */
function addressesOf({ project: { id, slug }, fileId }: Scene): string[] {
  return [
    '/rest/v1/notes',
    '/rest/v1/rpc/nothing',
    `/p/${slug}/rest/v1/notes`,
    `/v1/auth/${id}/login`,
    `/v1/auth/${id}/user`,
    `/v1/auth/${id}/reset`,
    `/v1/auth/${id}/admin/users`,
    `/p/${slug}/storage/buckets`,
    `/p/${slug}/storage/buckets/box/upload`,
    `/p/${slug}/storage/files/${fileId}`,
    `/p/${slug}/storage/files/${fileId}/signed`,
    '/admin/v1/projects',
    `/admin/v1/projects/${id}/sql`,
    '/metrics',
    '/docs',
    '/nothing',
    '',
  ];
}

/**
 * Responses that repeat a part of the request to its client (docs/internals/security.md): syntax errors and unknown names in the query
 * language, and the administrator's own SQL. Names of unknown members are repeated everywhere.
 */
const REPEATS = [/^\/(p\/[^/]+\/)?rest\/v1\//, /^\/admin\/v1\//];

let scene: Scene;
beforeAll(async () => (scene = await setScene()), 60_000);

/** Sends the attempts with and without good credentials. @returns responses that wrongly repeat the secret */
async function sendAll(attempts: readonly Attempt[], secret: string): Promise<string[]> {
  const { project } = scene;
  const clients = [
    new HttpClient(plinth.baseUrl),
    clientOf(project.service, project.service),
    new HttpClient(plinth.baseUrl, { apikey: project.anon, authorization: `Bearer ${PROCESS_ADMIN_KEY}` }),
  ];
  const told: string[] = [];
  const waiting = attempts.flatMap((attempt) => clients.map((client) => ({ client, attempt })));
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { client, attempt } = next;
      const { method, path, headers, body } = attempt;
      const answer = await client.send(method, path || '/', { headers, body }).catch(() => null);
      if (!answer || answer.status < 400 || REPEATS.some((pattern) => pattern.test(path))) continue;
      if (answer.text.replaceAll(`${secret} is unknown`, '').includes(secret))
        told.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  return told;
}

/** Bytes that are not an HTTP request. */
async function sendRaw(text: string): Promise<void> {
  const socket = connect(Number(new URL(plinth.baseUrl).port), '127.0.0.1');
  await new Promise<void>((resolve) => {
    socket.on('close', () => resolve()).on('error', () => resolve());
    socket.resume();
    socket.end(text);
  });
}

/** Names of the secrets that a text contains: plain, URL-encoded or truncated. */
function secretsIn(text: string): string[] {
  const isIn = (secret: string): boolean => {
    const signature = secret.split('.').at(-1) as string;
    return [secret, encodeURIComponent(secret), signature.slice(0, 24)].some((form) => text.includes(form));
  };
  return [...scene.secrets].filter(([, secret]) => isIn(secret)).map(([name]) => name);
}

/**
 * Sends the first secret to every URL and a third of the other secrets to a single URL each, because the handling does not
 * depend on the secret. The next place gets another third.
 */
function* attemptsIn(place: Place, turn: number): Iterable<{ secret: string; attempts: Attempt[] }> {
  const addresses = addressesOf(scene);
  const [first, ...others] = [...scene.secrets.values()].entries();
  for (const [index, secret] of [first!, ...shareOf(others, turn, 3)]) {
    const chosen = index === 0 ? addresses : addresses.slice(index % addresses.length).slice(0, 1);
    yield { secret, attempts: chosen.flatMap((address) => place(address, secret)) };
  }
}

it.each(Object.entries(PLACES).map(([name, place], turn) => [name, place, turn] as const))(
  'secrets in %s appear only in responses that repeat the request by design',
  async (_name, place, turn) => {
    const wrong: string[] = [];
    for (const { secret, attempts } of attemptsIn(place, turn))
      wrong.push(...(await sendAll(attempts, secret)));
    expect(wrong.slice(0, 5)).toEqual([]);
  },
  120_000,
);

it.each(['P0001', 'PT400', 'PT503', '22000', '23505', '54000', '57014', 'PGRST'])(
  'secrets in errors that a function raises with %s are sent to its caller only',
  async (state) => {
    const service = clientOf(scene.project.service, scene.project.service);
    for (const secret of scene.secrets.values()) {
      const answer = await service.post('/rest/v1/rpc/fail', { state, words: secret });
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
  },
);

it('secrets in malformed requests are answered and not logged', async () => {
  for (const secret of scene.secrets.values()) {
    await sendRaw(`GET /${secret} HTTP/9\r\n\r\n`);
    await sendRaw(`GET / HTTP/1.1\r\n${secret}\r\n\r\n`);
    await sendRaw(`GET / HTTP/1.1\r\nHost: ${secret}\r\nHost: b\r\napikey : ${secret}\r\n\r\n`);
    await sendRaw(
      `POST /rest/v1/notes HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${secret}\r\n`,
    );
  }
  expect((await new HttpClient(plinth.baseUrl).get('/health/live')).status).toBe(200);
});

// Runs after all other tests, which fill the logs.
describe('afterwards', () => {
  it("no secret is in the platform's audit log", async () => {
    const entries: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const page: HttpAnswer = await plinth.admin.get(
        `/admin/v1/audit-log?limit=1000${next && `&before=${next}`}`,
      );
      expect(page.status).toBe(200);
      entries.push(...page.text.split('},{'));
      next = page.headers.get('x-next-cursor');
    }
    expect(entries.filter((entry) => entry.includes('project.sql')).length).toBeGreaterThan(1);
    expect(entries.filter((entry) => secretsIn(entry).length > 0)).toEqual([]);
  });

  it("no secret is in Plinth's output", async () => {
    const { project, secrets } = scene;
    await plinth.end('SIGTERM');
    expect(plinth.printed).toMatch(/"level":20,.*"GET \/rest\/v1\//);
    const first = plinth.printed.split('\n').filter((line) => secretsIn(line).length > 0);
    expect(first.slice(0, 3)).toEqual([]);
    expect([project.slug, secrets.size]).toEqual(['canaries', 19]);
  });

  it("no secret is in PostgreSQL's log", () => {
    expect(secretsIn(readFileSync(join(directory, 'pg/postgres.log'), 'utf8'))).toEqual([]);
  });
});
