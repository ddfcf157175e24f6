// Load on an HTTP server: `wrk` where it is on PATH, which costs least, autocannon elsewhere; uploads by sockets of our own.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';

const WRK_SCRIPT = fileURLToPath(new URL('./wrk.lua', import.meta.url));
/** Bytes written at once by an uploading client. */
const WRITE_SIZE = 1024 * 1024;

export const hasWrk = spawnSync('wrk', ['-v']).error === undefined;

/**
 * Asks for paths in turn.
 * @param {{ url: string, paths: string[], method?: string, headers?: object, body?: string }} target
 * @returns {Promise<{ rate: number, bytesPerSecond: number, p50: number, p99: number, failed: number }>} milliseconds
 */
export function request(target, { connections, seconds }) {
  return hasWrk ? wrk(target, connections, seconds) : cannon(target, connections, seconds);
}

async function wrk({ url, paths, method = 'GET', headers = {}, body }, connections, seconds) {
  const directory = mkdtempSync(path.join(tmpdir(), 'plinth-wrk-'));
  try {
    const list = path.join(directory, 'paths');
    writeFileSync(list, paths.join('\n'));
    const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const options = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '60s'];
    const child = spawn('wrk', [...options, ...given, '-s', WRK_SCRIPT, url], {
      env: {
        ...process.env,
        BENCH_PATHS: list,
        BENCH_METHOD: method,
        ...(body === undefined ? {} : { BENCH_BODY: body }),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let printed = '';
    child.stderr.on('data', (chunk) => (printed += chunk));
    await new Promise((resolve) => child.once('close', resolve));
    const outcome = /^\{.*\}$/m.exec(printed);
    if (!outcome) throw new Error(`wrk printed no result: ${printed}`);
    const { requests, bytes, microseconds, p50, p99, failed } = JSON.parse(outcome[0]);
    const took = microseconds / 1e6;
    return {
      requests,
      rate: requests / took,
      bytesPerSecond: bytes / took,
      p50: p50 / 1e3,
      p99: p99 / 1e3,
      failed,
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function cannon({ url, paths, method = 'GET', headers, body }, connections, seconds) {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: paths.map((one) => ({ method, path: one, headers, body })),
  });
  return {
    requests: result.requests.total,
    rate: result.requests.average,
    bytesPerSecond: result.throughput.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

/**
 * Sends bodies over kept-alive connections, one after the other on each, until the time or the number is up.
 * @param {{ url: string, method: string, head: (n: number) => { path: string, headers: object }, parts: Buffer[] }} target
 *   `parts` together are the body
 */
export async function upload({ url, method, head, parts }, { connections, seconds, atMost = Infinity }) {
  const { hostname, port, host } = new URL(url);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const pieces = parts.flatMap((part) => slices(part, WRITE_SIZE));
  const small = length <= WRITE_SIZE ? Buffer.concat(parts) : null;
  const latencies = [];
  let [sent, failed] = [0, 0];
  const begin = performance.now();
  const client = async () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const answers = statusesOf(socket);
    while (performance.now() - begin < seconds * 1000 && sent < atMost) {
      sent += 1;
      const { path: target, headers } = head(sent);
      const lines = Object.entries({ host, 'content-length': length, ...headers });
      const text = `${method} ${target} HTTP/1.1\r\n${lines.map(([key, value]) => `${key}: ${value}\r\n`).join('')}\r\n`;
      const start = performance.now();
      const answered = answers.next();
      if (small) socket.write(Buffer.concat([Buffer.from(text), small]));
      else {
        socket.write(text);
        for (const piece of pieces) {
          if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
        }
      }
      const status = await answered;
      latencies.push(performance.now() - start);
      if (status < 200 || status > 299) failed += 1;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, client));
  const took = (performance.now() - begin) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(share * (latencies.length - 1))];
  const rate = latencies.length / took;
  return {
    requests: latencies.length,
    rate,
    bytesPerSecond: rate * length,
    p50: at(0.5),
    p99: at(0.99),
    failed,
  };
}

/** Status codes of the answers that arrive on a socket; bodies have a Content-Length. */
function statusesOf(socket) {
  let buffered = Buffer.alloc(0);
  let waiting;
  const settle = () => {
    const end = buffered.indexOf('\r\n\r\n');
    if (!waiting || end < 0) return;
    const head = buffered.toString('latin1', 0, end);
    const whole = end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (buffered.length < whole) return;
    buffered = buffered.subarray(whole);
    waiting.resolve(Number(head.slice(9, 12)));
    waiting = undefined;
  };
  const broken = () => waiting?.reject(new Error('the server closed the connection during an upload'));
  socket.on('data', (chunk) => {
    buffered = Buffer.concat([buffered, chunk]);
    settle();
  });
  socket.on('error', broken);
  socket.on('close', broken);
  return {
    next: () => new Promise((resolve, reject) => ((waiting = { resolve, reject }), settle())),
  };
}

function slices(buffer, size) {
  const count = Math.ceil(buffer.length / size);
  return Array.from({ length: count }, (_, n) => buffer.subarray(n * size, (n + 1) * size));
}
