/**
 * While routes receive their worst bodies, the event loop of the product serves /health/live. The bound of 50 ms is for
 * a machine on which costOfParsing() takes 150 ms. If other programs run, the CPU time for which the main thread held
 * the event loop is more accurate, and has the same bound. Needs a build (`npm run build`), and Linux.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { load } from 'js-yaml';
import { pack } from 'tar-stream';
import { WebSocket } from 'ws';
import { on, once } from 'node:events';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { costOfParsing } from '../support/event-loop';
import { until } from '../support/eventually';
import type { HttpAnswer, HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import type { OpenApiDocument } from '../support/openapi';
import { type S3Credentials, sha256, signS3 } from '../support/s3-signature';
import { SamlIdp } from '../support/saml-idp';
import { type WorstOperation, worstOperations } from '../support/worst-requests';
import { createLoadedProject, type LoadedProject } from '../support/steady-load';

const BOUND_MS = 50;
const REFERENCE_MS = 150;
const HOLDS = join(__dirname, '../support/loop-holds.cjs');
const DOCUMENT = join(__dirname, '../snapshots/openapi/platform.yaml');
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
/** Rounds of each case; the least hold counts, because other programs and garbage collection interfere. */
const ROUNDS = 3;
/** Milliseconds for which requests to an idle Plinth are timed. */
const IDLE_MS = 300;
/**
 * If requests to an idle Plinth take longer, other programs delay them, and only the CPU time of the main thread
 * counts.
 */
const QUIET_MS = 10;
/** Milliseconds between two requests to /health/live. */
const PROBE_MS = 5;

