/**
 * Memory does not grow with the number of announced and withheld bodies, because all bodies share a budget
 * (MemoryBudget). Linux only: the memory of a process is read from /proc.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { IN_SOAK } from '../support/extent';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { headOf, type RawClient, rawClient } from '../support/slow-clients';
import { ROOT } from './support/processes';

const MIB = 1024 * 1024;
const MANY = 150;
/** Connections with bodies in single bytes, which the server reads slowly. */
const FEW = 60;
const SINGLE_BYTES = 20_000;
/** Size of a body in bytes, almost all of which are sent. */
const BODY = 5 * MIB;
const BUDGET = 64 * MIB;
/** Collects garbage often, because garbage is not tested here. */
const NODE_OPTIONS = `--max-semi-space-size=16 --require ${join(__dirname, 'support/collect-often.cjs')}`;
const TABLE = 'create table t (a text); create policy p on t for all using (true) with check (true)';

let directory: string;
let plinth: PlinthProcess;
let headers: Record<string, string>;
let slug: string;
let other: HttpClient;
/** Memory of the process in bytes before the first withheld body. */
let idle: number;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-bodies-'));
  const env = { MAX_BODY_SIZE: String(BODY), NODE_OPTIONS };
  plinth = await PlinthProcess.start({ dataDir: directory, env, tuning: { bufferedBodies: BUDGET } });
  const [first, second] = [await project(), await project()];
  slug = first.slug;
  headers = { apikey: first.anon_key, Authorization: `Bearer ${first.service_role_key}` };
  await new HttpClient(plinth.baseUrl, headers).post(`/p/${slug}/storage/buckets`, { name: 'box' });
  other = new HttpClient(plinth.baseUrl, {
    apikey: second.anon_key,
    authorization: `Bearer ${second.anon_key}`,
  });
  // Warm-up: code loaded for the first bodies is not measured.
  for (let n = 0; n < 20; n += 1) await other.post('/rest/v1/t', { a: 'x'.repeat(BODY / 8) });
  await settled();
  idle = memory('VmRSS');
}, 120_000);

