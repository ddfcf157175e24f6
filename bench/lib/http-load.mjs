// Sends a workload over HTTP: with wrk where it is on PATH, because it leaves more of the machine to what is measured,
// else with autocannon. Both keep every connection busy all the time.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { run } from './run.mjs';

const hasWrk = spawnSync('wrk', ['-v']).error === undefined;

export const loadProgram = hasWrk ? 'wrk' : 'autocannon';

/**
 * @param {{ url: string, headers: object, workload: object, connections: number, seconds: number }} load
 * @returns requests per second, median and 99th percentile in milliseconds, answers that were no success
 */
export const httpLoad = hasWrk ? withWrk : withAutocannon;

/** Requests that are drawn beforehand and then sent in turn. */
const DRAWN = 20_000;
/** Bytes that they may have together. */
const DRAWN_BYTES = 8_000_000;

function draw(workload) {
  const first = workload.request();
  const size = first.path.length + (first.body?.length ?? 0);
  return Array.from({ length: Math.min(DRAWN, Math.ceil(DRAWN_BYTES / size)) }, workload.request);
}

async function withWrk({ url, headers, workload, connections, seconds }) {
  const directory = mkdtempSync(path.join(tmpdir(), 'plinth-wrk-'));
  try {
    const script = path.join(directory, 'load.lua');
    const drawn = path.join(directory, 'requests');
    const base = new URL(url).pathname.replace(/\/$/, '');
    writeFileSync(
      drawn,
      draw(workload)
        .map((request) => `${base}${request.path}\n${request.body ?? ''}\n`)
        .join(''),
    );
    writeFileSync(script, lua(workload.method, { ...headers, ...workload.headers }, drawn));
    const printed = await run('wrk', [
      '-t1',
      `-c${connections}`,
      `-d${seconds}s`,
      '--timeout=10s',
      '-s',
      script,
      new URL(url).origin,
    ]);
    const [rate, p50, p99, failed] = /RESULT (\S+) (\S+) (\S+) (\S+)/.exec(printed).slice(1).map(Number);
    return { rate, p50, p99, failed };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** wrk's own interface: init() makes every request's bytes once, request() only picks them. */
function lua(method, headers, file) {
  const fields = Object.entries(headers).map(([name, value]) => `[${quoted(name)}] = ${quoted(value)}`);
  return `
    wrk.method = ${quoted(method)}
    wrk.headers = { ${fields.join(', ')} }
    local requests, next = {}, 0
    function init(args)
      wrk.headers["Host"] = wrk.host .. ":" .. wrk.port
      local lines = io.lines(${quoted(file)})
      for path in lines do
        local body = lines()
        if body == "" then body = nil end
        requests[#requests + 1] = wrk.format(nil, path, nil, body)
      end
    end
    function request()
      next = next % #requests + 1
      return requests[next]
    end
    function done(summary, latency)
      local e = summary.errors
      print(string.format("RESULT %f %f %f %d", summary.requests / summary.duration * 1e6,
        latency:percentile(50) / 1000, latency:percentile(99) / 1000,
        e.connect + e.read + e.write + e.status + e.timeout))
    end`;
}

/** A Lua string; JSON's escapes for what headers may hold are Lua's as well. */
function quoted(text) {
  return JSON.stringify(text);
}

async function withAutocannon({ url, headers, workload, connections, seconds }) {
  const base = new URL(url).pathname.replace(/\/$/, '');
  const setupRequest = (request) => {
    const { path, body } = workload.request();
    return { ...request, method: workload.method, path: base + path, body };
  };
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { ...headers, ...workload.headers },
    requests: [{ setupRequest }],
  });
  return {
    rate: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}
