// Downloads, uploads, signed URLs and lists of storage. Compares Plinth in turns with a bare node:http server, with a minimal
// server that keeps a row per file (`rows`) and, for downloads, with nginx if it is installed. Compare the ratios, because absolute
// figures depend on the machine.
//   npm run bench -- storage [--quick] [--only=download,list] [--seconds=5] [--rounds=3] [--connections=16] [--cpu-prof=DIR]
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { cpuSeconds, peakMemoryMiB, resetPeakMemory } from './lib/cpu.mjs';
import { httpLoad, loadProgram } from './lib/http-load.mjs';
import { startNginx } from './lib/nginx.mjs';
import { startPlinth } from './lib/plinth.mjs';
import { SIZES, seed } from './lib/storage-fixtures.mjs';
import { upload } from './lib/upload-load.mjs';

const { values: given } = parseArgs({
  args: process.argv.slice(3),
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    connections: { type: 'string', default: '16' },
    'cpu-prof': { type: 'string' },
  },
});
const SECONDS = Number(given.seconds ?? (given.quick ? 2 : 5));
const ROUNDS = Number(given.rounds ?? (given.quick ? 1 : 3));
const CONNECTIONS = Number(given.connections);
/** Maximum length of a run in which few requests end. */
const MAX_SECONDS = 60;
/** Maximum bytes that one run of an upload writes, so that the disk does not fill up. */
const MAX_UPLOADED = 4 * 1024 ** 3;
const BARE_SERVER = fileURLToPath(new URL('./lib/bare-files.mjs', import.meta.url));

/**
 * Each line has a name, the unit of the rate, and a function per contestant that runs it for some seconds. A contestant without
 * the operation has no function. `goal`: minimum rate of Plinth, relative to that contestant's.
 */
function linesOf({ plinth, bare, nginx, accel, rows }) {
  const downloads = Object.entries(SIZES).flatMap(([size, { label, unit }]) => {
    const yardsticks = {
      bare: get(bare.url, bare.paths[size]),
      ...(nginx && { nginx: get(nginx.url, bare.paths[size]) }),
    };
    return ['bearer', 'signed', 'preview'].map((how) => ({
      name: `download ${label} ${how}`,
      unit,
      goal: { bare: size === 'small' ? 0.5 : 0.9 },
      run: {
        plinth: get(plinth.url, plinth.paths[how][size], how === 'bearer' ? plinth.headers : {}),
        ...yardsticks,
      },
    }));
  });
  const behindNginx = accel
    ? ['medium', 'large'].map((size) => ({
        name: `download ${SIZES[size].label} X-Accel-Redirect`,
        unit: SIZES[size].unit,
        goal: { nginx: 0.8 },
        run: {
          accel: get(accel.url, accel.paths.bearer[size], accel.headers),
          nginx: get(nginx.url, bare.paths[size]),
          rows: get(
            accel.url,
            bare.paths[size].map((file) => `/rows${file}`),
          ),
        },
      }))
    : [];
  const range = { range: 'bytes=5000000-5000099' };
  const one = (name, paths, more) => ({
    name,
    unit: 'requests',
    run: { plinth: ask({ url: plinth.url, headers: plinth.headers, ...more }, paths) },
  });
  const uploads = Object.entries(SIZES).map(([size, { label, unit, bytes }]) => ({
    name: `upload ${label}`,
    unit,
    goal: { bare: size === 'small' ? 0.6 : 0.9 },
    run: {
      plinth: (seconds) =>
        plinth.upload(bytes, (target) => upload(target, uploadLoad(bytes.length, seconds))),
      bare: (seconds) => bare.upload(bytes, (target) => upload(target, uploadLoad(bytes.length, seconds))),
      rows: (seconds) => rows.upload(bytes, (target) => upload(target, uploadLoad(bytes.length, seconds))),
    },
  }));
  const { bytes: large } = SIZES.large;
  const { bytes: small } = SIZES.small;
  const sending = (how, bytes, connections) => (seconds) =>
    how(bytes, (target) => upload(target, { ...uploadLoad(bytes.length, seconds), connections }));
  const compared = [
    {
      name: 'upload 4 KB, ten projects',
      unit: 'requests',
      goal: { plinth: 1 },
      run: {
        ten: sending(plinth.uploadToTen, small, CONNECTIONS),
        plinth: sending(plinth.upload, small, CONNECTIONS),
      },
    },
    {
      name: 'resumable 100 MB in 6 MB',
      unit: 'MB',
      goal: { plinth: 0.91 },
      run: {
        chunks: sending(plinth.uploadInChunks, large, 1),
        plinth: sending(plinth.upload, large, 1),
      },
    },
  ];
  return [
    ...downloads,
    ...behindNginx,
    {
      name: 'range of 100 bytes in 100 MB',
      unit: 'requests',
      run: { plinth: get(plinth.url, plinth.paths.bearer.large, { ...plinth.headers, ...range }) },
    },
    one('sign', plinth.paths.sign, {
      method: 'POST',
      headers: { ...plinth.headers, 'content-type': 'application/json' },
      body: '{"expiry":"1h"}',
    }),
    one('list 100 of 10,000, first page', [plinth.list('limit=100')]),
    one('list 50 of 10,000, page 1', [plinth.list('limit=50')]),
    one('list 50 of 10,000, page 200, offset', [plinth.list('limit=50&offset=9950')]),
    one('list 50 of 10,000, page 200, cursor', [plinth.list(`limit=50&cursor=${plinth.lastCursor}`)]),
    ...uploads,
    ...compared,
  ];
}

