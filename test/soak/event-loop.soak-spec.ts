/**
 * While routes get their worst bodies, the event loop of the product serves /health/live. The bound of 50 ms is that of a machine
 * on which costOfParsing() takes 150 ms. Needs a build (`npm run build`).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { costOfParsing } from '../support/event-loop';
import type { HttpAnswer, HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { createLoadedProject, type LoadedProject } from '../support/steady-load';

const BOUND_MS = 50;
const REFERENCE_MS = 150;
/** Of each case; the least hold counts, because other programs and the collector of garbage interfere. */
const ROUNDS = 3;
/** Milliseconds between two requests to /health/live. */
const PROBE_MS = 5;

let directory: string;
let plinth: PlinthProcess;
let project: LoadedProject;
let admin: HttpClient;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-loop-'));
  plinth = await PlinthProcess.start({ dataDir: directory });
  admin = plinth.admin.unchecked();
  project = await createLoadedProject(admin, 'Loop');
  await sql('create table texts (a text, b text)');
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
const csv = (body: string): Promise<HttpAnswer> => {
  const key = project.service_role_key;
  const headers = { apikey: key, authorization: `Bearer ${key}`, 'content-type': 'text/csv' };
  return admin.post('/rest/v1/texts', body, {
    headers: { ...headers, prefer: 'return=minimal,tx=rollback' },
  });
};

const COLUMNS = Array.from({ length: 1_600 }, (_, index) => `n as c${index}`).join();
const WIDE = `select ${COLUMNS} from generate_series(1, 1000) n`;
const STATEMENTS = 'select 1;'.repeat(110_000);
const array = (element: string, count: number): string =>
  `select array_agg(${element}) from generate_series(1, ${count})`;

const CASES: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['SQL of 110,000 statements', () => sql(STATEMENTS)],
  ['two of them at once', () => Promise.all([sql(STATEMENTS), sql(STATEMENTS)])],
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
  ['CSV of quotes', () => csv(`a,b\n${'"","""",'.slice(0, -1)}\n`.repeat(1))],
  ['a CSV field of quotes', () => csv(`a,b\n"${'""'.repeat(4_000_000)}",\n`)],
  ['many CSV lines of quotes', () => csv(`a,b\n${'"",""""\n'.repeat(1_000_000)}`)],
];

/** Times requests to /health/live until it is told to stop. A thread, because this process reads large answers meanwhile. */
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

it.each(CASES)(
  'serves /health/live meanwhile: %s',
  async (name, work) => {
    const bound = BOUND_MS * Math.max(1, costOfParsing() / REFERENCE_MS);
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS && Math.min(...rounds, Infinity) > bound; round += 1)
      rounds.push(await slowestProbe(work));
    process.stdout.write(`${JSON.stringify({ name, slowest: Math.round(Math.min(...rounds)) })}\n`);
    expect(Math.min(...rounds)).toBeLessThanOrEqual(bound);
  },
  120_000,
);
