/**
 * A very large read: memory does not grow with its length, the first bytes arrive immediately, and the query stops when
 * the client disconnects. Every row is returned five times. PLINTH_LARGE_ROWS=1000000 reads five million rows; the
 * default is smaller.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { platform } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { eventually } from '../../support/eventually';
import { directory, plinth } from './install';

const ROWS = Number(process.env.PLINTH_LARGE_ROWS ?? 250_000);
const COPIES = 5;
const MIB = 1024 * 1024;

let headers: Record<string, string>;

async function createProject(): Promise<void> {
  const { body } = await plinth.admin.post('/admin/v1/projects', { name: 'Large' });
  await plinth.admin.post(`/admin/v1/projects/${body.id}/sql`, {
    query: `create table big (id int primary key, title text, price numeric, at timestamptz);
      insert into big select n, 'Item number ' || n, n / 7.0, now() from generate_series(1, ${ROWS}) n;
      create view copies as select big.*, copy from big, generate_series(1, ${COPIES}) copy`,
  });
  await plinth.admin.patch(`/admin/v1/projects/${body.id}`, { settings: { statement_timeout: 120_000 } });
  headers = { apikey: body.service_role_key, authorization: `Bearer ${body.service_role_key}` };
}

interface Read {
  readonly bytes: number;
  readonly newlines: number;
  /** Number of JSON rows. */
  readonly braces: number;
  /** Milliseconds until the first byte of the body, and until the last. */
  readonly first: number;
  readonly last: number;
}

function open(path: string, accept: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpGet(`${plinth.baseUrl}/rest/v1/${path}`, { headers: { ...headers, accept } }, resolve).on(
      'error',
      reject,
    );
  });
}

/** Reads and discards a response. */
async function read(path: string, accept: string): Promise<Read> {
  const start = performance.now();
  const response = await open(path, accept);
  expect(response.statusCode).toBe(200);
  let [bytes, newlines, braces, first] = [0, 0, 0, 0];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    first ||= performance.now() - start;
    bytes += chunk.length;
    newlines += countOf(0x0a, chunk);
    braces += countOf(0x7b, chunk);
  }
  return { bytes, newlines, braces, first, last: performance.now() - start };
}

/** Counts a byte with indexOf(), because a loop over the bytes takes ten times as long. */
function countOf(byte: number, chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(byte); at !== -1; at = chunk.indexOf(byte, at + 1)) count += 1;
  return count;
}

/** Memory of the process in bytes; `VmHWM` is the peak since the last reset. */
function memory(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${plinth.child.pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

/** Peak memory minus the memory before, in bytes. */
async function grownBy<Answer>(work: () => Promise<Answer>): Promise<{ answer: Answer; growth: number }> {
  const before = memory('VmRSS');
  writeFileSync(`/proc/${plinth.child.pid}/clear_refs`, '5');
  const answer = await work();
  return { answer, growth: memory('VmHWM') - before };
}

const FORMATS: [name: string, accept: string, rows: (read: Read) => number][] = [
  ['JSON', 'application/json', ({ braces }) => braces],
  ['CSV', 'text/csv', ({ newlines }) => newlines],
  ['lines of JSON', 'application/x-ndjson', ({ newlines }) => newlines],
];

// Memory of a process is read from /proc.
export const largeReads = (): void =>
  (platform() === 'linux' ? describe : describe.skip)('a very large read', () => {
    beforeAll(createProject, 120_000);
    it.each(FORMATS)(
      'as %s starts immediately and takes little memory',
      async (name, accept, rowsOf) => {
        // Warm-up, because the heap of a new process grows with its first requests.
        for (let round = 0; round < 3; round += 1) await read(`copies?limit=${ROWS / 10}`, accept);
        const short = await grownBy(() => read('copies?copy=eq.1', accept));
        const { answer, growth } = await grownBy(() => read('copies', accept));
        if (process.env.PLINTH_LARGE_ROWS) {
          const { bytes, first, last } = answer;
          process.stdout.write(
            `${COPIES * ROWS} rows as ${name}: ${(bytes / MIB).toFixed(0)} MiB, first byte after ${first.toFixed(0)} ms, ` +
              `last after ${last.toFixed(0)} ms, ${(growth / MIB).toFixed(1)} MiB of memory more\n`,
          );
        }
        expect([rowsOf(short.answer), rowsOf(answer)]).toEqual([ROWS, COPIES * ROWS]);
        // Both reads have the same fixed costs and heap growth.
        expect(growth - short.growth).toBeLessThan((answer.bytes - short.answer.bytes) / 2);
        expect(answer.first).toBeLessThan(answer.last / 3);
      },
      240_000,
    );

    it('is cancelled when its client disconnects', async () => {
      const response = await open('copies', 'application/json');
      await new Promise((resolve) => response.once('data', resolve));
      response.pause();
      expect(await readers()).toBe(1);
      response.destroy();
      await eventually(async () => expect(await readers()).toBe(0));
    }, 60_000);
  });

/** Backends that are reading the table, as seen by the embedded server's superuser. */
async function readers(): Promise<number> {
  const data = join(directory, 'data');
  const client = new Client({
    host: '127.0.0.1',
    port: Number(readFileSync(join(data, 'postgres/postmaster.pid'), 'utf8').split('\n')[3]),
    user: 'postgres',
    password: readFileSync(join(data, 'postgres.password'), 'utf8').trim(),
    database: 'postgres',
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where state = 'active' and query like '%"public"."copies"%' and pid <> pg_backend_pid()`,
    );
    return rows[0]?.n ?? 0;
  } finally {
    await client.end();
  }
}