const ask =
  ({ body, ...target }, paths) =>
  (seconds) =>
    httpLoad(
      { ...target, requests: paths.map((one) => ({ path: one, body })) },
      { connections: CONNECTIONS, seconds },
    );
const uploadLoad = (size, seconds) => ({
  connections: CONNECTIONS,
  seconds,
  atMost: Math.max(CONNECTIONS, Math.floor(MAX_UPLOADED / size)),
});
const get = (url, paths, headers = {}) => ask({ url, headers }, paths);

async function main() {
  const directory = mkdtempSync(path.join(tmpdir(), 'plinth-bench-files-'));
  const stops = [() => rmSync(directory, { recursive: true, force: true })];
  try {
    const profiler = given['cpu-prof'] ? ['--cpu-prof', `--cpu-prof-dir=${given['cpu-prof']}`] : [];
    const server = await startPlinth({ MAX_FILE_SIZE: '1gb' }, profiler);
    stops.unshift(() => server.stop());
    const bareDirectory = path.join(directory, 'bare');
    mkdirSync(bareDirectory);
    const bareServer = await startBare(bareDirectory);
    stops.unshift(bareServer.stop);
    const nginx = await startNginx(path.join(directory, 'nginx'), `root ${bareDirectory};`);
    if (nginx) stops.unshift(nginx.stop);
    else console.log('nginx is not installed: the bare server is the only yardstick');
    console.log(`HTTP load by ${loadProgram}`);
    const fixtures = await seed(server, bareDirectory);
    const rowsServer = await startBare(bareDirectory, fixtures.databaseUrl);
    stops.unshift(rowsServer.stop);
    const plinth = {
      ...fixtures.plinth,
      url: server.baseUrl,
      pid: server.pid,
      postgresPid: server.postgresPid,
    };
    const contestants = {
      plinth,
      ten: plinth,
      chunks: plinth,
      bare: { ...fixtures.bare(bareServer.url), url: bareServer.url, pid: bareServer.pid },
      nginx,
      accel: nginx && (await startBehindNginx(directory, rowsServer, stops)),
      rows: {
        ...fixtures.bare(rowsServer.url),
        url: rowsServer.url,
        pid: rowsServer.pid,
        postgresPid: server.postgresPid,
      },
    };
    const wanted = given.only === '' ? [] : given.only.split(',');
    const lines = linesOf(contestants).filter(
      ({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)),
    );
    // Warm-up, in which V8 compiles the hot code.
    await lines[0]?.run.plinth?.(SECONDS);
    console.log(
      `${CONNECTIONS} connections, ${ROUNDS} x ${SECONDS} s each, longer where fewer requests than that end\n`,
    );
    console.log(HEADING);
    for (const line of lines) await compare(line, contestants);
  } finally {
    for (const stop of stops) await stop();
  }
}

const HEADING =
  `${'line'.padEnd(36)}${'who'.padEnd(8)}${'rate'.padStart(14)}${'p50 ms'.padStart(10)}${'p99 ms'.padStart(10)}` +
  `${'CPU s/1,000: server + database'.padStart(32)}${'peak MiB'.padStart(10)}${'first/this'.padStart(13)}`;