let directory: string;
/** The file that loop-holds.cjs writes. */
let holds: string;
let plinth: PlinthProcess;
let project: LoadedProject;
let admin: HttpClient;
let s3Key: S3Credentials;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-loop-'));
  holds = join(directory, 'holds');
  writeFileSync(holds, '');
  const env = {
    NODE_OPTIONS: `--require ${HOLDS}`,
    PLINTH_TEST_LOOP_HOLDS: holds,
    PLINTH_TEST_HOLD_MS: String(1.2 * boundOf(costOfParsing())),
  };
  plinth = await PlinthProcess.start({ dataDir: directory, env });
  admin = plinth.admin.unchecked();
  project = await createLoadedProject(admin, 'Loop');
  const created = await admin.post(`/admin/v1/projects/${project.id}/s3-keys`, {});
  s3Key = created.body;
  await sql(
    'create table texts (a text, b text); create function run(a json) returns json language sql as $$ select a $$',
  );
}, 120_000);
afterAll(async () => {
  await plinth.end('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

const sql = (query: string, options: object = {}): Promise<HttpAnswer> =>
  admin.post(`/admin/v1/projects/${project.id}/sql`, { query, ...options });
const migrate = (piece: string): Promise<HttpAnswer> =>
  admin.post(`/admin/v1/projects/${project.id}/migrations`, {
    migrations: [{ version: '1', name: 'step', sql: piece.repeat(1_000_000 / piece.length) }],
    dry_run: true,
  });
const asService = (type?: string): Record<string, string> => {
  const key = project.service_role_key;
  return {
    apikey: key,
    authorization: `Bearer ${key}`,
    ...(type === undefined ? {} : { 'content-type': type }),
  };
};
const rows = (body: string, type = 'application/json'): Promise<HttpAnswer> =>
  admin.post('/rest/v1/texts', body, {
    headers: { ...asService(type), prefer: 'return=minimal,tx=rollback' },
  });
const csv = (body: string): Promise<HttpAnswer> => rows(body, 'text/csv');
const get = (path: string, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
  admin.get(path, { headers: { ...asService(), ...headers } });

/** @param rest after the first header of the part that is the file */
const upload = (rest: string, before = ''): Promise<HttpAnswer> => {
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="f.txt"\r\n';
  const path = `/p/${project.slug}/storage/buckets/box/upload?upsert=true`;
  return admin.post(path, `${before}${head}${rest}\r\n--x--\r\n`, {
    headers: asService('multipart/form-data; boundary=x'),
  });
};

/** An upload as storage-js sends it. */
const putObject = (
  method: string,
  body: string,
  headers: Record<string, string> = {},
  object = 'box/x',
): Promise<HttpAnswer> =>
  admin.send(method, `/p/${project.slug}/storage/v1/object/${object}`, {
    body,
    headers: { ...asService('text/plain'), ...headers },
  });

const tus = (
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<HttpAnswer> =>
  admin.send(method, `/p/${project.slug}/storage/v1/upload/resumable${path}`, {
    body,
    headers: { ...asService('application/offset+octet-stream'), 'tus-resumable': '1.0.0', ...headers },
  });

/** A request of the S3 protocol. @param below path and query */
function s3(
  method: string,
  below: string,
  body = '',
  more: { signed?: Record<string, string>; payload?: string } = {},
): Promise<HttpAnswer> {
  const { signed, payload = sha256(body) } = more;
  const target = `/p/${project.slug}/storage/v1/s3${below}`;
  const { host } = new URL(plinth.baseUrl);
  const { headers } = signS3(s3Key, { method, host, target, payload, signed });
  return admin.send(method, target, { body: method === 'GET' ? undefined : body, headers });
}

/** An upload with the largest number of parts, of which only the first has bytes. */
async function s3Upload(): Promise<string> {
  const begun = await s3('POST', '/box/parts?uploads=');
  const id = String(/<UploadId>([^<]+)</.exec(begun.text)?.[1]);
  const part = `/box/parts?partNumber=1&uploadId=${id}`;
  expect((await s3('PUT', part, 'x')).status).toBe(200);
  return id;
}

/** Sends a request with an invalid signature. @param names of SignedHeaders in addition to Host */
async function forged(names: string, headers: Record<string, string>): Promise<void> {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/eu-x/s3/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${project.slug}/${scope}, SignedHeaders=host;${names}, Signature=${'0'.repeat(64)}`;
  const answer = await admin.get(`/p/${project.slug}/storage/v1/s3/box`, {
    headers: { authorization, 'x-amz-date': time, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', ...headers },
  });
  expect(answer.text).toContain('<Code>AuthorizationHeaderMalformed</Code>');
}

const PART = `<Part><PartNumber>1</PartNumber><ETag>&quot;${'0'.repeat(32)}&quot;</ETag><ChecksumSHA256>${'A'.repeat(43)}=</ChecksumSHA256></Part>`;

/** Sends a SAML response to a request that Plinth made. */
async function samlResponse(inner: string): Promise<HttpAnswer> {
  const auth = `/p/${project.slug}/auth/v1`;
  const idp = await SamlIdp.create('https://idp.example.com', 'https://idp.example.com/sso', Date.now);
  const provider = { type: 'saml', metadata_xml: idp.metadata(), domains: ['example.com'] };
  await admin.post(`${auth}/admin/sso/providers`, provider, { headers: asService() });
  await admin.patch(`/admin/v1/projects/${project.id}`, { settings: { site_url: 'http://app.test/' } });
  const wanted = {
    domain: 'example.com',
    redirect_to: 'http://app.test/',
    skip_http_redirect: true,
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 's256',
  };
  const begun = await admin.post(`${auth}/sso`, wanted, { headers: asService() });
  const { id } = SamlIdp.requestIn(String(begun.body.url));
  const status = '<Status><StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></Status>';
  const xml = `<Response InResponseTo="${id}">${status}${inner}</Response>`;
  const body = new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64') }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await admin.send('POST', `${auth}/sso/saml/acs`, { body, headers });
  expect(String(answer.headers.get('location'))).toContain('error_code=validation_failed');
  return answer;
}

/** Restores an archive whose first member is this header. */
async function restore(path: string, header: string): Promise<HttpAnswer> {
  const tar = pack();
  tar.entry({ name: 'header.json' }, header);
  tar.finalize();
  const archive = gzipSync(await buffer(tar), { level: 1 });
  const headers = { 'content-type': 'application/gzip', 'backup-passphrase': 'a passphrase of some words' };
  return admin.post(`/admin/v1/${path}`, archive, { headers });
}
const TABLE = '{"member":"data/1.copy","schema":"public","name":"n","columns":["a","b","c"]},';
const archiveHeader = (bytes: number): string =>
  `{"format":1,"key":{"kdf":"x"},"tables":[${TABLE.repeat(bytes / TABLE.length)}{}]}`;

const COLUMNS = Array.from({ length: 1_600 }, (_, index) => `n as c${index}`).join();
const WIDE = `select ${COLUMNS} from generate_series(1, 1000) n`;
const STATEMENTS = 'select 1;'.repeat(110_000);
const array = (element: string, count: number): string =>
  `select array_agg(${element}) from generate_series(1, ${count})`;

const CASES: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['SQL of 110,000 statements', () => sql(STATEMENTS)],
  ['two of them concurrently', () => Promise.all([sql(STATEMENTS), sql(STATEMENTS)])],
  ['SQL of as many statements as are admitted', () => sql('select 1;'.repeat(19_999), { all_results: true })],
  ['1,600 columns by 1,000 rows', () => sql(WIDE)],
  ['100,000 rows', () => sql('select n from generate_series(1, 100000) n', { max_rows: 100_000 })],
  ['nested JSON', () => sql(`select ('[' || repeat('[],', 1000000) || '[]]')::json`)],
  ['an array of times', () => sql(array('now()', 100_000))],
  ['an array of intervals', () => sql(array(`interval '1 year 2 days 03:04:05'`, 100_000))],
  ['a text of quotes', () => sql(`select repeat('"', 4000000)`)],
  ['bytes', () => sql(`select repeat('x', 2000000)::bytea`)],
  ...['a ', 'a;', ';', '/*', '/**/', '$a$ ', "''", 'create function a begin case end '].map(
    (piece) => [`a migration of ${JSON.stringify(piece)}`, () => migrate(piece)] as const,
  ),
  ['a CSV field of quotes', () => csv(`a,b\n"${'""'.repeat(4_000_000)}",\n`)],
  ['many CSV lines of quotes', () => csv(`a,b\n${'"",""""\n'.repeat(1_000_000)}`)],
  ['a CSV field of control characters', () => csv(`a,b\n${'\u0001'.repeat(9_000_000)},\n`)],
  ['a CSV field of letters', () => csv(`a,b\n${'é'.repeat(4_500_000)},\n`)],
  ['empty CSV lines', () => csv('\n'.repeat(9_000_000))],
  ['rows of empty objects', () => rows(`[${'{},'.repeat(3_000_000)}{}]`)],
  [
    'rows of different members',
    () => rows(`[${Array.from({ length: 300_000 }, (_, n) => `{"${n}":1}`).join()}]`),
  ],
  ['a row with a long text', () => rows(`{"a":"${'\\u0041'.repeat(1_500_000)}"}`)],
  ['a row with a long name', () => rows(`{"${'n'.repeat(9_000_000)}":1}`)],
  ['a row with a long number', () => rows(`{"a":${'1'.repeat(9_000_000)}}`)],
  ['a form', () => rows('a=%41&'.repeat(9_999), 'application/x-www-form-urlencoded')],
  [
    'nested JSON for a function',
    () => admin.post('/rest/v1/rpc/run', '['.repeat(9_000_000), { headers: asService() }),
  ],
  ['a long list of a filter', () => get(`/rest/v1/texts?a=in.(${'1,'.repeat(7_000)}1)`)],
  ['many conditions', () => get(`/rest/v1/texts?or=(${'a.eq.1,'.repeat(1_500)}b.eq.1)`)],
  [
    'many columns',
    () => get(`/rest/v1/texts?select=${Array.from({ length: 1_200 }, (_, n) => `c${n}:a`).join()}`),
  ],
  [
    'unknown columns',
    () => get(`/rest/v1/texts?select=${Array.from({ length: 1_200 }, (_, n) => `zzz${n}`).join()}`),
  ],
  ...[
    'accept',
    'prefer',
    'range',
    'cookie',
    'if-none-match',
    'accept-language',
    'authorization',
    'origin',
  ].map((name) => [`a long ${name}`, () => longHeads(name)] as const),
  [
    'POST /p/{project_slug}/storage/buckets/{bucket_name}/upload',
    () => upload(`\r\n${'\r\n--'.repeat(5_000_000)}`),
  ],
  [
    'POST /p/{project_slug}/storage/v1/object/{bucket_name}/{path}',
    () => putObject('POST', `<?xml ${'<!-- '.repeat(4_000_000)}`),
  ],
  [
    'PUT /p/{project_slug}/storage/v1/object/{bucket_name}/{path}',
    () => putObject('PUT', 'x', { 'x-metadata': Buffer.from('['.repeat(9_000)).toString('base64') }),
  ],
  [
    'PUT /p/{project_slug}/storage/v1/object/upload/sign/{bucket_name}/{path}',
    () => putObject('PUT', 'x', {}, `upload/sign/box/x?token=${'x'.repeat(12_000)}.${'x'.repeat(43)}`),
  ],
  ...[
    ['tags', '<a/>'.repeat(1_400)],
    ['attributes', `<a ${Array.from({ length: 3_900 }, (_, n) => `a${n}=""`).join(' ')}/>`],
    ['text', 'a'.repeat(250_000)],
  ].map(([name, inner = '']) => [`a SAML response of ${name}`, () => samlResponse(inner)] as const),
  [
    'POST /p/{project_slug}/auth/v1/oauth/token',
    () =>
      admin.send('POST', `/p/${project.slug}/auth/v1/oauth/token`, {
        body: Array.from({ length: 2_000 }, (_, n) => `a${n}=b`).join('&'),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
  ],
  [
    'POST /p/{project_slug}/storage/v1/upload/resumable',
    () => tus('POST', '', { 'upload-length': '1', 'upload-metadata': 'a '.repeat(7_000) }),
  ],
  [
    'PATCH /p/{project_slug}/storage/v1/upload/resumable/{upload_id}',
    async () => {
      const metadata = { 'upload-metadata': 'bucketName Ym94,objectName eA==', 'upload-length': '30000000' };
      const begun = await tus('POST', '', { ...metadata, 'x-upsert': 'true' });
      const id = String(begun.headers.get('location')).split('/').at(-1);
      return tus('PATCH', `/${id}`, { 'upload-offset': '0' }, 'x'.repeat(30_000_000));
    },
  ],
  ['an upload with many fields', () => upload('\r\n', FIELD.repeat(100_000))],
  ['an upload with many headers', () => upload(`${'a: b\r\n'.repeat(2_000_000)}\r\n`)],
  ['an upload that resembles XML', () => upload(`\r\n<?xml ${'<!-- '.repeat(4_000_000)}`)],
  [
    'an error of quotes',
    async () => {
      await sql(`create or replace function quotes() returns void language plpgsql as
        $$ begin raise exception using errcode = '42P17', message = repeat('"', 16000) || E'\\nx'; end $$`);
      await admin.post('/rest/v1/rpc/quotes', '{}', { headers: asService('application/json') });
    },
  ],
  [
    'thousands of challenges for passkeys',
    async () => {
      for (let left = 3_000; left > 0; left -= 50)
        await Promise.all(
          Array.from({ length: 50 }, () =>
            admin.send('POST', '/admin/v1/session/passkey/options', { headers: { authorization: '' } }),
          ),
        );
    },
  ],
  [
    'S3: ten thousand parts',
    async () => {
      const parts = Array.from({ length: 10_000 }, (_, at) => PART.replace('>1<', `>${at + 1}<`)).join('');
      const path = `/box/parts?uploadId=${await s3Upload()}`;
      const answer = await s3('POST', path, `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`);
      expect(answer.text).toContain('<Code>InvalidPart</Code>');
    },
  ],
  [
    'S3: a list of ten thousand parts',
    async () => {
      const id = await s3Upload();
      await sql(`insert into storage.resumable_parts (upload_id, start, size, object_id, etag)
        select upload_id, n, size, gen_random_uuid(), etag from storage.resumable_parts, generate_series(2, 10000) n
        where upload_id = '${id}'`);
      expect((await s3('GET', `/box/parts?uploadId=${id}`)).text).toContain('<IsTruncated>true');
    },
  ],
  ...[
    ['a thousand keys', `<Object><Key>${'&#233;'.repeat(500)}0000</Key></Object>`, 1_000],
    ['elements', '<a/>', 99_000],
    ['too many elements', '<a/>', 500_000],
    ['spaces', '<a                        >', 80_000],
    ['references', '&#65;', 400_000],
  ].map(
    ([name, piece, count]) =>
      [
        `S3: deleted objects, ${name}`,
        () => s3('POST', '/box?delete=', `<Delete>${String(piece).repeat(Number(count))}</Delete>`),
      ] as const,
  ),
  ...['1\r\nx\r\n', '1;chunk-signature='].map(
    (piece) =>
      [
        `S3: chunks of ${JSON.stringify(piece)}`,
        () =>
          s3('PUT', '/box/chunks', `${piece.repeat(600_000)}0\r\n\r\n`, {
            payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
            signed: { 'x-amz-trailer': 'x-amz-checksum-crc32', 'x-amz-decoded-content-length': '600000' },
          }),
      ] as const,
  ),
  [
    'S3: a header that is signed again and again',
    () => forged('a;'.repeat(20_000), { a: 'x'.repeat(15_000) }),
  ],
  ['S3: many signed headers', () => forged('a;'.repeat(20_000), {})],
  ['S3: a long query', () => s3('GET', `/box?${'a=%21&'.repeat(2_000)}`)],
  [
    'S3: a preflight of many headers for a bucket with many rules',
    async () => {
      await s3Upload();
      // The last pattern of each rule matches all headers but the last.
      const headers = [...Array.from({ length: 99 }, (_, n) => `z${n}*`), 'a*'];
      const rule = { id: null, origins: ['*'], methods: ['GET'], headers, exposed: [], maxAge: null };
      const rules = JSON.stringify(Array.from({ length: 70 }, () => rule));
      await sql(`insert into storage.buckets (name, slug, cors_rules) select 'cors-' || n, 'cors-' || n, '${rules}'
        from generate_series(1, 200) n on conflict do nothing`);
      const preflight = (asked: string): Promise<HttpAnswer> =>
        admin.send('OPTIONS', `/p/${project.slug}/storage/v1/s3/cors-1/x`, {
          headers: {
            origin: 'https://app.example.com',
            'access-control-request-method': 'GET',
            'access-control-request-headers': asked,
          },
        });
      await preflight(`${'a,'.repeat(5_000)}b`);
      await sql(`delete from storage.buckets where name ~ '^cors-' and name <> 'cors-1'`);
      await preflight(`${'a,'.repeat(5_000)}b`);
      await preflight(`${'a,'.repeat(40)}b`);
    },
  ],
  ['POST /admin/v1/restore', () => restore('restore', archiveHeader(30_000_000))],
  ['POST /admin/v1/restore/all', () => restore('restore/all', archiveHeader(30_000_000))],
  [
    'POST /admin/v1/projects/{id}/users/import',
    async () => {
      const path = `/admin/v1/projects/${project.id}/users/import`;
      const values = `{"user_metadata":[${'0,'.repeat(500_000)}0]}\n`;
      await admin.post(path, values.repeat(3));
      await admin.post(path, '{}\n'.repeat(200_000));
      await admin.post(path, `{"email":"${'a@'.repeat(100)}"}\n`.repeat(10_000));
      await admin.post(path, 'x'.repeat(30_000_000));
    },
  ],
];
const FIELD = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n';

/** Request heads of nearly the 16 KiB that Node.js accepts, with items that parsers split. */
async function longHeads(name: string): Promise<void> {
  for (const item of ['a/b,', ';', 'a=b;', '"a",', '\\"', '0-0,', 'a.', 'de;q=1,'])
    for (const path of ['/rest/v1/texts?limit=1', `/p/${project.slug}/storage/buckets`, '/console', '/'])
      await get(path, { [name]: item.repeat(14_000 / item.length) });
}

const OPERATIONS = worstOperations(load(readFileSync(DOCUMENT, 'utf8')) as OpenApiDocument);

async function sendBodies({ method, path, bodies }: WorstOperation): Promise<void> {
  const { id, slug } = project;
  const known = new Map(
    Object.entries({
      id,
      project_id: id,
      project_slug: slug,
      table: 'texts',
      routine: 'run',
      bucket_name: 'box',
    }),
  );
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => known.get(name) ?? UNKNOWN);
  const headers = path.startsWith('/admin') ? {} : asService();
  for (const [, body] of bodies()) await admin.send(method, url, { body, headers });
}

/**
 * Times requests to /health/live until it is stopped. Runs in a thread, because this process reads large responses at
 * the same time.
 */
const PROBE = `
  const { parentPort, workerData } = require('node:worker_threads');
  let isOver = false;
  parentPort.once('message', () => (isOver = true));
  (async () => {
    let slowest = 0;
    while (!isOver) {
      const began = performance.now();
      await (await fetch(workerData.url)).text();
      slowest = Math.max(slowest, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, workerData.pause));
    }
    parentPort.postMessage(slowest);
  })();`;

async function slowestProbe(work: () => Promise<unknown>): Promise<number> {
  const workerData = { url: `${plinth.baseUrl}/health/live`, pause: PROBE_MS };
  const probe = new Worker(PROBE, { eval: true, workerData });
  try {
    const failed = once(probe, 'error').then(([error]) => Promise.reject(error as Error));
    await Promise.race([work(), failed]);
    const slowest = once(probe, 'message');
    probe.postMessage('stop');
    return Number((await Promise.race([slowest, failed]))[0]);
  } finally {
    await probe.terminate();
  }
}

/** The longest hold of the main thread that was written after this offset of the file. */
function longestSince(bytes: number): number {
  const lines = readFileSync(holds).subarray(bytes).toString().split('\n');
  return Math.max(0, ...lines.map(Number));
}

const boundOf = (cost: number): number => BOUND_MS * Math.max(1, cost / REFERENCE_MS);

async function assertServed(name: string, work: () => Promise<unknown>): Promise<void> {
  const bound = boundOf(costOfParsing());
  const idle = (): Promise<number> => slowestProbe(() => setTimeout(IDLE_MS));
  let [slowest, held, delay] = [Infinity, Infinity, await idle()];
  for (let round = 0; round < ROUNDS && (held > bound || slowest > bound); round += 1) {
    const before = readFileSync(holds).length;
    slowest = Math.min(slowest, await slowestProbe(work));
    held = Math.min(held, longestSince(before));
  }
  delay = Math.max(delay, await idle());
  const [isQuiet, rounded] = [delay < QUIET_MS, [slowest, delay, held].map(Math.round)];
  process.stdout.write(
    `${JSON.stringify({ name, slowest: rounded[0], idle: rounded[1], held: rounded[2] })}\n`,
  );
  expect(held).toBeLessThanOrEqual(bound);
  if (isQuiet) expect(slowest).toBeLessThanOrEqual(bound);
}

it('fails if the event loop is blocked a fifth longer', async () => {
  const hold = async (): Promise<void> => {
    plinth.child.kill('SIGWINCH');
    await setTimeout(IDLE_MS);
  };
  await expect(assertServed('a hold', hold)).rejects.toThrow('toBeLessThanOrEqual');
}, 60_000);

it.each(CASES)('serves /health/live during %s', assertServed, 120_000);

describe('of 5,000 tables and functions', () => {
  const BATCHES = 10;
  const BATCH = 500;
  let large: LoadedProject;
  let builds = 0;
  beforeAll(async () => {
    large = await createLoadedProject(admin, 'Large');
    const run = async (query: string): Promise<void> =>
      expect(
        (await admin.post(`/admin/v1/projects/${large.id}/sql`, { query, timeout_seconds: 60 })).status,
      ).toBe(200);
    for (let batch = 0; batch < BATCHES; batch += 1)
      await run(`do $$ begin for i in ${batch * BATCH + 1}..${(batch + 1) * BATCH} loop
        execute format('create table table_%s (id int primary key, name text not null, at timestamptz default now(), data jsonb)', i);
        execute format('create function function_%s(a int, b text) returns int language sql stable as $f$ select 1 $f$', i);
      end loop; end $$`);
  }, 600_000);

  /** Builds a document after a new name of the project, so that it does not come from memory. */
  const built = async (path: string): Promise<void> => {
    builds += 1;
    await admin.patch(`/admin/v1/projects/${large.id}`, { name: `Large ${builds}` });
    const key = large.service_role_key;
    const headers = { apikey: key, authorization: `Bearer ${key}` };
    expect((await admin.get(path.replace('{slug}', large.slug), { headers })).status).toBe(200);
  };
  it.each([
    '/p/{slug}/openapi.json',
    '/p/{slug}/openapi.json?version=3.0',
    '/p/{slug}/openapi.yaml',
    '/p/{slug}/types.ts',
    '/p/{slug}/types.ts?lang=supabase',
    '/rest/v1/table_1',
  ])('serves /health/live during GET %s', (path) => assertServed(`GET ${path}`, () => built(path)), 600_000);

  it('serves /health/live during a backup', async () => {
    const headers = { 'backup-passphrase': 'a passphrase of some words' };
    await assertServed('a backup of 5,000 tables', () =>
      admin.get(`/admin/v1/projects/${large.id}/backup`, { headers }),
    );
  }, 600_000);

  it('serves /health/live during the doctor', async () => {
    await assertServed('the doctor', () => admin.get('/admin/v1/doctor'));
  }, 600_000);
});

describe('of short and of long rows', () => {
  /** Number of rounds of changes while a move copies. */
  const CHANGES = 2;
  const ROWS = `create table short as select from generate_series(1, 3000000);
    create table long as select repeat(E'\\\\\n', 5000000) as text from generate_series(1, 10)`;
  const headers = { 'backup-passphrase': 'a passphrase of some words' };

  it('serves /health/live during a backup', async () => {
    await sql(ROWS);
    await assertServed('COPY', () => admin.get(`/admin/v1/projects/${project.id}/backup`, { headers }));
  }, 300_000);

  it('serves /health/live during a restore', async () => {
    const copied = await createLoadedProject(admin, 'Copied');
    const at = `/admin/v1/projects/${copied.id}`;
    expect((await admin.post(`${at}/sql`, { query: ROWS, timeout_seconds: 60 })).status).toBe(200);
    const answer = await fetch(plinth.baseUrl + at + '/backup', {
      headers: { ...admin.headers, ...headers },
    });
    const archive = Buffer.from(await answer.arrayBuffer());
    const options = { headers: { ...headers, 'content-type': 'application/octet-stream' } };
    await assertServed('COPY into a restore', async () => {
      expect((await admin.delete(at)).status).toBe(200);
      expect((await admin.post('/admin/v1/restore', archive, options)).status).toBe(201);
    });
  }, 300_000);

  it('serves /health/live while a move repeats changes', async () => {
    const second = await EmbeddedPostgres.start({
      dataDir: join(directory, 'second'),
      settings: { fsync: 'off' },
    });
    try {
      const moved = await createLoadedProject(admin, 'Moved');
      expect((await admin.post('/admin/v1/servers', { name: 'second', url: second.url })).status).toBe(201);
      const at = `/admin/v1/projects/${moved.id}`;
      const run = (query: string): Promise<HttpAnswer> =>
        admin.post(`${at}/sql`, { query, timeout_seconds: 60 });
      await run(`create table rows (id int primary key, n int, text text);
        insert into rows select n, 0, repeat('x', 300) from generate_series(1, 200000) n;
        create table texts (id int primary key, text text)`);
      let server = 'second';
      await assertServed('changes into a move', async () => {
        const { status, text } = await admin.post(`${at}/move`, { server });
        if (status !== 202) throw new Error(text);
        const isOver = async (): Promise<boolean> =>
          (await admin.get(`${at}/move`)).body.finished_at !== null;
        for (let changes = 0; !(await isOver()); changes += 1) {
          if (changes < CHANGES)
            await run(`update rows set n = n + 1 where id < 20000;
              insert into texts values (1, repeat('é', 15000000))
                on conflict (id) do update set text = excluded.text || 'a'`);
          await setTimeout(PROBE_MS);
        }
        const { body } = await admin.get(`${at}/move`);
        expect([body.status, body.error]).toEqual(['done', null]);
        server = server === 'second' ? 'platform' : 'second';
        const seen = await run('select right(text, 3) as text, octet_length(text) as bytes from texts');
        expect(seen.body.rows).toEqual([{ text: 'ééa', bytes: 30_000_001 }]);
      });
    } finally {
      await second.stop();
    }
  }, 600_000);
});

describe('of sockets and streams', () => {
  const sockets: WebSocket[] = [];
  const topic = (name: string): string => `realtime:${name}`;
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.terminate();
  });

  /** Sockets of anonymous clients. */
  const open = (count: number): Promise<WebSocket[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const address = `${plinth.baseUrl.replace('http', 'ws')}/p/${project.slug}/realtime/v1/websocket`;
        const socket = new WebSocket(`${address}?vsn=2.0.0&apikey=${project.anon_key}`);
        socket.on('error', () => undefined);
        sockets.push(socket);
        await once(socket, 'open');
        return socket;
      }),
    );
  const send = (socket: WebSocket, name: string, event: string, payload: object): void =>
    socket.send(JSON.stringify(['1', '1', topic(name), event, payload]));
  /** Resolves with the answer. */
  const join = async (socket: WebSocket, name: string, config: object = {}): Promise<void> => {
    send(socket, name, 'phx_join', { config });
    for await (const [data] of on(socket, 'message')) {
      const [, , of, event, payload] = JSON.parse(String(data)) as [string, string, string, string, object];
      if (of !== topic(name) || event !== 'phx_reply') continue;
      expect(payload).toMatchObject({ status: 'ok' });
      return;
    }
  };
  /** Sends the largest permitted burst of messages in one piece. */
  const sendAtOnce = (socket: WebSocket, one: (at: number) => void): void => {
    const tcp = (socket as unknown as { _socket: Socket })._socket;
    tcp.cork();
    for (let at = 0; at < 250; at += 1) one(at);
    tcp.uncork();
  };
  /** Waits until the event loop has handled the messages. */
  const settled = (): Promise<void> => setTimeout(1_000);

  it('serves /health/live during bursts of broadcasts', async () => {
    // With the sender, this is the number of members that get a message in one turn.
    const members = await open(249);
    await Promise.all(members.map((socket) => join(socket, 'burst', { presence: { enabled: false } })));
    await assertServed('bursts of broadcasts', async () => {
      const [sender] = await open(1);
      if (!sender) return;
      await join(sender, 'burst', { presence: { enabled: false } });
      sendAtOnce(sender, () => send(sender, 'burst', 'broadcast', { event: 'x', payload: { n: 1 } }));
      await settled();
      sender.terminate();
    });
  }, 300_000);

  it('serves /health/live during presences that are as large as they may be', async () => {
    const members = await open(400);
    await Promise.all(members.map((socket) => join(socket, 'crowd')));
    for (const socket of members)
      send(socket, 'crowd', 'presence', { event: 'track', payload: { a: '"'.repeat(2_000) } });
    await settled();
    await assertServed('presences', async () => {
      const joining = await open(10);
      await Promise.all(joining.map((socket) => join(socket, 'crowd')));
      for (const socket of joining) socket.terminate();
      await settled();
    });
  }, 300_000);

  it('serves /health/live during messages and notifications from SQL', async () => {
    const members = await open(50);
    await Promise.all(members.map((socket) => join(socket, 'sent', { presence: { enabled: false } })));
    await assertServed('messages of SQL', async () => {
      await sql(`select realtime.send(jsonb_build_object('a', repeat('"', 120000)), 'x', 'sent', false)
        from generate_series(1, 100)`);
      await settled();
    });
    await assertServed('notifications of SQL', async () => {
      await sql(
        `select pg_notify('plinth_realtime', n || repeat(',x', 3900)) from generate_series(1, 20000) n`,
      );
      await settled();
    });
  }, 300_000);

  it('serves /health/live during a first join after many messages of SQL', async () => {
    await sql(`select realtime.send(jsonb_build_object('a', repeat('"', 120000)), 'x', 'before', false)
      from generate_series(1, 100)`);
    await assertServed('a first join', async () => {
      const [socket] = await open(1);
      if (!socket) return;
      await join(socket, 'before');
      socket.terminate();
      await settled();
    });
  }, 300_000);

  it('serves /health/live during changes for thousands of listeners', async () => {
    await sql(
      'create table live (id serial primary key, text text); grant select on live to anon; alter table live disable row level security',
    );
    const path = `/admin/v1/projects/${project.id}/live-tables`;
    const live = await admin.patch(path, { schema: 'public', table: 'live', live: true });
    expect(live.status).toBe(200);
    const listener = { event: '*', schema: 'public', table: 'live', select: ['id'] };
    const config = {
      presence: { enabled: false },
      postgres_changes: Array.from({ length: 100 }, () => listener),
    };
    const members = await open(20);
    await Promise.all(members.map((socket) => join(socket, 'changes', config)));
    let told = 0;
    for (const socket of members)
      socket.on('message', (data: Buffer) => {
        if (data.includes('"postgres_changes",{"ids"')) told += 1;
      });
    await assertServed('long rows', async () => {
      await sql(`insert into live (text) values (repeat('"', 200000))`);
      await until(() => told >= members.length);
      told = 0;
    });
    await assertServed('many rows', async () => {
      await sql(`insert into live (text) select 'x' from generate_series(1, 400)`);
      await until(() => told >= 400 * members.length);
      told = 0;
    });
  }, 300_000);

  it('serves /health/live during a stream of long rows', async () => {
    await sql(`create table lines (id int primary key, text json); grant select on lines to service_role;
      insert into lines select n, ('[' || repeat(E'\\n1,', 2000000) || '1]')::json from generate_series(1, 2) n`);
    const path = `/admin/v1/projects/${project.id}/live-tables`;
    await admin.patch(path, { schema: 'public', table: 'lines', live: true });
    await assertServed('a stream of rows', async () => {
      const headers = { ...asService(), accept: 'text/event-stream' };
      const stream = await fetch(`${plinth.baseUrl}/rest/v1/lines`, {
        headers,
        signal: AbortSignal.timeout(20_000),
      });
      const reader = stream.body?.getReader();
      for (let bytes = 0; bytes < 8_000_000;) bytes += (await reader?.read())?.value?.length ?? Infinity;
      await reader?.cancel();
    });
  }, 300_000);

  it('serves /health/live during long addresses on the way to a provider and back', async () => {
    await assertServed('ways to a provider', async () => {
      for (const piece of ['a', '%41', 'a=b&', '%2B', 'https://', '*.', '-_'])
        for (const name of ['state', 'redirect_to', 'scopes', 'provider', 'code_challenge'])
          for (const way of ['authorize', 'callback', 'verify'])
            await admin.get(
              `/p/${project.slug}/auth/v1/${way}?${name}=${piece.repeat(15_000 / piece.length)}`,
              { headers: { authorization: '' } },
            );
    });
  }, 300_000);
});

it('serves /health/live during an export of the audit log', async () => {
  const data = join(directory, 'data');
  const port = Number(readFileSync(join(data, 'postgres/postmaster.pid'), 'utf8').split('\n')[3]);
  const password = readFileSync(join(data, 'postgres.password'), 'utf8').trim();
  const access = { host: '127.0.0.1', port, user: 'postgres', password, database: 'plinth' };
  await withConnection(access, (client) =>
    client.query(`insert into audit_log (actor, action, details)
      select repeat('"', 1000), 'soak', jsonb_build_object('text', repeat('"', 4000)) from generate_series(1, 5000)`),
  );
  for (const format of ['jsonl', 'csv'])
    await assertServed(`an export as ${format}`, () =>
      admin.get(`/admin/v1/audit-log/export?format=${format}`),
    );
}, 300_000);

const LOOP = '{% for i in (1..1000) %}';
/** Bodies of a mail template: loops, strings that grow, filters of quadratic cost, and no end. */
const TEMPLATES: readonly string[] = [
  `${LOOP.repeat(20)}x${'{% endfor %}'.repeat(20)}`,
  `{% assign a = "x" %}${'{% assign a = a | append: a %}'.repeat(60)}{{ a }}`,
  `${LOOP}{{ "${'a'.repeat(50_000)}" | split: "" | sort | join | upcase | url_encode }}{% endfor %}`,
  `${'{% if a %}'.repeat(9_000)}`,
  '{{'.repeat(50_000),
  `{{ a${' | append: "b"'.repeat(7_000)} }}`,
];
it('serves /health/live during hostile mail templates', async () => {
  const templates = TEMPLATES.map((text) => ({ text, html: text }));
  await assertServed('a preview', async () => {
    const path = `/v1/auth/${project.id}/admin/mail-preview`;
    for (const parts of templates)
      await admin.post(path, { kind: 'reset', ...parts }, { headers: asService('application/json') });
  });
  await assertServed('the setting', async () => {
    for (const parts of templates)
      await admin.patch(`/admin/v1/projects/${project.id}`, {
        settings: { mail_templates: { reset: parts } },
      });
  });
}, 300_000);

it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
  'serves /health/live during the worst bodies of %s',
  (name, operation) => assertServed(name, () => sendBodies(operation)),
  300_000,
);
