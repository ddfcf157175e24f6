/** For tests of the guides: one install, and a folder with a shell for the reader of each page. */
import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { WebSocket } from 'ws';
import { TestBrowser } from '../../support/browser';
import { freePort, PlinthProcess, PROCESS_ADMIN_KEY, withCompiledCode } from '../../support/plinth-process';
import build from './build';
import { ROOT } from './processes';

export const LIMIT_MS = 120_000;
const EXAMPLE_ADDRESS = 'http://localhost:8080';
export const PASSWORD = 'correct horse';

interface Block {
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
}

/** A page, and a folder in which its reader works. */
export class Guide {
  readonly folder: string;
  readonly blocks: readonly Block[];

  constructor(readonly name: string) {
    this.folder = mkdtempSync(join(directory, `${name}-`));
    const page = readFileSync(join(ROOT, 'docs/guides', `${name}.md`), 'utf8');
    this.blocks = [...page.matchAll(/^```(\w*) ?(\S*)\n([^]*?)^```$/gm)].map(
      ([, language = '', file = '', text = '']) => ({ language, file: file || undefined, text }),
    );
  }

  /** Writes the files that the page shows; blocks with the same name are parts of one file. @param more of other pages */
  writeFiles(folder = this.folder, more: readonly Block[] = []): void {
    const files = new Map<string, string>();
    for (const { file, text } of [...this.blocks, ...more])
      if (file !== undefined) files.set(file, (files.get(file) ?? '') + text);
    for (const [file, text] of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), this.filled(text));
    }
  }

  /** Links the packages that its programs import. */
  linkPackages(): void {
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
  }

  texts(language: string): string[] {
    return this.blocks.filter((block) => block.language === language).map(({ text }) => text);
  }

  /** Runs the block of shell commands with this text. @returns what it prints; rejects when a command fails */
  run(part: string, env: Record<string, string> = {}): Promise<string> {
    const found = this.texts('sh').filter((text) => text.includes(part));
    expect([this.name, part, found.length]).toEqual([this.name, part, 1]);
    return this.shell(found[0]!, env);
  }

  shell(commands: string, env: Record<string, string> = {}): Promise<string> {
    const { NODE_OPTIONS: preload = '', PLINTH_TEST_COMPILE_CACHE: cache = '' } = withCompiledCode();
    const node = `PLINTH_TEST_COMPILE_CACHE='${cache}' '${process.execPath}' ${preload}`;
    const cli = `plinth() { ${node} '${join(ROOT, 'dist/src/cli.js')}' "$@"; }`;
    const options = {
      cwd: this.folder,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: directory,
        PORT: new URL(plinth.baseUrl).port,
        PLATFORM_ADMIN_KEY: PROCESS_ADMIN_KEY,
        // The guides require Node.js 22 if supabase-js runs outside a browser.
        NODE_OPTIONS: 'WebSocket' in globalThis ? '' : '--experimental-websocket',
        ...env,
      },
    };
    return new Promise((resolve, reject) => {
      execFile(
        'bash',
        ['-euo', 'pipefail', '-c', `${cli}\n${this.filled(commands)}`],
        options,
        (error, out, err) => (error ? reject(new Error(`${commands}\n${out}${err}`)) : resolve(out)),
      );
    });
  }

  private filled(text: string): string {
    return text
      .replaceAll(EXAMPLE_ADDRESS, plinth.baseUrl)
      .replaceAll('ANON_KEY=...', `ANON_KEY=${keys.anon}`)
      .replaceAll('SERVICE_ROLE_KEY=...', `SERVICE_ROLE_KEY=${keys.service}`);
  }
}

let directory: string;
export let plinth: PlinthProcess;
export let metricsPort: number;
/** Keys of the project of the guide. */
export let keys = { anon: '', service: '' };

