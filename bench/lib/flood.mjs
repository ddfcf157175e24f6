// A worker thread that floods one project: its clients send the same kind of request again and again. It has an event loop of its
// own, so that it does not delay the clients whose latencies are measured.
import http from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** @type {{ baseUrl: string, kind: string, keys: { anon: string, service: string, admin: string }, project: { id: string, slug: string }, clients: number, pauseMs: number, everyMs?: number }} */
const { baseUrl, kind, keys, project, clients, pauseMs, everyMs } = workerData;
const { hostname, port } = new URL(baseUrl);
const agent = new http.Agent({ keepAlive: true, maxSockets: clients });
const MIB = 'x'.repeat(1024 * 1024);
const FORM = `--part\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n${MIB}\r\n--part--\r\n`;
/** Bytes that a slow reader takes, and milliseconds until the next ones. */
const SLOW_READ = { bytes: 16 * 1024, everyMs: 100 };

const statuses = {};
let isOn = true;
let serial = 0;

const asRole = (key) => ({ apikey: key, authorization: `Bearer ${key}` });
const json = (body) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
/** An address of its own for each request, so that the limits of one client do not hide the project's. */
const fromElsewhere = (n) => ({ 'x-forwarded-for': `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}` });

const REQUESTS = {
  limit: (n) => REQUESTS.rows(n),
  rows: (n) => ({ path: `/rest/v1/notes?id=eq.${1 + (n % 1000)}`, headers: asRole(keys.anon) }),
  sleep: () => ({ path: '/rest/v1/rpc/nap', headers: asRole(keys.service) }),
  cpu: () => ({ path: '/rest/v1/rpc/burn', headers: asRole(keys.service) }),
  bodies: () => post('/rest/v1/texts', { text: MIB }, { ...asRole(keys.service), prefer: 'return=minimal' }),
  'sign-ups': (n) =>
    post(
      `/v1/auth/${project.id}/signup`,
      { email: `${process.hrtime.bigint()}-${n}@example.com`, password: 'correct horse' },
      { apikey: keys.anon, ...fromElsewhere(n) },
    ),
  uploads: (n) => ({
    method: 'POST',
    path: `/p/${project.slug}/storage/buckets/flood/upload?filename=${process.hrtime.bigint()}-${n}`,
    headers: { ...asRole(keys.service), 'content-type': 'multipart/form-data; boundary=part' },
    body: FORM,
  }),
  ddl: (n) =>
    post(
      `/admin/v1/projects/${project.id}/sql`,
      { query: `create table flood_${n} (id int); drop table flood_${n}` },
      { authorization: `Bearer ${keys.admin}` },
    ),
};

function post(path, value, headers) {
  const { body, headers: type } = json(value);
  return { method: 'POST', path, body, headers: { ...headers, ...type } };
}

function send({ method = 'GET', path, headers, body }) {
  return new Promise((resolve) => {
    const request = http.request({ hostname, port, agent, method, path, headers }, (response) => {
      response.resume();
      response.once('close', () => resolve(response.statusCode));
    });
    request.once('error', () => resolve('lost'));
    request.end(body);
  });
}

/** Reads a large result slowly over a connection of its own. */
async function readSlowly(n) {
  const socket = connect({ host: hostname, port: Number(port) });
  const lines = Object.entries({ host: 'bench', ...asRole(keys.service), ...fromElsewhere(n) });
  socket.on('error', () => undefined);
  socket.write(`GET /rest/v1/large HTTP/1.1\r\n${lines.map(([k, v]) => `${k}: ${v}\r\n`).join('')}\r\n`);
  const begun = performance.now();
  while (isOn && !socket.destroyed && performance.now() - begun < 5_000) {
    socket.read(SLOW_READ.bytes);
    await sleep(SLOW_READ.everyMs);
  }
  socket.destroy();
  return 'read';
}

/** @param index of the client: those that send at a rate do not send together */
async function client(_, index) {
  let due = performance.now() + ((everyMs ?? 0) * index) / clients;
  while (isOn) {
    if (everyMs !== undefined) {
      await sleep(Math.max(0, due - performance.now()));
      due += everyMs;
    }
    const n = (serial += 1);
    const status = kind === 'slow readers' ? await readSlowly(n) : await send(REQUESTS[kind](n));
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (pauseMs > 0) await sleep(pauseMs);
  }
}

const all = Promise.all(Array.from({ length: clients }, client));
parentPort.once('message', async () => {
  isOn = false;
  await Promise.race([all, sleep(3_000)]);
  agent.destroy();
  parentPort.postMessage(statuses);
  parentPort.close();
});
