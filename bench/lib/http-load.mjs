// Generates load on an HTTP server with `wrk` if it is on PATH, because it uses less CPU, else with autocannon. Both keep all
// connections busy all the time.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { run } from './run.mjs';

const WRK_SCRIPT = fileURLToPath(new URL('./wrk.lua', import.meta.url));

const hasWrk = spawnSync('wrk', ['-v']).error === undefined;
export const loadProgram = hasWrk ? 'wrk' : 'autocannon';

/**
 * Sends the requests in turn, repeatedly.
 * @param {{ url: string, method?: string, headers?: object, requests: { path: string, body?: string, apikey?: string }[] }} target
 *   bodies without line breaks; all requests have a key of their own, or none has one;
 *   it is sent as apikey and as bearer
 * @returns {Promise<{ requests: number, rate: number, bytesPerSecond: number, p50: number, p99: number, failed: number }>}
 *   times in milliseconds; `failed` counts responses without success
 */
export function httpLoad(target, { connections, seconds }) {
  return (hasWrk ? withWrk : withAutocannon)(target, connections, seconds);
}

async function withWrk({ url, method = 'GET', headers = {}, requests }, connections, seconds) {
  const directory = mkdtempSync(path.join(tmpdir(), 'plinth-wrk-'));
  try {
    const list = path.join(directory, 'requests');
    writeFileSync(
      list,
      requests.map((one) => `${one.path}\n${one.body ?? ''}\n${one.apikey ?? ''}\n`).join(''),
    );
    const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout=60s', '-s', WRK_SCRIPT];
    const env = { ...process.env, BENCH_REQUESTS: list, BENCH_METHOD: method };
    const printed = await run('wrk', [...options, ...given, url], env);
    const result = JSON.parse(/^\{.*\}$/m.exec(printed)[0]);
    const took = result.microseconds / 1e6;
    return {
      requests: result.requests,
      rate: result.requests / took,
      bytesPerSecond: result.bytes / took,
      p50: result.p50 / 1e3,
      p99: result.p99 / 1e3,
      failed: result.failed,
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function withAutocannon({ url, method = 'GET', headers, requests }, connections, seconds) {
  let next = 0;
  const setupRequest = (request) => {
    const { path, body, apikey } = requests[next++ % requests.length];
    const own =
      apikey === undefined
        ? {}
        : { headers: { ...request.headers, apikey, authorization: `Bearer ${apikey}` } };
    return { ...request, ...own, method, path, body };
  };
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers,
    requests: [{ setupRequest }],
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