afterAll(async () => {
  await plinth?.end('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
});

async function project(): Promise<Record<'id' | 'slug' | 'anon_key' | 'service_role_key', string>> {
  const { body } = await plinth.admin.post('/admin/v1/projects', {
    name: 'Bodies',
    slug: null,
    plan: 'enterprise',
  });
  await plinth.admin.post(`/admin/v1/projects/${body.id}/sql`, { query: TABLE });
  return body;
}

/** Memory of the process in bytes: current or peak. */
function memory(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${plinth.child.pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024;
}

/** @returns the peak memory of the process while `work` ran, minus its idle memory, in bytes */
async function addedBy(work: () => Promise<void>): Promise<number> {
  await settled();
  writeFileSync(`/proc/${plinth.child.pid}/clear_refs`, '5');
  await work();
  return memory('VmHWM') - idle;
}

/**
 * The state and unread bytes of each connection of the server; for the listening socket, the connections not accepted.
 */
function unread(): string {
  const port = Number(new URL(plinth.baseUrl).port).toString(16).toUpperCase().padStart(4, '0');
  const fields = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return fields
    .filter(([, local]) => local?.endsWith(`:${port}`))
    .map(([, , remote, state, queues]) => `${remote} ${state} ${queues}`)
    .sort()
    .join('\n');
}

/**
 * Resolves when the server reads no more. In each turn of its event loop it reads from every connection that it has not
 * paused, and a response to another request takes some turns.
 */
async function settled(): Promise<void> {
  let [last, same] = ['', 0];
  while (same < 3) {
    expect((await other.get('/rest/v1/t?limit=1')).status).toBe(200);
    const now = unread();
    same = now === last ? same + 1 : 0;
    last = now;
  }
}

interface Way {
  readonly way: string;
  readonly connections: number;
  readonly line: () => string;
  readonly framing: Record<string, string | number>;
  readonly bytes: () => Buffer;
}

const singleBytes = (): Buffer => Buffer.from('1\r\nx\r\n'.repeat(SINGLE_BYTES));
const BEGIN = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';

const WAYS: Way[] = [
  {
    way: 'in single bytes',
    connections: FEW,
    line: () => 'POST /rest/v1/t',
    framing: { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
    bytes: singleBytes,
  },
  {
    way: 'as uploads in single bytes',
    connections: FEW,
    line: () => `POST /p/${slug}/storage/buckets/box/upload`,
    framing: { 'Content-Type': 'multipart/form-data; boundary=x', 'Transfer-Encoding': 'chunked' },
    bytes: () => Buffer.concat([Buffer.from(`${BEGIN.length.toString(16)}\r\n${BEGIN}\r\n`), singleBytes()]),
  },
  {
    way: 'in one piece',
    connections: MANY,
    line: () => 'POST /rest/v1/t',
    framing: { 'Content-Type': 'application/json', 'Content-Length': BODY },
    bytes: () => Buffer.alloc(BODY - 1, 'x'),
  },
];

(process.platform === 'linux' ? it : it.skip).each(WAYS)(
  '$connections withheld bodies, sent $way, stay within their budget, and other requests are served',
  async ({ way, connections, line, framing, bytes }) => {
    const head = headOf(line(), { ...headers, ...framing });
    const body = bytes();
    const clients: RawClient[] = [];
    const withhold = async (): Promise<void> => {
      for (let n = 0; n < connections; n += 1) clients.push(rawClient(plinth.baseUrl, head));
      for (const { socket } of clients) socket.write(body);
      await settled();
      expect((await other.post('/rest/v1/t', { a: 'x'.repeat(MIB / 2) })).status).toBe(201);
    };
    try {
      const added = await addedBy(withhold);
      if (process.env.PLINTH_SHOW_MEMORY) process.stdout.write(`${way}: ${added / MIB} MiB more\n`);
      expect(added).toBeLessThan(BUDGET);
    } finally {
      for (const { socket } of clients) socket.destroy();
    }
  },
);

const GROUPS = '/sys/fs/cgroup/memory';
const canLimit = existsSync(`${GROUPS}/memory.limit_in_bytes`) && process.getuid?.() === 0;

(canLimit ? it : it.skip)(
  'budgets are fractions of the limit of a control group (needs version 1 and root)',
  () => {
    const group = join(GROUPS, `plinth-budget-${process.pid}`);
    mkdirSync(group);
    try {
      writeFileSync(join(group, 'memory.limit_in_bytes'), '512M');
      const budget = join(ROOT, 'dist/src/config/connection-budget.js');
      const program = `process.stdout.write(String(require('${budget}').memoryBudget(384 * ${MIB}, 4, 1)))`;
      const inGroup = `echo $$ > ${group}/cgroup.procs; exec '${process.execPath}' -e "${program}"`;
      expect(execFileSync('sh', ['-c', inGroup], { encoding: 'utf8' })).toBe(String(128 * MIB));
    } finally {
      rmdirSync(group);
    }
  },
);

(canLimit && IN_SOAK ? it : it.skip)(
  'bodies of 3 projects at once do not end an install in 512 MiB (needs control groups of version 1, and root)',
  async () => {
    const group = join(GROUPS, `plinth-bodies-${process.pid}`);
    const dataDir = mkdtempSync(join(tmpdir(), 'plinth-group-'));
    mkdirSync(group);
    writeFileSync(join(group, 'memory.limit_in_bytes'), '512M');
    const launcher = ['sh', '-c', `echo $$ > ${group}/cgroup.procs; exec "$@"`, 'sh'];
    const small = await PlinthProcess.start({ dataDir, on: { address: '127.0.0.1', launcher } });
    try {
      const clients: HttpClient[] = [];
      for (const name of ['One', 'Two', 'Three']) {
        const { body } = await small.admin.post('/admin/v1/projects', { name, plan: 'enterprise' });
        await small.admin.post(`/admin/v1/projects/${body.id}/sql`, { query: TABLE });
        const key = body.service_role_key;
        clients.push(new HttpClient(small.baseUrl, { apikey: key, authorization: `Bearer ${key}` }));
      }
      // The second size is sent three times as often: it fits many times into a budget that a large body fills.
      for (const [bytes, count] of [
        [8_000_000, 8],
        [8_000_000, 8],
        [2_000_000, 24],
      ] as const) {
        const sent = clients.flatMap((client) =>
          Array.from({ length: count }, () =>
            client.post('/rest/v1/t?select=a&limit=0', { a: 'x'.repeat(bytes) }),
          ),
        );
        const statuses = (await Promise.all(sent)).map(({ status }) => status);
        if (process.env.PLINTH_SHOW_MEMORY)
          process.stdout.write(
            `${bytes}: ${statuses.filter((status) => status === 201).length} of ${statuses.length}\n`,
          );
        expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
        expect(statuses).toContain(201);
      }
      for (const client of clients)
        expect((await client.get('/rest/v1/t?select=a&limit=0')).status).toBe(200);
      expect(small.child.exitCode ?? small.child.signalCode).toBeNull();
      expect(readFileSync(join(group, 'memory.oom_control'), 'utf8')).toMatch(/^oom_kill 0$/m);
      const peak = Number(readFileSync(join(group, 'memory.max_usage_in_bytes'), 'utf8')) / MIB;
      if (process.env.PLINTH_SHOW_MEMORY) process.stdout.write(`three projects: ${peak} MiB at most\n`);
    } finally {
      await small.end('SIGKILL');
      await eventually(async () => rmdirSync(group));
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
  600_000,
);
