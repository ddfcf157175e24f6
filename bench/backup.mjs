// Backup and restore of a project with one large table, in turns with what bounds them: COPY of the same rows by a bare client
// to and from a file, with an fsync, and a copy of the files. Compare the ratios, because absolute figures depend on the machine. CPU
// time is that of Plinth without PostgreSQL. It needs five times the size on the disk of the temporary directory.
//   npm run bench -- backup [--mib=1024] [--files=0] [--rounds=2] [--compression=gzip|zstd|none]
//   npm run bench -- backup --mib=5120 --files=5120 --rounds=1    # 10 GB
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { cpuSeconds, peakMemoryMiB, resetPeakMemory } from './lib/cpu.mjs';
import { call, startPlinth } from './lib/plinth.mjs';

const { values: given } = parseArgs({
  args: process.argv.slice(3),
  options: {
    mib: { type: 'string', default: '1024' },
    files: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '2' },
    compression: { type: 'string', default: 'gzip' },
  },
});
const ROWS_PER_MIB = 2_100;
const PASSPHRASE = { 'backup-passphrase': 'a-passphrase-for-the-benchmark' };
/** Minimum rate relative to COPY and the disk, and MiB of memory that may be added. */
const GOAL = { ratio: 0.6, memory: 200 };

const MIB = 1024 ** 2;
const FILE_MIB = 8;

const [rowMiB, fileMiB] = [Number(given.mib), Number(given.files)];
const { bavail, bsize } = statfsSync(tmpdir());
if ((bavail * bsize) / MIB < 5 * (rowMiB + fileMiB) + 1024)
  throw new Error(`${tmpdir()} has too little space: TMPDIR names another directory`);
const directory = mkdtempSync(path.join(tmpdir(), 'plinth-bench-backup-'));
const plinth = await startPlinth();
try {
  const project = await plinth.admin('POST', '/admin/v1/projects', { name: 'Large', plan: 'enterprise' });
  const access = await plinth.admin('GET', `/admin/v1/projects/${project.id}/database`);
  await withClient(access, (client) => fill(client, rowMiB));
  await addFiles(project);
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
  const out = await seconds(async () => {
    await withClient(access, (client) => copyOut(client, rows));
    await copyFiles(project);
  });
  const bytes = statSync(rows).size + fileMiB * MIB;
  const backup = await withMemory(() => backUp(project.id, archive));
  report(`round ${round}: backup `, bytes, out, backup);
  const into = await seconds(async () => {
    await withClient(access, (client) => copyIn(client, rows));
    await copyFiles(project);
  });
  const restored = await withMemory(async () => {
    const copy = await restore(archive, `large-${round}`);
    return () => plinth.admin('DELETE', `/admin/v1/projects/${copy.id}`);
  });
  report(`round ${round}: restore`, bytes, into, restored);
  await restored.result();
  rmSync(archive);
}

function report(name, bytes, bound, { time, memory, cpu }) {
  const mib = bytes / 1024 ** 2;
  const ratio = bound / time;
  const verdict = ratio >= GOAL.ratio && memory <= GOAL.memory ? 'ok' : 'BELOW THE GOAL';
  console.log(
    `${name}  ${(mib / time).toFixed(0)} MiB/s, COPY and disk ${(mib / bound).toFixed(0)} MiB/s, ` +
      `ratio ${ratio.toFixed(2)}, CPU ${((1000 * cpu) / mib).toFixed(1)} ms/MiB, +${memory.toFixed(0)} MiB  ${verdict}`,
  );
}

async function addFiles(project) {
  const headers = { apikey: project.service_role_key, authorization: `Bearer ${project.service_role_key}` };
  const storage = `${plinth.baseUrl}/p/${project.slug}/storage`;
  await call(`${storage}/buckets`, 'POST', headers, { name: 'files' });
  for (let left = fileMiB; left > 0; left -= FILE_MIB) {
    const body = new FormData();
    body.append('file', new Blob([randomBytes(Math.min(left, FILE_MIB) * MIB)]), `${left}.bin`);
    const { status } = await fetch(`${storage}/buckets/files/upload`, { method: 'POST', headers, body });
    if (status !== 201) throw new Error(`an upload answered ${status}`);
  }
}

/** Each of the project's files to another one, with an fsync. */
async function copyFiles(project) {
  const folder = path.join(plinth.filesDir, project.id);
  const entries = fileMiB > 0 ? await readdir(folder, { recursive: true, withFileTypes: true }) : [];
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
    const copy = path.join(directory, name);
    await pipeline(createReadStream(path.join(parentPath, name)), createWriteStream(copy));
    await sync(copy);
    rmSync(copy);
  }
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
  const cpuBefore = cpuSeconds(plinth.pid, plinth.postgresPid);
  let result;
  const time = await seconds(async () => (result = await work()));
  return {
    time,
    memory: peakMemoryMiB(plinth.pid) - before,
    cpu: cpuSeconds(plinth.pid, plinth.postgresPid) - cpuBefore,
    result,
  };
}
