/**
 * What Plinth logs: the link of each mail without SMTP_URL, the request log (REQUEST_LOG), spans at a collector
 * (OTEL_EXPORTER_OTLP_ENDPOINT), and the ids that join them.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { until } from './support/processes';

interface Span {
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const ID = 'from-the-proxy.1';

let directory: string;
let plinth: PlinthProcess;
let collector: Server;
let project: { id: string; slug: string; service_role_key: string };
let unknownId: string;
let printed: string;
const received: string[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-request-log-'));
  collector = createServer((request, response) => {
    void text(request).then((body) => {
      received.push(body);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  const collected = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/` };
  const env = { LOG_LEVEL: 'info', REQUEST_LOG: 'true', ...collected };
  plinth = await PlinthProcess.start({ dataDir: directory, env });
}, 90_000);
afterAll(async () => {
  await plinth.end('SIGKILL');
  await new Promise((resolve) => collector.close(resolve));
  rmSync(directory, { recursive: true, force: true });
});

async function sendRequests({ admin, baseUrl }: PlinthProcess): Promise<void> {
  project = (await admin.post('/admin/v1/projects', { name: 'Logged' })).body;
  await admin.post(`/admin/v1/projects/${project.id}/sql`, { query: 'create table notes (title text)' });
  const key = project.service_role_key;
  const service = new HttpClient(baseUrl, { apikey: key, authorization: `Bearer ${key}` });
  const headers = { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`, 'x-request-id': ID };
  const read = await service.get('/rest/v1/notes?title=eq.canary', { headers });
  expect([read.status, read.headers.get('x-request-id')]).toEqual([200, ID]);
  const lost = await new HttpClient(baseUrl).unchecked().get('/nowhere/canary', {
    headers: { traceparent: 'nonsense', 'x-request-id': `eyJ${'canary'.repeat(8)}` },
  });
  unknownId = lost.headers.get('x-request-id') ?? '';
}

function spanOf(id: string): Span & { readonly values: Readonly<Record<string, unknown>> } {
  const spans = received.flatMap((body) =>
    (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans.flatMap(
      ({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans),
    ),
  );
  const all = spans.map((span) => ({
    ...span,
    values: Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
  }));
  const found = all.filter(({ values }) => values['plinth.request_id'] === id);
  expect(found).toHaveLength(1);
  return found[0] as (typeof all)[number];
}

const lineOf = (id: string): unknown =>
  printed
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(`"request_id":"${id}"`))
    .map((line) => JSON.parse(line) as unknown);

interface Line {
  readonly level: number;
  readonly msg: string;
}

/** The log lines about mails. */
function mailLines(): Line[] {
  // The last line may not have arrived as a whole.
  const lines = plinth.printed.split('\n').slice(0, -1);
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => msg.startsWith('SMTP_URL is not set: the mail "'));
}

it("prints one line per mail with the mail's working link", async () => {
  const settings = { email_verification_required: true };
  const created = await plinth.admin.post('/admin/v1/projects', { name: 'Links', settings });
  const { id, anon_key: apikey } = created.body;
  const client = new HttpClient(`${plinth.baseUrl}/v1/auth/${id}`, { apikey });
  await client.post('/signup', { email: 'ada@example.com', password: 'secret' });
  await until(() => mailLines().length === 1);
  await client.post('/reset-password', { email: 'ada@example.com' });
  await until(() => mailLines().length === 2);
  const pages = ['verify', 'reset'];
  for (const [index, line] of mailLines().entries()) {
    const [, file = '', link = ''] = /^.* was written to (\S+\.eml); its link is (\S+)$/.exec(line.msg) ?? [];
    expect(link).toMatch(
      new RegExp(`^${plinth.publicUrl}/v1/auth/${id}/${pages[index]}\\?token=[\\w-]{43}$`),
    );
    expect(readFileSync(file, 'utf8').replaceAll('=\n', '').replaceAll('=3D', '=')).toContain(link);
    expect((await new HttpClient(plinth.baseUrl).get(link.slice(plinth.publicUrl.length))).status).toBe(200);
  }
  const token = new URL(/\S+$/.exec(mailLines()[0]?.msg ?? '')?.[0] ?? '').searchParams.get('token');
  expect((await client.post('/verify-email', { token })).status).toBe(200);
  const { session } = (await client.post('/login', { email: 'ada@example.com', password: 'secret' })).body;
  const signedIn = client.with({ authorization: `Bearer ${session.access_token}` });
  const change = { email: 'ada@new.example.com', current_password: 'secret' };
  expect((await signedIn.patch('/user', change)).status).toBe(200);
  await until(() => mailLines().length === 4);
  // The notice to the old address has no link to confirm.
  const withLink = mailLines()
    .slice(2)
    .map(({ msg }) => /\?token=[\w-]{43}$/.test(msg));
  expect(withLink.sort()).toEqual([false, true]);
});

describe('the log of requests', () => {
  beforeAll(async () => {
    await sendRequests(plinth);
    // The last lines and spans are written before the process ends.
    await plinth.end('SIGTERM');
    printed = plinth.printed;
  }, 90_000);

  it('is a line with id, route, project, role, status and times for each request', () => {
    expect(lineOf(ID)).toEqual([
      {
        level: 30,
        time: expect.any(String),
        msg: 'request',
        request_id: ID,
        method: 'GET',
        route: expect.stringContaining('rest/v1'),
        project: project.slug,
        project_id: project.id,
        role: 'service_role',
        status: 200,
        ms: expect.any(Number),
        ms_database: expect.any(Number),
        bytes: expect.any(Number),
      },
    ]);
    expect(unknownId).toMatch(/^[0-9a-f-]{36}$/);
    expect(lineOf(unknownId)).toMatchObject([{ route: null, project: null, role: null, status: 404 }]);
  });

  it('exports a span for each request, in the trace of its caller', () => {
    const span = spanOf(ID);
    expect(span).toMatchObject({ traceId: TRACE_ID, parentSpanId: '00f067aa0ba902b7', kind: 2 });
    expect(span.name).toMatch(/^GET .*rest\/v1/);
    expect(span.values).toMatchObject({
      'http.response.status_code': 200,
      'plinth.project_id': project.id,
      'plinth.role': 'service_role',
    });
    expect(span.values['plinth.database_ms']).toBeGreaterThan(0);
    const unknown = spanOf(unknownId);
    expect(unknown.traceId).not.toBe(TRACE_ID);
    expect(unknown.values).toMatchObject({ 'http.response.status_code': 404 });
  });

  it('holds no name, value or token of a client', () => {
    expect(received.length).toBeGreaterThan(0);
    const lines = printed.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.length).toBeGreaterThan(3);
    expect([...lines, ...received].join()).not.toMatch(/canary|eyJ/);
  });
});