/** Registers the start and the end of an install for the tests of this file. */
export function startForGuides(): void {
  beforeAll(async () => {
    // The process tests have a build; the soak has none.
    if (process.env.PLINTH_TEST_FIRST_START === undefined) await build();
    directory = mkdtempSync(join(tmpdir(), 'plinth-guides-'));
    metricsPort = await freePort();
    plinth = await PlinthProcess.start({
      dataDir: directory,
      env: { METRICS_PORT: String(metricsPort), AUTH_ALLOWED_HOSTS: '127.0.0.1' },
    });
  }, LIMIT_MS);
  afterAll(async () => {
    await plinth.end('SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }, 60_000);
}

export async function useProject(slug: string): Promise<string> {
  const { body: projects } = await plinth.admin.get('/admin/v1/projects');
  const found = (projects as { id: string; slug: string }[]).find((project) => project.slug === slug)!;
  const { body } = await plinth.admin.get(`/admin/v1/projects/${found.id}/keys`);
  keys = { anon: body.anon_key, service: body.service_role_key };
  return found.id;
}

export async function createProject(slug: string): Promise<string> {
  expect((await plinth.admin.post('/admin/v1/projects', { name: slug, slug })).status).toBe(201);
  return useProject(slug);
}

export async function sql(project: string, query: string): Promise<void> {
  const { status, text } = await plinth.admin.post(`/admin/v1/projects/${project}/sql`, { query });
  if (status !== 200) throw new Error(`${text}\n${query}`);
}

const NO_STORE = {
  auth: { persistSession: false, autoRefreshToken: false },
  realtime: { transport: WebSocket as never },
};

export function client(slug: string, key: string): SupabaseClient {
  return createClient(`${plinth.baseUrl}/p/${slug}`, key, NO_STORE);
}

/** Throws the error of a result of supabase-js. */
export async function done<T>(
  answer: PromiseLike<{ data: T; error: null } | { data: unknown; error: object }>,
): Promise<T> {
  const { data, error } = await answer;
  if (error) throw new Error(JSON.stringify(error));
  return data;
}

/** A bcrypt hash with a cost of 4. */
export function hashOf(password: string): string {
  const script = `process.stdout.write(require('bcryptjs').hashSync('${password}', 4))`;
  return execFileSync(process.execPath, ['-e', script], { cwd: ROOT, encoding: 'utf8' });
}

/** Uses the notes app of the guides to React and Vue: sign-up, a note that stays, sign-out. @param folder with the built pages */
export async function expectNotesApp(folder: string, email: string): Promise<void> {
  const pages = await serve(folder);
  const browser = await TestBrowser.start();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
    await page.fill('[name=email]', email);
    await page.fill('[name=password]', PASSWORD);
    await page.click('text=Sign in');
    await page.waitForSelector('[role=alert]:not(:empty)');
    await page.click('text=Sign up');
    await page.fill('[name=text]', 'Water the plants');
    await page.click('text=Add');
    await page.waitForSelector('li:has-text("Water the plants")');
    await page.reload();
    await page.click('li:has-text("Water the plants") button');
    await page.waitForSelector('li', { state: 'detached' });
    await page.click('text=Sign out');
    await page.waitForSelector('[name=password]');
  } finally {
    await browser.stop();
    pages.close();
  }
}

/** The proxy at this port serves https://plinth.example.com: requests, an upload, a socket and an event stream pass through it. */
export async function expectProxied(guide: Guide, slug: string, port: number): Promise<void> {
  const host = `plinth.example.com:${port}`;
  const id = await createProject(slug);
  await sql(
    id,
    'create table passed (id int primary key); create publication supabase_realtime for table passed',
  );
  const curl = `curl -sk --resolve ${host}:127.0.0.1 https://${host}`;
  const key = `-H 'apikey: ${keys.service}' -H 'Authorization: Bearer ${keys.service}'`;
  expect(await guide.shell(`${curl}/health/ready`)).toContain('"status":"ready"');
  const bucket = `${curl}/p/${slug}/storage/buckets`;
  await guide.shell(
    `head -c 5000000 /dev/zero > large.bin; ${bucket} ${key} -H 'Content-Type: application/json' -d '{"name":"box"}'`,
  );
  expect(await guide.shell(`${bucket}/box/upload ${key} -F file=@large.bin`)).toContain('"size":5000000');

  const address = `127.0.0.1:${port}/p/${slug}`;
  const headers = { host, apikey: keys.service, authorization: `Bearer ${keys.service}` };
  const tls = { rejectUnauthorized: false, servername: 'plinth.example.com', headers };
  const query = `apikey=${keys.anon}&vsn=1.0.0`;
  const socket = new WebSocket(`wss://${address}/realtime/v1/websocket?${query}`, tls);
  await once(socket, 'open');
  socket.terminate();
  const accept = 'text/event-stream';
  const stream = request(`https://${address}/rest/v1/passed`, { ...tls, headers: { ...headers, accept } });
  const [response] = (await once(stream.end(), 'response')) as [IncomingMessage];
  const [first] = await once(response.setEncoding('utf8'), 'data');
  expect(first).toMatch(/^retry: /);
  stream.destroy();
}

export async function serve(folder: string): Promise<Server> {
  const server = createServer((request, response) => {
    const name = request.url === '/' ? 'index.html' : (request.url ?? '');
    const type = extname(name) === '.js' ? 'text/javascript' : 'text/html';
    const file = join(folder, name);
    if (existsSync(file)) response.writeHead(200, { 'content-type': type }).end(readFileSync(file));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
