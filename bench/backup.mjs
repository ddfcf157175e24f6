// Backup and restore of a project with one large table, in turns with what bounds them: COPY of the same rows by a bare client
// to and from a file, with an fsync. Compare the ratios, because absolute figures depend on the machine.
//   npm run bench -- backup [--mib=1024] [--rounds=2] [--compression=gzip|zstd|none]
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { peakMemoryMiB, resetPeakMemory } from './lib/cpu.mjs';
import { startPlinth } from './lib/plinth.mjs';

const { values: given } = parseArgs({
  args: process.argv.slice(3),
  options: {
    mib: { type: 'string', default: '1024' },
    rounds: { type: 'string', default: '2' },
    compression: { type: 'string', default: 'gzip' },
  },
});
const ROWS_PER_MIB = 2_100;
const PASSPHRASE = { 'backup-passphrase': 'a-passphrase-for-the-benchmark' };
/** Minimum rate relative to COPY and the disk, and MiB of memory that may be added. */
const GOAL = { ratio: 0.6, memory: 200 };

const directory = mkdtempSync(path.join(tmpdir(), 'plinth-bench-backup-'));
const plinth = await startPlinth();
try {
  const project = await plinth.admin('POST', '/admin/v1/projects', { name: 'Large', plan: 'enterprise' });
  const access = await plinth.admin('GET', `/admin/v1/projects/${project.id}/database`);
  await withClient(access, (client) => fill(client, Number(given.mib)));
  for (let round = 1; round <= Number(given.rounds); round += 1) await measure(project, access, round);
} finally {
  await plinth.stop();
  rmSync(directory, { recursive: true, force: true });
}

async function fill(client, mib) {
  await client.query('create table large (id bigint, at timestamptz, name text, note text, amount numeric)');
  // About 490 bytes a row: half of it compresses well, as text does.
  await client.query(
    `insert into large select n, now() + n * interval '1 second', md5(n::text),
       repeat('some words of a note ', 12) || md5((n * 7)::text) || md5((n * 13)::text) || md5((n * 17)::text), n * 1.25
     from generate_series(1, $1::bigint) n`,
    [mib * ROWS_PER_MIB],
  );
  await client.query('checkpoint').catch(() => undefined);
}

async function measure(project, access, round) {
  const [rows, archive] = [path.join(directory, 'rows.copy'), path.join(directory, 'archive.tar.gz')];
  const out = await seconds(() => withClient(access, (client) => copyOut(client, rows)));
  const backup = await withMemory(() => backUp(project.id, archive));
  report(`round ${round}: backup `, statSync(rows).size, out, backup);
  const into = await seconds(() => withClient(access, (client) => copyIn(client, rows)));
  const restored = await withMemory(async () => {
    const copy = await restore(archive, `large-${round}`);
    return () => plinth.admin('DELETE', `/admin/v1/projects/${copy.id}`);
  });
  report(`round ${round}: restore`, statSync(rows).size, into, restored);
  await restored.result();
  rmSync(archive);
}

function report(name, bytes, bound, { time, memory }) {
  const mib = bytes / 1024 ** 2;
  const ratio = bound / time;
  const verdict = ratio >= GOAL.ratio && memory <= GOAL.memory ? 'ok' : 'BELOW THE GOAL';
  console.log(
    `${name}  ${(mib / time).toFixed(0)} MiB/s, COPY and disk ${(mib / bound).toFixed(0)} MiB/s, ` +
      `ratio ${ratio.toFixed(2)}, +${memory.toFixed(0)} MiB  ${verdict}`,
  );
}

async function copyOut(client, file) {
  await pipeline(client.query(copyTo('copy large to stdout')), createWriteStream(file));
  await sync(file);
}

async function copyIn(client, file) {
  await client.query('create table copied (like large)');
  await pipeline(createReadStream(file), client.query(copyFrom('copy copied from stdin')));
  await client.query('drop table copied');
}

async function backUp(id, file) {
  const response = await send('GET', `/admin/v1/projects/${id}/backup?compression=${given.compression}`);
  await pipeline(response, createWriteStream(file));
  await sync(file);
}

async function restore(file, slug) {
  const response = await send('POST', `/admin/v1/restore?slug=${slug}`, file);
  return JSON.parse(await text(response));
}

function send(method, url, file) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer benchmark-platform-admin-key', ...PASSPHRASE };
    const request = http.request(plinth.baseUrl + url, { method, headers }, (response) => {
      if (response.statusCode < 300) resolve(response);
      else text(response).then((body) => reject(new Error(`${method} ${url}: ${body}`)), reject);
    });
    request.on('error', reject);
    if (file) createReadStream(file).pipe(request);
    else request.end();
  });
}

async function sync(file) {
  const handle = await open(file, 'r+');
  await handle.sync();
  await handle.close();
}

async function withClient(access, work) {
  const client = new pg.Client({ connectionString: access.owner_url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function seconds(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

async function withMemory(work) {
  resetPeakMemory(plinth.pid);
  const before = peakMemoryMiB(plinth.pid);
  let result;
  const time = await seconds(async () => (result = await work()));
  return { time, memory: peakMemoryMiB(plinth.pid) - before, result };
}