async function compare({ name, unit, goal = {}, run }, contestants) {
  const results = Object.keys(run).map((who) => ({ who, runs: [], seconds: SECONDS, ...contestants[who] }));
  // Opens the connections to the other projects' databases, and prepares their statements.
  await run.ten?.(SECONDS);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const result of results) result.runs.push(await runLongEnough(result, run[result.who]));
  }
  const median = (runs, of) => runs.map(of).sort((a, b) => a - b)[Math.floor(runs.length / 2)];
  const sum = (runs, of) => runs.map(of).reduce((total, one) => total + one, 0);
  const rateOf = ({ runs }) => median(runs, (one) => (unit === 'MB' ? one.bytesPerSecond / 1e6 : one.rate));
  for (const result of results) {
    const { who, runs, seconds } = result;
    const requests = sum(runs, (one) => one.requests);
    const cpu = [0, 1].map((index) => figure((sum(runs, ({ used }) => used[index]) / requests) * 1000, 3));
    const failed = sum(runs, (one) => one.failed);
    // There is no latency if no request ended.
    const latency = (of) => figure(requests > 0 ? median(runs, of) : NaN, 1).padStart(10);
    console.log(
      name.padEnd(36) +
        who.padEnd(8) +
        `${figure(rateOf(result), 0)} ${unit === 'MB' ? 'MB/s' : '/s'}`.padStart(14) +
        latency(({ p50 }) => p50) +
        latency(({ p99 }) => p99) +
        (result.postgresPid ? cpu.join(' + ') : cpu[0]).padStart(32) +
        figure(Math.max(...runs.map(({ peak }) => peak)), 0).padStart(10) +
        figure(rateOf(results[0]) / rateOf(result), 2).padStart(13) +
        (goal[who] ? ` (goal ${goal[who]})` : '') +
        (seconds > SECONDS ? `  (up to ${seconds} s)` : '') +
        (failed ? `  ${failed} FAILED` : ''),
    );
  }
}

/**
 * Requests that did not end in time are not counted. A run in which fewer requests end than there are connections is therefore
 * repeated with twice the length, which the following runs use too.
 */
async function runLongEnough(result, run) {
  const { pid, postgresPid } = result;
  const cpu = () => [cpuSeconds(pid, postgresPid), postgresPid ? cpuSeconds(postgresPid) : 0];
  for (;;) {
    resetPeakMemory(pid);
    const before = cpu();
    const outcome = await run(result.seconds);
    const used = cpu().map((after, index) => after - before[index]);
    const peak = peakMemoryMiB(pid);
    await outcome.after?.();
    const { requests, failed } = outcome;
    if (requests >= CONNECTIONS || failed > 0 || result.seconds >= MAX_SECONDS)
      return { ...outcome, used, peak };
    result.seconds *= 2;
  }
}

/** A number, or a dash after a division by zero. */
function figure(value, digits) {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

/** Plinth behind nginx, which sends the files (docs/reference/storage.md), and the minimal server behind the same nginx at /rows. */
async function startBehindNginx(directory, rows, stops) {
  const files = path.join(directory, 'accel-files');
  const server = await startPlinth({
    MAX_FILE_SIZE: '1gb',
    STORAGE_URL: `${pathToFileURL(files)}?accel_redirect=/internal-files`,
  });
  stops.unshift(() => server.stop());
  const nginx = await startNginx(
    path.join(directory, 'nginx-accel'),
    `proxy_http_version 1.1; proxy_set_header Connection "";
     location / { proxy_pass http://plinth; }
     location /internal-files/ { internal; alias ${files}/; etag off; if_modified_since off; max_ranges 20; }
     location /rows/ { proxy_pass http://rows/; }
     location /bare-files/ { internal; alias ${directory}/bare/; }`,
    `upstream plinth { server ${new URL(server.baseUrl).host}; keepalive 32; }
     upstream rows { server ${new URL(rows.url).host}; keepalive 32; }`,
  );
  stops.unshift(nginx.stop);
  const { plinth } = await seed(server, path.join(directory, 'bare'));
  return { ...plinth, url: nginx.url, pid: server.pid, postgresPid: server.postgresPid };
}

/** @param databaseUrl only for the server that keeps rows */
async function startBare(directory, ...databaseUrl) {
  const child = spawn(process.execPath, [BARE_SERVER, directory, ...databaseUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => void child.kill() };
}

await main();
